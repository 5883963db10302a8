// Which of the deliveries that match can be acted on, and the notes of a job about them. A delivery that
// another job has still to deal with is left to that one: nobody counts it twice.

import { instantColumn, plainColumn } from './columns.ts'
import type { Db } from './db.ts'

export interface SelectedDelivery {
  clientKey: number
  id: string
  endpointId: string
  createdAtMs: number
}

/** What is to be done to them: final ones are replayed, pending ones are cancelled. */
export type Act = 'replay' | 'cancel'

/** As many at once as a statement handles in a fraction of a second. */
const AT_ONCE = 5_000

// Looked up one by one, by their keys: statistics about what comes and goes are not to be trusted.
const GIVEN = `free as (
  select g.client_key, g.id, g.created_at, g.place
  from unnest($1::int[], $2::uuid[], $3::timestamptz[]) with ordinality
    as g (client_key, id, created_at, place)
  where (select true from job_items i
    where i.client_key = g.client_key and i.delivery_id = g.id) is null)`

const FIT: Readonly<Record<Act, string>> = {
  // Nothing ends before it was made: days that were over by then are not even opened. Without its
  // endpoint or its payload there is nothing to be sent.
  replay: `select g.client_key, g.id, f.endpoint_id, f.finished_at, g.place
    from free g cross join lateral (
      select f.endpoint_id, f.finished_at from final_deliveries f
      where f.client_key = g.client_key and f.id = g.id and f.finished_at >= g.created_at
        and (select true from endpoints e where e.client_key = f.client_key and e.id = f.endpoint_id
          and e.deleted_at is null)
        and (select true from events v where v.client_key = f.client_key and v.id = f.event_id)
      limit 1) as f`,
  cancel: `select g.client_key, g.id, p.endpoint_id, null::timestamptz as finished_at, g.place
    from free g cross join lateral (
      select p.endpoint_id from pending_deliveries p
      where p.client_key = g.client_key and p.id = g.id limit 1) as p`,
}

/** How many of them a job would deal with. */
export async function countFit(
  db: Db,
  act: Act,
  selected: readonly SelectedDelivery[],
): Promise<number> {
  let total = 0
  for (const some of inParts(selected)) {
    const { rows } = await db.query<{ count: number }>({
      name: `count-${act}`,
      text: `with ${GIVEN} select count(*) as count from (${FIT[act]}) as fit`,
      values: columnsOf(some),
    })
    total += rows[0]?.count ?? 0
  }
  return total
}

/** Notes what the job has to deal with, in the order given; returns how many that are. */
export async function noteItems(
  db: Db,
  jobId: string,
  act: Act,
  selected: readonly SelectedDelivery[],
): Promise<number> {
  let total = 0
  let place = 0
  for (const some of inParts(selected)) {
    const { rowCount } = await db.query({
      name: `note-${act}`,
      text: `with ${GIVEN}
             insert into job_items (client_key, delivery_id, endpoint_id, finished_at, job_id, place)
             select client_key, id, endpoint_id, finished_at, $4, $5 + place from (${FIT[act]}) as fit
             order by client_key, id
             on conflict (client_key, delivery_id) do nothing`,
      values: [...columnsOf(some), jobId, place],
    })
    total += rowCount ?? 0
    place += some.length
  }
  return total
}

function columnsOf(selected: readonly SelectedDelivery[]): string[] {
  return [
    plainColumn(selected, (delivery) => delivery.clientKey),
    plainColumn(selected, (delivery) => delivery.id),
    instantColumn(selected, (delivery) => delivery.createdAtMs),
  ]
}

function* inParts<T>(all: readonly T[]): Generator<readonly T[]> {
  for (let at = 0; at < all.length; at += AT_ONCE) yield all.slice(at, at + AT_ONCE)
}
