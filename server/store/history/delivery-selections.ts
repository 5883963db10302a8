// Which of the deliveries that match can be acted on, and the notes of a job about them. A delivery that
// another job has still to deal with is left to that one: it is counted once.

import type { Pool } from 'pg'
import { uuidTimeMs } from '../../core/plain/uuid.ts'
import type { Db } from '../connection/db.ts'
import { inSnapshot, releasing } from '../connection/snapshot.ts'
import { hasNotLeft } from '../secrets/clients.ts'
import { column, writtenInstants } from '../sql/columns.ts'
import type { DeliveryQuery } from '../sql/delivery-query.ts'
import { byStretch, idsWithin, type Stretch, stretchAround, timesWithin } from '../sql/stretches.ts'
import { isWhole } from '../sql/whole-text.ts'
import type { EndpointCount } from './job-deliveries.ts'

export interface SelectedDelivery {
  clientKey: number
  id: string
  endpointId: string
  /** Null for one that is pending. */
  finishedAtMs: number | null
}

/** What is to be done to them: final ones are replayed, pending ones are cancelled or made due. */
export type Act = 'replay' | 'cancel' | 'retry'

/** As many at once as a statement handles in a fraction of a second. */
const AT_ONCE = 5_000

/** True where only what is owed is asked for, and of whom: then one statement finds all of it. */
export function isOwedOnly(query: DeliveryQuery): boolean {
  const { clientKey, accountId, endpointId, states, ...rest } = query
  return states?.join() === 'PENDING' && Object.values(rest).every((part) => part === null)
}

/**
 * The keys of what clients are owed, oldest first, up to one more than `max`. Without an order in the statement, whose rows
 * need not be fetched in one: after an outage, when all of it is to be retried, nothing else is read.
 */
export async function readOwedKeys(
  pool: Pool,
  { clientKey, accountId, endpointId }: DeliveryQuery,
  max: number,
): Promise<readonly SelectedDelivery[]> {
  const { rows } = await inSnapshot(pool, (db) =>
    db.query<{ client_key: number; id: string; endpoint_id: string }>(
      `select client_key, id, endpoint_id from pending_deliveries
       where ($1::int is null or client_key = $1) and ($2::uuid is null or account_id = $2)
         and ($3::uuid is null or endpoint_id = $3)
         and client_key is distinct from (select client_key from clients where is_internal)
       limit $4`,
      [clientKey, accountId, endpointId, max + 1],
    ),
  )
  return rows
    .map((row) => ({
      clientKey: row.client_key,
      id: row.id,
      endpointId: row.endpoint_id,
      finishedAtMs: null,
    }))
    .sort((one, other) => (one.id < other.id ? -1 : 1))
}

// Looked up one by one, by their keys: statistics about what comes and goes are not to be trusted. What has moved to
// another cell may still be here for a moment.
const GIVEN = `free as (
  select g.client_key, g.id, g.position, g.finished_at
  from unnest($1::int[], $2::uuid[], $3::int[], $4::timestamptz[])
    as g (client_key, id, position, finished_at)
  where (select true from job_items i
    where i.client_key = g.client_key and i.delivery_id = g.id) is null
    and ${hasNotLeft('g.client_key')})`

const TO_CANCEL = `select g.client_key, g.id, p.endpoint_id, null::text as finished_at, g.position
  from free g cross join lateral (
    select p.endpoint_id from pending_deliveries p
    where p.client_key = g.client_key and p.id = g.id limit 1) as p`

/** Where the endpoint is not active, nothing can be tried. */
const TO_RETRY = `${TO_CANCEL}
  cross join lateral (
    select from endpoints e
    where e.client_key = g.client_key and e.id = p.endpoint_id and e.status = 'ACTIVE' limit 1) as e`

/**
 * Without its endpoint or its payload there is nothing to be sent. One that has ended again since it was
 * selected, to the millisecond that a Date knows, was dealt with by another.
 */
function toReplay(endedWithin: Stretch, madeWithin: Stretch): string {
  return `select g.client_key, g.id, f.endpoint_id, f.finished_at::text, g.position
    from free g cross join lateral (
      select f.endpoint_id, f.finished_at from final_deliveries f
      where f.client_key = g.client_key and f.id = g.id and ${timesWithin(endedWithin, 'f.finished_at')}
        and f.finished_at >= g.finished_at and f.finished_at < g.finished_at + interval '1 ms'
        and (select true from endpoints e where e.client_key = f.client_key and e.id = f.endpoint_id
          and e.deleted_at is null)
        and (select true from events v where v.client_key = f.client_key and v.id = f.event_id
          and ${idsWithin(madeWithin, 'v.id')} and ${isWhole('v.text')})
      limit 1) as f`
}

