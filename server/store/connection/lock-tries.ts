// What has to lock out all other sessions tries for a moment, gives up, and comes back: a session that waits
// for such a lock stops all that come after it, for as long as a backup or a report reads. The tries have an
// end, and then a sentence that names the session in the way.

import { setTimeout as delay } from 'node:timers/promises'
import type { Db } from './db.ts'
import { isLockTimeout } from './locks.ts'

/** A statement waits this long for a lock, and so do those that come after it. */
export const LOCK_TIMEOUT = '200ms'

export interface LockTries {
  triesMax: number
  pauseMs: number
}

/** A minute and a quarter, of which others feel 12 seconds at worst, in bits of 200 ms. */
export const LOCK_TRIES: LockTries = { triesMax: 60, pauseMs: 1_000 }

/** Runs it again for as long as a lock is not to be had. `what` begins the sentence that ends the tries. */
export async function tryForLocks<T>(
  db: Db,
  what: string,
  { triesMax, pauseMs }: LockTries,
  run: () => Promise<T>,
): Promise<T> {
  for (let tried = 1; ; tried++) {
    try {
      return await run()
    } catch (error) {
      if (!isLockTimeout(error)) throw error
      if (tried >= triesMax) {
        throw new Error(
          `${what}: a lock was not to be had in ${triesMax} tries, because ${await nameHolders(db)}. Start again when that has ended: it goes on where it stopped`,
          { cause: error },
        )
      }
    }
    await delay(pauseMs)
  }
}

/** Sessions that have held something of the schema for longest. */
export async function nameHolders(db: Db): Promise<string> {
  const { rows } = await db.query<{ pid: number; name: string | null; seconds: number | null }>(
    `select a.pid, coalesce(nullif(a.application_name, ''), a.usename) as name,
       extract(epoch from clock_timestamp() - min(a.xact_start))::int as seconds
     from pg_locks l
     join pg_class c on c.oid = l.relation and c.relnamespace = to_regnamespace(current_schema())
     join pg_stat_activity a on a.pid = l.pid
     where l.granted and l.pid <> pg_backend_pid() and l.database = (
       select oid from pg_database where datname = current_database())
     group by a.pid, 2 order by min(a.xact_start) nulls last limit 3`,
  )
  if (rows.length === 0) return 'another session had it'
  return rows
    .map(({ pid, name, seconds }) => {
      const since = seconds === null ? '' : `, for ${seconds} s now`
      return `session ${pid} (${name ?? 'unknown'}) uses the tables${since}`
    })
    .join('; ')
}
