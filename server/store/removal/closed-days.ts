// Days that are over: nothing is added to them, so each is vacuumed and frozen once. While they last, no insert
// brings autovacuum to them (migrations/0018). What is added all the same, by a clock that was wrong, is noted.

import pg from 'pg'
import type { Db } from '../connection/db.ts'
import { LOCK_TIMEOUT } from '../connection/lock-tries.ts'

/** Rows of a day come a little after its end: what is due before midnight is recorded after it. */
const SETTLED_AFTER_MS = 3_600_000

export interface ClosedDays {
  vacuumed: readonly string[]
  /** Broken off, by the statement's time as a rule. What was done stays done, and the next call goes on. */
  left: readonly { partition: string; reason: string }[]
}

/** From now on, events that come into a day that is over are noted, for readers of the feed (migrations/0055). */
export async function watchClosedDays(db: Db, now: Date): Promise<ClosedDays['left']> {
  const left: { partition: string; reason: string }[] = []
  const { rows } = await db.query<{ name: string }>(
    `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = 'events'::regclass and ${isDay('c.relname')}
       and ${endOf('c.relname')} <= $1
       and not exists (select from pg_trigger t
         where t.tgrelid = c.oid and t.tgname = 'late_day_is_noted')`,
    [new Date(now.getTime() - SETTLED_AFTER_MS)],
  )
  for (const { name } of rows) {
    try {
      // Another process may be at it: the second replaces what the first has made. One string is one transaction.
      await db.query(
        `set local lock_timeout = '${LOCK_TIMEOUT}'; set local citus.enable_unsafe_triggers = on;
         create or replace trigger late_day_is_noted after insert on ${name}
           for each row execute function note_late_day()`,
      )
    } catch (error) {
      if (!(error instanceof pg.DatabaseError)) throw error
      left.push({ partition: name, reason: error.message })
    }
  }
  return left
}

function isDay(name: string): string {
  return `${name} ~ '_\\d{4}_\\d{2}_\\d{2}$'`
}

function endOf(name: string): string {
  return `(to_date(right(${name}, 10), 'YYYY_MM_DD') + 1)::timestamp at time zone 'UTC'`
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
       cross join lateral (select ${endOf('s.relname')} as ended_at) as day
     where i.inhparent in ('events'::regclass, 'final_deliveries'::regclass,
         'earlier_attempts'::regclass)
       and ${isDay('s.relname')} and day.ended_at <= $1
       and coalesce(greatest(s.last_vacuum, s.last_autovacuum), '-infinity') < day.ended_at
     order by 1`,
    [new Date(now.getTime() - SETTLED_AFTER_MS)],
  )
  return rows.map((row) => row.name)
}
