// Numbers over the whole service, none of which counts history row by row: what has ended is counted
// where it ends (final_counts), attempts where they are made (attempt_steps), and of what is owed there
// is never more than the backlog.

import type { Pool } from 'pg'
import {
  DELIVERY_STATES,
  type DeliveryState,
  type FinalState,
} from '../../core/delivery/delivery.ts'
import { DURATION_BUCKETS } from '../../core/delivery/health.ts'
import { type Db, inTransaction } from '../connection/db.ts'
import { LOCKS, lockStatement, tryLock } from '../connection/locks.ts'
import { column } from '../sql/columns.ts'
import { downEndpoints, isOfDownEndpoint } from '../sql/due-times.ts'

/** How many have ended in each state, of the history that is kept. Exact as of this statement. */
export async function readFinalCounts(db: Db): Promise<Readonly<Record<DeliveryState, number>>> {
  const { rows } = await db.query<{ state: DeliveryState; count: number }>({
    name: 'read-final-counts',
    text: 'select state, sum(count)::bigint as count from final_counts group by state',
  })
  const counts = Object.fromEntries(DELIVERY_STATES.map((state) => [state, 0]))
  for (const { state, count } of rows) counts[state] = count
  return counts as Record<DeliveryState, number>
}

/** Deliveries that ended on one day, in UTC, by state. */
export interface EndedDay {
  day: string
  ended: Partial<Record<FinalState, number>>
}

/** Oldest first, from the day of an instant on; days on which none ended are left out. */
export async function readEndedDays(db: Db, from: Date): Promise<readonly EndedDay[]> {
  const { rows } = await db.query<{ day: string; state: FinalState; count: number }>({
    name: 'read-ended-days',
    text: `select day::text as day, state, sum(count)::bigint as count from final_counts
           where day >= ($1::timestamptz at time zone 'UTC')::date
           group by 1, 2 having sum(count) <> 0 order by 1`,
    values: [from],
  })
  const days = new Map<string, EndedDay>()
  for (const { day, state, count } of rows) {
    const entry = days.get(day) ?? { day, ended: {} }
    entry.ended[state] = count
    days.set(day, entry)
  }
  return [...days.values()]
}

/** Many small rows become one for each day and state. Skipped while another process does it. */
export async function sumUpFinalCounts(pool: Pool): Promise<void> {
  await inTransaction(pool, async (db) => {
    if (!(await tryLock(db, LOCKS.finalCounts))) return
    await db.query(
      `with gone as (delete from final_counts returning day, state, count)
       insert into final_counts (day, state, count)
       select day, state, sum(count) from gone group by day, state having sum(count) <> 0`,
    )
  })
}

/**
 * For the transaction that drops a day's partition: its deliveries are no longer counted. Not while the
 * rows are being summed up, which would bring them back.
 */
export function forgetFinalCounts(dayStartMs: number): string {
  const day = new Date(dayStartMs).toISOString().slice(0, 10)
  return `${lockStatement(LOCKS.finalCounts)}; delete from final_counts where day = '${day}'`
}

export interface OwedPicture {
  due: number
  scheduled: number
  /** Waits for its endpoint, which is paused, disabled or down, or for room in its queue. */
  paused: number
  oldestDueAt: Date | null
  /** Counts of what is due between two bounds; one more than there are bounds. */
  byBound: readonly number[]
}

/** One pass over what is owed. `bounds` rise, and the first is now. */
export async function readOwedPicture(pool: Pool, bounds: readonly Date[]): Promise<OwedPicture> {
  return inTransaction(pool, async (db) => {
    // All of the table is wanted: the one case where an index would only be in the way.
    const allowing = db.query('set local enable_seqscan = on')
    const looking = db.query<{ bucket: number | null; count: number; oldest: Date | null }>({
      name: 'read-owed-picture',
      text: `with ${downEndpoints('$2')}
             select width_bucket(due_at, $1::timestamptz[]) as bucket, count(*)::int as count,
               min(due_at) as oldest
             from (
               select case when p.next_attempt_at > $2 or not ${isOfDownEndpoint('p')}
                 then p.next_attempt_at end as due_at
               from pending_deliveries p) as owed
             group by 1`,
      values: [column('timestamptz', bounds, (bound) => bound.getTime()), bounds[0]],
    })
    // At once: of one that is not waited for yet, a failure would end the process.
    const [, { rows }] = await Promise.all([allowing, looking])
    const byBound = Array.from({ length: bounds.length + 1 }, () => 0)
    for (const { bucket, count } of rows) if (bucket !== null) byBound[bucket] = count
    const [due = 0, ...later] = byBound
    return {
      due,
      scheduled: later.reduce((sum, count) => sum + count, 0),
      paused: rows.find(({ bucket }) => bucket === null)?.count ?? 0,
      oldestDueAt: rows.find(({ bucket }) => bucket === 0)?.oldest ?? null,
      byBound,
    }
  })
}

