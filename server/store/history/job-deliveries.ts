// Which deliveries a job was about, for as long as the job is kept: what came of them can then be asked, long
// after the job has dealt with the last one (store/history/jobs.ts keeps what is still to do).

import type { Pool } from 'pg'
import type { CircuitState } from '../../core/delivery/circuit.ts'
import type { FinalState } from '../../core/delivery/delivery.ts'
import type { EndpointStatus } from '../../core/delivery/endpoint.ts'
import type { Db } from '../connection/db.ts'
import { inSnapshot } from '../connection/snapshot.ts'
import { column } from '../sql/columns.ts'
import type { Reach } from '../sql/delivery-query.ts'
import { readStretchesSince, timesWithin } from '../sql/stretches.ts'
import type { DeliveryKey } from './delivery-sources.ts'

/** Newest first; `downTo` is the last of them where there may be more. */
export async function readJobDeliveries(
  db: Db,
  jobId: string,
  { beforeId, chunk }: Reach,
): Promise<{ keys: readonly DeliveryKey[]; downTo: string | null }> {
  const { rows } = await db.query<{ client_key: number; delivery_id: string }>({
    text: `select client_key, delivery_id from job_deliveries
           where job_id = $1 and ($2::uuid is null or delivery_id < $2)
           order by delivery_id desc limit $3`,
    values: [jobId, beforeId, chunk],
  })
  return {
    keys: rows.map((row) => ({ clientKey: row.client_key, id: row.delivery_id })),
    downTo: rows.length < chunk ? null : (rows.at(-1)?.delivery_id ?? null),
  }
}

/** How a job's deliveries stand now. */
export interface JobOutcome {
  /** Pending, and on their way: no attempt has failed yet, and their endpoint takes callbacks. */
  queued: number
  /** Pending, and held up: an attempt has failed, or their endpoint is paused, disabled or down. */
  waiting: number
  /** Ended since the job began, by state. */
  ended: Partial<Record<FinalState, number>>
}

/** As many as a statement looks up in a fraction of a second. */
const AT_ONCE = 10_000

/** In portions, each in a snapshot of its own: a job of 100,000 must not hold one for seconds. */
export async function countJobOutcome(
  pool: Pool,
  jobId: string,
  startedAt: Date,
): Promise<JobOutcome> {
  const outcome: JobOutcome = { queued: 0, waiting: 0, ended: {} }
  for (let beforeId: string | null = null; ; ) {
    const reach = { beforeId, limit: AT_ONCE, chunk: AT_ONCE }
    const downTo: string | null = await inSnapshot(pool, async (db) => {
      const some = await readJobDeliveries(db, jobId, reach)
      if (some.keys.length > 0) await addOutcome(db, some.keys, startedAt, outcome)
      return some.downTo
    })
    if (downTo === null) return outcome
    beforeId = downTo
  }
}

async function addOutcome(
  db: Db,
  keys: readonly DeliveryKey[],
  startedAt: Date,
  outcome: JobOutcome,
): Promise<void> {
  const given = [column('int', keys, (key) => key.clientKey), column('uuid', keys, (key) => key.id)]
  const { rows: owed } = await db.query<{ pending: number; moving: number }>({
    text: `select count(*)::int as pending,
             (count(*) filter (where p.run_attempts = 0 and e.status = 'ACTIVE'
               and coalesce(h.circuit, 'CLOSED') = 'CLOSED'))::int as moving
           from unnest($1::int[], $2::uuid[]) as k (client_key, id)
           cross join lateral (
             select p.endpoint_id, p.run_attempts from pending_deliveries p
             where p.client_key = k.client_key and p.id = k.id limit 1) as p
           join endpoints e on e.client_key = k.client_key and e.id = p.endpoint_id
           left join endpoint_health h
             on h.client_key = k.client_key and h.endpoint_id = p.endpoint_id`,
    values: given,
  })
  const { pending = 0, moving = 0 } = owed[0] ?? {}
  outcome.queued += moving
  outcome.waiting += pending - moving
  for (const stretch of await readStretchesSince(db, 'final_deliveries', startedAt.getTime())) {
    const { rows } = await db.query<{ state: FinalState; count: number }>({
      text: `select f.state, count(*)::int as count
             from unnest($1::int[], $2::uuid[]) as k (client_key, id)
             cross join lateral (
               select f.state from final_deliveries f
               where f.client_key = k.client_key and f.id = k.id
                 and ${timesWithin(stretch, 'f.finished_at')} limit 1) as f
             group by 1`,
      values: given,
    })
    for (const { state, count } of rows) outcome.ended[state] = (outcome.ended[state] ?? 0) + count
  }
}

/** So many deliveries of one endpoint. */
export interface EndpointCount {
  clientKey: number
  endpointId: string
  count: number
}

export async function countJobEndpoints(db: Db, jobId: string): Promise<readonly EndpointCount[]> {
  const { rows } = await db.query<{ client_key: number; endpoint_id: string; count: number }>({
    text: `select client_key, endpoint_id, count(*)::int as count from job_deliveries
           where job_id = $1 group by 1, 2`,
    values: [jobId],
  })
  return rows.map((row) => ({
    clientKey: row.client_key,
    endpointId: row.endpoint_id,
    count: row.count,
  }))
}

export interface CountedEndpoint {
  endpointId: string
  endpointUrl: string
  clientId: string
  clientName: string
  status: EndpointStatus | 'DELETED'
  circuit: CircuitState
  count: number
}

/** With their names, and whether they take anything now; in the order given. */
export async function nameEndpoints(
  db: Db,
  counts: readonly EndpointCount[],
): Promise<readonly CountedEndpoint[]> {
  const { rows } = await db.query<{
    id: string
    url: string
    client_id: string
    client_name: string
    status: EndpointStatus | 'DELETED'
    circuit: CircuitState | null
    count: number
  }>({
    text: `select e.id, e.url, c.id as client_id, c.name as client_name,
             case when e.deleted_at is null then e.status else 'DELETED' end as status, h.circuit,
             k.count
           from unnest($1::int[], $2::uuid[], $3::int[]) with ordinality
             as k (client_key, endpoint_id, count, number)
           join endpoints e on e.client_key = k.client_key and e.id = k.endpoint_id
           join clients c on c.client_key = k.client_key
           left join endpoint_health h
             on h.client_key = k.client_key and h.endpoint_id = k.endpoint_id
           order by k.number`,
    values: [
      column('int', counts, (one) => one.clientKey),
      column('uuid', counts, (one) => one.endpointId),
      column('int', counts, (one) => one.count),
    ],
  })
  return rows.map((row) => ({
    endpointId: row.id,
    endpointUrl: row.url,
    clientId: row.client_id,
    clientName: row.client_name,
    status: row.status,
    circuit: row.circuit ?? 'CLOSED',
    count: row.count,
  }))
}
