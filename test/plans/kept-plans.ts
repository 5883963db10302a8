// Whether PostgreSQL keeps one plan of a prepared statement. After five executions it compares: where a plan
// for the values given looks cheaper than one for any values, it plans each time, which takes longer than
// most of our statements. That happens where few rows are given and it can see how few.

import pg, { type PoolClient } from 'pg'
import type { Statement } from './recorder.ts'

/** One more than PostgreSQL plans for the values given before it compares. */
const EXECUTIONS = 6

/** Those that are planned each time when a single row is given. */
export async function findPlannedEachTime(
  client: PoolClient,
  statements: readonly Statement[],
): Promise<readonly string[]> {
  const names = new Map(statements.map((statement, index) => [`kept_${index}`, statement]))
  await client.query('set plan_cache_mode = auto')
  for (const [name, { text, values }] of names) {
    const given = values.map((value) => toLiteral(firstOf(value))).join(', ')
    const execute = `explain execute ${name}${given && `(${given})`}`
    await client.query(`prepare ${name} as ${text}; ${Array(EXECUTIONS).fill(execute).join(';')}`)
  }
  const { rows } = await client.query<{ name: string }>(
    `select name from pg_prepared_statements where name like 'kept%' and generic_plans = 0`,
  )
  return rows.flatMap(({ name }) => names.get(name)?.name ?? [])
}

/** An array with its first element alone; anything else as it is. */
function firstOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, 1)
  if (typeof value !== 'string' || !value.startsWith('{')) return value
  return value.replace(/^\{("[^"]*"|[^,}]*).*\}$/s, '{$1}')
}

function toLiteral(value: unknown): string {
  if (value === null || value === undefined) return 'null'
  if (Array.isArray(value)) return pg.escapeLiteral(`{${value.map(toElement).join(',')}}`)
  if (value instanceof Date) return pg.escapeLiteral(value.toISOString())
  if (Buffer.isBuffer(value)) return pg.escapeLiteral(`\\x${value.toString('hex')}`)
  return pg.escapeLiteral(String(value))
}

function toElement(value: unknown): string {
  if (value === null || value === undefined) return 'NULL'
  const text = value instanceof Date ? value.toISOString() : String(value)
  return `"${text.replace(/["\\]/g, '\\$&')}"`
}
