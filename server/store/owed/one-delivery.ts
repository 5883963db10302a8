// One delivery by its id, for those who ask to change it: it is pending or final, and may go from the one to the other
// between two looks.

import { uuidTimeMs } from '../../core/plain/uuid.ts'
import type { Db } from '../connection/db.ts'
import { releasing } from '../connection/snapshot.ts'
import type { DeliveryOwner } from '../sql/delivery-query.ts'
import {
  CLOCKS_APART_MS,
  idsWithin,
  readStretchesSince,
  type Stretch,
  stretchAround,
  timesWithin,
} from '../sql/stretches.ts'
import { isWhole } from '../sql/whole-text.ts'

export interface PendingKey {
  clientKey: number
  id: string
  endpointId: string
}

/** A final delivery, and where it lies. */
export interface FinalKey {
  clientKey: number
  id: string
  endpointId: string
  /** As the database writes it: it counts microseconds, a Date does not. */
  finishedAt: string
}

export interface FoundFinal extends FinalKey {
  isEndpointDeleted: boolean
  hasPayload: boolean
}

export async function findPending(
  db: Db,
  owner: DeliveryOwner,
  deliveryId: string,
): Promise<PendingKey | null> {
  const { rows } = await db.query<{ client_key: number; endpoint_id: string }>({
    name: 'find-pending-delivery',
    // By client and then by id, as its key is: there are far fewer clients than deliveries.
    text: `select p.client_key, p.endpoint_id
           from clients c join pending_deliveries p on p.client_key = c.client_key
           where p.id = $3 and ($1::int is null and not c.is_internal or c.client_key = $1)
             and ($2::uuid is null or p.account_id = $2)`,
    values: [owner.clientKey, owner.accountId, deliveryId],
  })
  const [row] = rows
  return row === undefined
    ? null
    : { clientKey: row.client_key, id: deliveryId, endpointId: row.endpoint_id }
}

/** But not Paybell's own notices, which no list shows. */
const OF_ANYBODY = `f.finished_at > '-infinity'
  and not exists (select from clients c where c.client_key = f.client_key and c.is_internal)`

/**
 * The final delivery with this id, and what would keep it from being replayed. Inside a transaction: what
 * is looked through on the way does not stay locked.
 */
export async function findFinal(
  db: Db,
  owner: DeliveryOwner,
  deliveryId: string,
): Promise<FoundFinal | null> {
  const reader = releasing(db)
  const sinceMs = uuidTimeMs(deliveryId) - CLOCKS_APART_MS
  for (const stretch of await readStretchesSince(reader, 'final_deliveries', sinceMs)) {
    const found = await findFinalWithin(reader, owner, deliveryId, stretch)
    if (found !== null) return found
  }
  return null
}

async function findFinalWithin(
  db: Db,
  owner: DeliveryOwner,
  deliveryId: string,
  stretch: Stretch,
): Promise<FoundFinal | null> {
  // A delivery's event has an id of the same millisecond: there alone is it looked for.
  const ofItsTime = stretchAround([uuidTimeMs(deliveryId)], 0)
  const { rows } = await db.query<{
    client_key: number
    endpoint_id: string
    finished_at: string
    is_deleted: boolean
    has_payload: boolean
  }>({
    // The operator's index repeats a condition that is always true (migrations/0002).
    text: `select f.client_key, f.endpoint_id, f.finished_at::text,
             e.deleted_at is not null as is_deleted,
             exists (select from events v
               where v.client_key = f.client_key and v.id = f.event_id
                 and ${idsWithin(ofItsTime, 'v.id')} and ${isWhole('v.text')}) as has_payload
           from final_deliveries f
           join endpoints e on e.client_key = f.client_key and e.id = f.endpoint_id
           where f.id = $1 and ${timesWithin(stretch, 'f.finished_at')}
             and ($2::uuid is null or f.account_id = $2)
             and ${owner.clientKey === null ? OF_ANYBODY : 'f.client_key = $3'}`,
    values: [deliveryId, owner.accountId, ...(owner.clientKey === null ? [] : [owner.clientKey])],
  })
  const [row] = rows
  if (row === undefined) return null
  return {
    clientKey: row.client_key,
    id: deliveryId,
    endpointId: row.endpoint_id,
    finishedAt: row.finished_at,
    isEndpointDeleted: row.is_deleted,
    hasPayload: row.has_payload,
  }
}