export interface FitRow {
  client_key: number
  id: string
  endpoint_id: string
  finished_at: string | null
  position: number
}

/** Those that a job would deal with, and their positions among all that were given. */
async function readFit(
  db: Db,
  act: Act,
  selected: readonly SelectedDelivery[],
): Promise<readonly FitRow[]> {
  const numbered = selected.map((delivery, position) => ({ ...delivery, position }))
  const found: FitRow[] = []
  if (act !== 'replay') {
    const text = act === 'cancel' ? TO_CANCEL : TO_RETRY
    for (const some of inParts(numbered)) found.push(...(await readFitRows(db, text, some)))
    return found
  }
  // What was pending when it was selected has not been selected for a replay.
  const ended = numbered.flatMap(({ finishedAtMs, ...delivery }) =>
    finishedAtMs === null ? [] : [{ ...delivery, finishedAtMs }],
  )
  const endedAtMs = (delivery: { finishedAtMs: number }) => delivery.finishedAtMs
  const madeAtMs = (delivery: { id: string }) => uuidTimeMs(delivery.id)
  for (const near of byStretch(ended, endedAtMs, madeAtMs)) {
    const text = toReplay(
      stretchAround(near.map(endedAtMs), 1_000),
      stretchAround(near.map(madeAtMs), 0),
    )
    for (const some of inParts(near)) found.push(...(await readFitRows(db, text, some)))
  }
  return found
}

async function readFitRows(
  db: Db,
  text: string,
  some: readonly (SelectedDelivery & { position: number })[],
): Promise<readonly FitRow[]> {
  const { rows } = await db.query<FitRow>(`with ${GIVEN} ${text}`, columnsOf(some))
  return rows
}

/** How many of them a job would deal with, at each endpoint. */
export async function countFitByEndpoint(
  db: Db,
  act: Act,
  selected: readonly SelectedDelivery[],
): Promise<readonly EndpointCount[]> {
  const counts = new Map<string, EndpointCount>()
  for (const { client_key: clientKey, endpoint_id: endpointId } of await readFit(
    db,
    act,
    selected,
  )) {
    const counted = counts.get(endpointId) ?? { clientKey, endpointId, count: 0 }
    counts.set(endpointId, { ...counted, count: counted.count + 1 })
  }
  return [...counts.values()]
}

/** How many of them a job would deal with. */
export async function countFit(
  db: Db,
  act: Act,
  selected: readonly SelectedDelivery[],
): Promise<number> {
  return (await readFit(db, act, selected)).length
}

/** Notes what the job has to deal with, in the order given; returns how many that are. In a transaction. */
export async function noteItems(
  db: Db,
  jobId: string,
  act: Act,
  selected: readonly SelectedDelivery[],
): Promise<number> {
  return noteRows(db, jobId, await readFit(releasing(db), act, selected))
}

/** Notes these, but for those that another job has still to deal with. In a transaction. */
export async function noteRows(db: Db, jobId: string, fit: readonly FitRow[]): Promise<number> {
  // In one order everywhere: two that note the same ones must not wait for each other.
  const inOrder = fit.toSorted(
    (one, other) => one.client_key - other.client_key || (one.id < other.id ? -1 : 1),
  )
  let total = 0
  for (const some of inParts(inOrder)) {
    const { rowCount } = await db.query({
      name: 'note-items',
      text: `with noted as (
               insert into job_items (client_key, delivery_id, endpoint_id, finished_at, place, job_id)
               select *, $6::uuid from unnest($1::int[], $2::uuid[], $3::uuid[], $4::timestamptz[],
                 $5::int[])
               on conflict (client_key, delivery_id) do nothing
               returning job_id, delivery_id, client_key, endpoint_id)
             insert into job_deliveries (job_id, delivery_id, client_key, endpoint_id)
             select * from noted`,
      values: [
        column('int', some, (row) => row.client_key),
        column('uuid', some, (row) => row.id),
        column('uuid', some, (row) => row.endpoint_id),
        writtenInstants(some, (row) => row.finished_at),
        column('int', some, (row) => row.position),
        jobId,
      ],
    })
    total += rowCount ?? 0
  }
  return total
}

function columnsOf(selected: readonly (SelectedDelivery & { position: number })[]): unknown[] {
  return [
    column('int', selected, (delivery) => delivery.clientKey),
    column('uuid', selected, (delivery) => delivery.id),
    column('int', selected, (delivery) => delivery.position),
    column('timestamptz', selected, (delivery) => delivery.finishedAtMs),
  ]
}

function* inParts<T>(all: readonly T[]): Generator<readonly T[]> {
  for (let at = 0; at < all.length; at += AT_ONCE) yield all.slice(at, at + AT_ONCE)
}
