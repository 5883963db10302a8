// How many rows of each table a statement really reads: it is run, and rolled back. An estimate tells how many
// are left after a filter; this also counts those that were looked at for nothing.

import type { PoolClient } from 'pg'
import type { Statement } from './recorder.ts'

/** By table. */
export type RowsRead = ReadonlyMap<string, number>

interface RunNode {
  'Node Type': string
  'Relation Name'?: string
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  'Rows Removed by Index Recheck'?: number
  Plans?: RunNode[]
}

/** Null where it cannot be run a second time, because it inserts what is there by now. */
export async function measureReads(
  client: PoolClient,
  { text, values, isLifted }: Statement,
): Promise<RowsRead | null> {
  await client.query(`begin; set local enable_seqscan = ${isLifted ? 'on' : 'off'}`)
  const explain = `explain (analyze, timing off, summary off, format json) ${text}`
  const run = await client.query(explain, [...values]).catch(() => null)
  await client.query('rollback')
  if (run === null) return null
  const read = new Map<string, number>()
  count(run.rows[0]['QUERY PLAN'][0].Plan, undefined, read)
  return read
}

/** `above`: what a bitmap is made for, whose own nodes do not say it. */
function count(node: RunNode, above: string | undefined, read: Map<string, number>): void {
  const relation = node['Relation Name'] ?? above
  // What a bitmap finds is counted at its index.
  if (
    relation !== undefined &&
    /^(Seq|Tid|Index|Index Only|Bitmap Index) Scan$/.test(node['Node Type'])
  ) {
    const table = relation.replace(/_(\d{4}_\d\d_\d\d|default)$/, '')
    const removed =
      (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0)
    const rows = (node['Actual Rows'] + removed) * node['Actual Loops']
    read.set(table, (read.get(table) ?? 0) + rows)
  }
  const isBitmap = node['Node Type'].startsWith('Bitmap')
  for (const child of node.Plans ?? []) count(child, isBitmap ? relation : undefined, read)
}
