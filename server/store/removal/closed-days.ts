// Days that are over: nothing is added to them, so each is vacuumed and frozen once. While they last, no insert
// brings autovacuum to them (migrations/0018).

import pg from 'pg'
import type { Db } from '../connection/db.ts'

/** Rows of a day come a little after its end: what is due before midnight is recorded after it. */
const SETTLED_AFTER_MS = 3_600_000

export interface ClosedDays {
  vacuumed: readonly string[]
  /** Broken off, by the statement's time as a rule. What was done stays done, and the next call goes on. */
  left: readonly { partition: string; reason: string }[]
}

/** Each partition whose day is over and that was not vacuumed since. Safe when several processes do it at once. */
export async function vacuumClosedDays(db: Db, now: Date): Promise<ClosedDays> {
  const vacuumed: string[] = []
  const left: { partition: string; reason: string }[] = []
  for (const name of await readClosed(db, now)) {
    try {
      // Another process may be at it.
      await db.query(`vacuum (freeze, analyze, skip_locked) ${name}`)
      vacuumed.push(name)
    } catch (error) {
      if (!(error instanceof pg.DatabaseError)) throw error
      left.push({ partition: name, reason: error.message })
    }
  }
  return { vacuumed, left }
}

/** The oldest first. What the server has forgotten about its vacuums, after a crash, is done again: quickly. */
async function readClosed(db: Db, now: Date): Promise<readonly string[]> {
  const { rows } = await db.query<{ name: string }>(
    `select s.relname as name from pg_inherits i
       join pg_stat_all_tables s on s.relid = i.inhrelid
       cross join lateral (
         select (to_date(right(s.relname, 10), 'YYYY_MM_DD') + 1)::timestamp at time zone 'UTC'
           as ended_at) as day
     where i.inhparent in ('events'::regclass, 'final_deliveries'::regclass,
         'earlier_attempts'::regclass)
       and s.relname ~ '_\\d{4}_\\d{2}_\\d{2}$' and day.ended_at <= $1
       and coalesce(greatest(s.last_vacuum, s.last_autovacuum), '-infinity') < day.ended_at
     order by 1`,
    [new Date(now.getTime() - SETTLED_AFTER_MS)],
  )
  return rows.map((row) => row.name)
}