export interface ProcessView {
  id: string
  host: string
  version: string
  startedAt: Date
  seenAt: Date
  shards: readonly number[]
}

export async function readProcesses(db: Db): Promise<readonly ProcessView[]> {
  const { rows } = await db.query<{
    id: string
    host: string
    version: string
    started_at: Date
    seen_at: Date
    shards: number[] | null
  }>({
    name: 'read-processes',
    text: `select p.id, p.host, p.version, p.started_at, p.seen_at,
             (select array_agg(l.shard order by l.shard) from leases l
               where l.owner = p.id) as shards
           from processes p order by p.started_at, p.id limit 1000`,
  })
  return rows.map((row) => ({
    id: row.id,
    host: row.host,
    version: row.version,
    startedAt: row.started_at,
    seenAt: row.seen_at,
    shards: row.shards ?? [],
  }))
}

/** What one process has counted within one step of time, in all. */
export interface AttemptStep {
  stepSeconds: number
  atMs: number
  attempts: number
  delivered: number
  durations: readonly number[]
}

/** Whole figures, not differences: written twice, they are still right. */
export async function saveAttemptSteps(
  db: Db,
  processId: string,
  steps: readonly AttemptStep[],
): Promise<void> {
  if (steps.length === 0) return
  await db.query({
    name: 'save-attempt-steps',
    text: `insert into attempt_steps
             (step_seconds, at, process_id, attempts, delivered, durations)
           select step_seconds, at, $1, attempts, delivered, durations::int[]
           from unnest($2::int[], $3::timestamptz[], $4::int[], $5::int[], $6::text[])
             as s (step_seconds, at, attempts, delivered, durations)
           on conflict (step_seconds, at, process_id) do update set
             attempts = excluded.attempts, delivered = excluded.delivered,
             durations = excluded.durations`,
    values: [
      processId,
      column('int', steps, (step) => step.stepSeconds),
      column('timestamptz', steps, (step) => step.atMs),
      column('int', steps, (step) => step.attempts),
      column('int', steps, (step) => step.delivered),
      column('text', steps, (step) => `{${step.durations.join(',')}}`),
    ],
  })
}

/** The steps of all processes together, those that something happened in, in order. */
export async function readAttemptSteps(
  db: Db,
  stepSeconds: number,
  from: Date,
): Promise<readonly AttemptStep[]> {
  const { rows } = await db.query<{
    at: Date
    attempts: number
    delivered: number
    durations: number[]
  }>({
    name: 'read-attempt-steps',
    text: `select at, attempts, delivered, durations from attempt_steps
           where step_seconds = $1 and at >= $2 order by at`,
    values: [stepSeconds, from],
  })
  const steps = new Map<number, AttemptStep & { durations: number[] }>()
  for (const row of rows) {
    const atMs = row.at.getTime()
    const step = steps.get(atMs) ?? {
      stepSeconds,
      atMs,
      attempts: 0,
      delivered: 0,
      durations: Array.from({ length: DURATION_BUCKETS }, () => 0),
    }
    step.attempts += row.attempts
    step.delivered += row.delivered
    for (const [bucket, count] of row.durations.entries()) {
      step.durations[bucket] = (step.durations[bucket] ?? 0) + count
    }
    steps.set(atMs, step)
  }
  return [...steps.values()]
}

/** Each kind of step is kept for a little longer than the curve that shows it. */
export async function deleteOldSteps(db: Db, now: Date): Promise<void> {
  await db.query(
    `delete from attempt_steps where $1::timestamptz - at > step_seconds * interval '200 seconds'`,
    [now],
  )
}
