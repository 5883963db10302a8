// Old months of the audit. No role may change or delete a row of it, but its owner may drop a month, whole. A
// service that works under a role of its own (store/app-role.ts) is not the owner, by intention: then the months
// are named, for the owner to drop.

import type { Db } from './db.ts'

export interface DroppedMonths {
  dropped: readonly string[]
  /** Months that would go, and that this role may not drop. */
  notOurs: readonly string[]
}

/** Months that were over before this instant. Those that another session is reading go the next time. */
export async function dropOldAudit(db: Db, before: Date): Promise<DroppedMonths> {
  const { rows } = await db.query<{ name: string; is_ours: boolean }>(
    `select c.relname as name, pg_has_role(c.relowner, 'usage') as is_ours
     from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = 'audit'::regclass order by c.relname`,
  )
  const old = rows.filter(({ name }) => {
    const month = /^audit_(\d{4})_(\d{2})_01$/.exec(name)
    return month !== null && Date.UTC(Number(month[1]), Number(month[2]), 1) <= before.getTime()
  })
  const dropped: string[] = []
  for (const { name, is_ours: isOurs } of old) {
    if (isOurs && (await dropMonth(db, name))) dropped.push(name)
  }
  return { dropped, notOurs: old.filter(({ is_ours: isOurs }) => !isOurs).map(({ name }) => name) }
}

/** False when it is being read: waiting for the lock would hold up all who come after us. */
async function dropMonth(db: Db, name: string): Promise<boolean> {
  try {
    // One string is one transaction.
    await db.query(`set local lock_timeout = '200ms'; drop table ${name}`)
    return true
  } catch (error) {
    if ((error as { code?: string }).code === '55P03') return false
    throw error
  }
}
