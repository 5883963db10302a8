// From the names in a filter to the keys that deliveries are read by: whose they are, and where a search
// leads. Nothing is scanned here: ids lead straight to their rows, externalIds through their summary.

import type { DeliveryFilter } from '../../core/asking/delivery-filter.ts'
import { admitsDelivered } from '../../core/asking/outcome-filter.ts'
import { DELIVERY_STATES } from '../../core/delivery/delivery.ts'
import { isUuid } from '../../core/plain/uuid.ts'
import type { Db } from '../connection/db.ts'
import { findByExternalId } from '../payments/payment-lists.ts'
import { type DeliveryQuery, EVERY_DELIVERY } from '../sql/delivery-query.ts'

/** Payments with one externalId that a search looks at, the newest. */
export const SAME_NAME_MAX = 200

/**
 * Null: nothing can match. `clientKey` is the caller's own where a client asks. `refuseMore` is for acts on all that match:
 * it is called, and throws, where more payments have the externalId than are looked at.
 */
export async function resolveDeliveryFilter(
  db: Db,
  filter: DeliveryFilter,
  ownClientKey: number | null,
  refuseMore: () => void = () => {},
): Promise<DeliveryQuery | null> {
  const query: DeliveryQuery = {
    ...EVERY_DELIVERY,
    clientKey: ownClientKey,
    accountId: filter.accountId,
    endpointId: filter.endpointId,
    jobId: filter.jobId,
    states: statesOf(filter),
    kind: filter.kind,
    outcomes: filter.outcomes,
    fromMs: filter.fromMs,
    toMs: filter.toMs,
  }
  if (query.states?.length === 0) return null
  const owners = [
    filter.clientId && (await findClientKey(db, 'clients where id = $1', filter.clientId)),
    filter.accountId && (await findClientKey(db, 'accounts where id = $1', filter.accountId)),
    filter.endpointId && (await findClientKey(db, 'endpoints where id = $1', filter.endpointId)),
  ]
  for (const owner of owners) {
    if (owner === null || owner === '') continue
    if (owner === undefined) return null
    query.clientKey ??= owner
    if (query.clientKey !== owner) return null
  }
  if (filter.paymentId !== null) {
    query.payments = await findPayment(db, filter.paymentId)
    if (query.payments.length === 0) return null
  }
  if (filter.externalId !== null) {
    const found = await findNamed(db, query, filter.externalId, refuseMore)
    if (!narrowTo(query, found)) return null
  }
  if (filter.eventId !== null) {
    query.event = await findEvent(db, filter.eventId)
    if (query.event === null) return null
  }
  if (filter.search !== null && !(await applySearch(db, query, filter.search, refuseMore))) {
    return null
  }
  return query
}

/** What was not answered with 200 was not delivered: then the few others are looked through by their index. */
function statesOf({ states, outcomes }: DeliveryFilter): DeliveryQuery['states'] {
  if (outcomes === null || admitsDelivered(outcomes)) return states
  return (states ?? DELIVERY_STATES).filter((state) => state !== 'DELIVERED')
}

type Payments = NonNullable<DeliveryQuery['payments']>

/** Of the payments that are asked for already, if any are. */
async function findNamed(
  db: Db,
  { clientKey, payments }: DeliveryQuery,
  externalId: string,
  refuseMore: () => void,
): Promise<Payments> {
  const found = await findByExternalId(db, externalId, clientKey, SAME_NAME_MAX + 1, payments)
  if (found.length > SAME_NAME_MAX) refuseMore()
  return found.slice(0, SAME_NAME_MAX)
}

/** False where no payment is left. */
function narrowTo(query: DeliveryQuery, found: Payments): boolean {
  const wanted = query.payments
  query.payments =
    wanted === null
      ? found
      : found.filter(({ clientKey, paymentId }) =>
          wanted.some((key) => key.clientKey === clientKey && key.paymentId === paymentId),
        )
  return query.payments.length > 0
}

/** A uuid may be a payment's, an event's or a delivery's; anything else is an externalId. */
async function applySearch(
  db: Db,
  query: DeliveryQuery,
  search: string,
  refuseMore: () => void,
): Promise<boolean> {
  const found = isUuid(search)
    ? await findPayment(db, search.toLowerCase())
    : await findNamed(db, query, search, refuseMore)
  if (found.length > 0) return narrowTo(query, found)
  if (!isUuid(search)) return false
  const event = await findEvent(db, search.toLowerCase())
  if (event === null) query.deliveryId = search.toLowerCase()
  else if (query.event !== null && query.event.eventId !== event.eventId) return false
  else query.event = event
  return true
}

async function findClientKey(db: Db, where: string, id: string): Promise<number | undefined> {
  const { rows } = await db.query<{ client_key: number }>(
    `select client_key from ${where} limit 1`,
    [id],
  )
  return rows[0]?.client_key
}

export async function findPayment(
  db: Db,
  paymentId: string,
): Promise<{ clientKey: number; paymentId: string }[]> {
  const { rows } = await db.query<{ client_key: number }>({
    name: 'find-owners-of-payment',
    text: 'select client_key from payments where id = $1',
    values: [paymentId],
  })
  return rows.map((row) => ({ clientKey: row.client_key, paymentId }))
}

/** An event's id leads to its day; within it, one descent into the key for each client. */
export async function findEvent(
  db: Db,
  eventId: string,
): Promise<{ clientKey: number; eventId: string } | null> {
  const { rows } = await db.query<{ client_key: number }>({
    // Without a name, so that it is planned for this id: only then are other days left alone.
    text: `select c.client_key from clients c
           join events e on e.client_key = c.client_key and e.id = $1 limit 1`,
    values: [eventId],
  })
  return rows[0] ? { clientKey: rows[0].client_key, eventId } : null
}
