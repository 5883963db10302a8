// One client's figures over all its endpoints. None counts history row by row: what arrived is counted hour by hour where
// attempts are made, and what was given up is little.

import { DAY_MS } from '../../core/delivery/backoff.ts'
import type { Db } from '../connection/db.ts'
import { downEndpoints, isOfDownEndpoint } from '../sql/due-times.ts'

/** Of the last 24 hours, and of the last 7 days. */
export interface RecentCount {
  day: number
  week: number
}

export interface OwedFigures {
  due: number
  /** For its time, for an elder update, for its endpoint, or for room in its queue. */
  waiting: number
  oldestDueAt: Date | null
}

export async function readOwedFigures(db: Db, clientKey: number, now: Date): Promise<OwedFigures> {
  const { rows } = await db.query<{ due: number; waiting: number; oldest: Date | null }>({
    name: 'read-owed-figures-of-client',
    text: `with ${downEndpoints('$2')}
           select count(due_at)::int as due, count(*) filter (where due_at is null)::int as waiting,
             min(due_at) as oldest
           from (
             select case when p.next_attempt_at <= $2 and not ${isOfDownEndpoint('p')}
               then p.next_attempt_at end as due_at
             from endpoints e cross join lateral (
               select p.client_key, p.endpoint_id, p.next_attempt_at from pending_deliveries p
               where p.endpoint_id = e.id and p.client_key = e.client_key offset 0) as p
             where e.client_key = $1 and e.kind not in ('notice', 'client-notice')) as owed`,
    values: [clientKey, now],
  })
  const { due = 0, waiting = 0, oldest = null } = rows[0] ?? {}
  return { due, waiting, oldestDueAt: oldest }
}

/** By whole hours, the current one included; a minute old at most. */
export async function countArrived(db: Db, clientKey: number, now: Date): Promise<RecentCount> {
  const { rows } = await db.query<RecentCount>({
    name: 'count-arrived-of-client',
    text: `select coalesce(sum(delivered) filter (where hour > $2), 0)::bigint as day,
             coalesce(sum(delivered), 0)::bigint as week
           from endpoint_hours where client_key = $1 and hour > $3`,
    values: [clientKey, ...since(now)],
  })
  return rows[0] ?? { day: 0, week: 0 }
}

export async function countGivenUp(db: Db, clientKey: number, now: Date): Promise<RecentCount> {
  const { rows } = await db.query<RecentCount>({
    name: 'count-given-up-of-client',
    text: `select count(*) filter (where finished_at > $2)::bigint as day, count(*)::bigint as week
           from final_deliveries
           where client_key = $1 and state = 'EXHAUSTED' and finished_at > $3`,
    values: [clientKey, ...since(now)],
  })
  return rows[0] ?? { day: 0, week: 0 }
}

function since(now: Date): readonly [Date, Date] {
  return [new Date(now.getTime() - DAY_MS), new Date(now.getTime() - 7 * DAY_MS)]
}
