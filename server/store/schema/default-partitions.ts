// What lies in the default partitions. There should be nothing: a row gets there when its day had no
// partition (store/schema/partitions.ts), and stays until upkeep moves it out.

import type { Db } from '../connection/db.ts'

/** Counting stops here; what matters is whether there are any. */
const COUNTED_MAX = 100_000

const DIVIDED_BY_DAY = ['events', 'final_deliveries', 'earlier_attempts'] as const

/** Rows of each divided table, the audit among them. */
export type DefaultRows = Readonly<Record<(typeof DIVIDED_BY_DAY)[number] | 'audit', number>>

/** One JSON object. */
const DEFAULT_ROWS = `json_build_object(${DIVIDED_BY_DAY.map(
  (table) => `'${table}', (select count(*)::int from (
    select from ${table}_default limit ${COUNTED_MAX}) as one)`,
).join(', ')})`

export async function readDefaultRows(db: Db): Promise<DefaultRows> {
  // Apart, because the function asks by itself, and tables may be on another node than the one that runs it.
  const [{ rows }, audit] = await Promise.all([
    db.query<{ found: Omit<DefaultRows, 'audit'> }>(`select ${DEFAULT_ROWS} as found`),
    db.query<{ rows: number }>(`select rows from inspect_audit_default(${COUNTED_MAX})`),
  ])
  return { ...(rows[0]?.found as DefaultRows), audit: audit.rows[0]?.rows ?? 0 }
}

/** Only its owner can look into the audit's partitions, so a function of the owner's is asked. */
export async function inspectAuditDefault(db: Db): Promise<{ oldest: string | null }> {
  const { rows } = await db.query<{ oldest: string | null }>(
    'select oldest from inspect_audit_default(0)',
  )
  return { oldest: rows[0]?.oldest ?? null }
}
