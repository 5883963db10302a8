// Old months of the audit. No role may change or delete a row of it, but its owner may drop a month, whole. A
// service that works under a role of its own (store/schema/app-role.ts) is not the owner, by intention: then the months
// are named, for the owner to drop.

import type { Pool } from 'pg'
import { type Db, inTransaction } from '../connection/db.ts'

export interface OldMonth {
  name: string
  endsAt: Date
  /** False where this role may not drop it. */
  isOurs: boolean
}

/** Months that were over before this instant, the oldest first. */
export async function readOldMonths(db: Db, before: Date): Promise<readonly OldMonth[]> {
  const { rows } = await db.query<{ name: string; is_ours: boolean }>(
    `select c.relname as name, pg_has_role(c.relowner, 'usage') as is_ours
     from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = 'audit'::regclass order by c.relname`,
  )
  return rows.flatMap(({ name, is_ours: isOurs }) => {
    const month = /^audit_(\d{4})_(\d{2})_01$/.exec(name)
    if (month === null) return []
    const endsAt = new Date(Date.UTC(Number(month[1]), Number(month[2]), 1))
    return endsAt <= before ? [{ name, endsAt, isOurs }] : []
  })
}

/**
 * Those of ours whose rows all belong to this segment or to one before it. Returns those that are gone; those that
 * another session is reading go the next time.
 */
export async function dropMonths(
  pool: Pool,
  months: readonly OldMonth[],
  through: number,
): Promise<readonly string[]> {
  const dropped: string[] = []
  for (const { name, isOurs } of months) {
    if (isOurs && (await dropMonth(pool, name, through))) dropped.push(name)
  }
  return dropped
}

/** False when it is being read, or has got a row since it was looked at: waiting would hold up all who come after us. */
async function dropMonth(pool: Pool, name: string, through: number): Promise<boolean> {
  try {
    return await inTransaction(pool, async (db) => {
      await db.query(
        `set local lock_timeout = '200ms'; lock table ${name} in access exclusive mode`,
      )
      const { rowCount } = await db.query(
        `select from ${name} where place > 0
           and place >= coalesce((select to_place from audit_segments where segment = $1), 0) limit 1`,
        [through],
      )
      if (rowCount === 0) await db.query(`drop table ${name}`)
      return rowCount === 0
    })
  } catch (error) {
    // Locked by another session, or just dropped by another process.
    if (['55P03', '42P01'].includes((error as { code?: string }).code ?? '')) return false
    throw error
  }
}
