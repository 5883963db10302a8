// Payments and their events as they are read: the operator sees those of all clients, a client its own.

import {
  type CursorPage,
  parseCursor,
  toCursor,
  toCursorPage,
} from '../../core/asking/opaque-cursors.ts'
import { fillPage, SCAN_DEFAULTS } from '../../core/asking/paged-scan.ts'
import { isErased } from '../../core/payments/erasure.ts'
import { ServiceError } from '../../core/plain/errors.ts'
import { CANONICAL_UUID, isUuid } from '../../core/plain/uuid.ts'
import {
  type DeliveryOfEvent,
  readDeliveriesOfEvents,
} from '../../store/history/delivery-details.ts'
import { readDeliveryNames } from '../../store/history/delivery-names.ts'
import { type EventView, readEventsOfPayment } from '../../store/history/events.ts'
import {
  type PaymentItem,
  type PaymentPosition,
  type PaymentQuery,
  readPaymentSlice,
} from '../../store/payments/payment-lists.ts'
import { type PaymentView, readPayment } from '../../store/payments/payments.ts'
import type { Deps } from '../shared/deps.ts'
import { notFound } from '../shared/service-errors.ts'

export type { EventView, PaymentItem }

/** As the operator sees it, with whose it is. */
export interface NamedPayment extends Omit<PaymentItem, 'changedAt'> {
  clientName: string
  accountName: string | null
}

/** `search` is a payment's id or its externalId. */
export interface PaymentFilter extends Omit<PaymentQuery, 'paymentId'> {
  search: string | null
}

export interface CursorRequest {
  limit: number
  after: string | null
}

const MILLISECONDS = /^\d{1,15}$/
const SEQUENCE = /^\d{1,9}$/
/** Payments carry their text, so fewer are read at once than deliveries. */
const PAYMENTS_AT_ONCE = 4_000

export async function viewPayment(deps: Deps, paymentId: string): Promise<NamedPayment> {
  const payment = whole(await findPayment(deps, paymentId))
  const [names] = await readDeliveryNames(deps.pool, [{ ...payment, paymentId }])
  if (names === undefined) throw notFound()
  return { ...payment, clientName: names.clientName, accountName: names.accountName }
}

async function findPayment(deps: Deps, paymentId: string): Promise<PaymentView> {
  const payment = await readPayment(deps.pool, paymentId, null)
  if (payment === null) throw notFound()
  return payment
}

function whole(payment: PaymentView): PaymentView {
  if (isErased(payment.text)) throw new ServiceError('payload-expired', 'The payment was erased.')
  return payment
}

export async function viewPayments(
  deps: Deps,
  { search, ...filter }: PaymentFilter,
  { limit, after }: CursorRequest,
): Promise<CursorPage<PaymentItem>> {
  const [atMs, id] = after === null ? [] : parseCursor(after, MILLISECONDS, CANONICAL_UUID)
  const from = atMs && id ? { acceptedAt: new Date(Number(atMs)), id } : null
  const query: PaymentQuery = { ...filter, paymentId: null }
  if (search !== null && isUuid(search)) query.paymentId = search.toLowerCase()
  else if (search !== null && filter.externalId === null) query.externalId = search
  else if (search !== null && search !== filter.externalId) return { items: [], next: null }
  const mustLeaf = query.state !== null || query.accountId !== null
  const toPositionCursor = (position: PaymentPosition) =>
    toCursor(position.acceptedAt.getTime(), position.id)
  return fillPage<PaymentItem, PaymentPosition>(
    from,
    {
      ...SCAN_DEFAULTS,
      limit,
      chunkFirst: mustLeaf ? SCAN_DEFAULTS.chunkFirst : limit + 1,
      chunkMax: PAYMENTS_AT_ONCE,
      monotonicMs: () => deps.clock.monotonicMs(),
    },
    (before, few, chunk) => readPaymentSlice(deps.pool, query, { before, limit: few, chunk }),
    { ofItem: toPositionCursor, ofPosition: toPositionCursor },
  )
}

/** An event and what became of it at each endpoint. */
export interface EventWithDeliveries extends EventView {
  deliveries: readonly DeliveryOfEvent[]
}

export async function viewPaymentEvents(
  deps: Deps,
  paymentId: string,
  { limit, after }: CursorRequest,
): Promise<CursorPage<EventWithDeliveries>> {
  // An erased payment counts too: what became of its events is still known.
  const { clientKey } = await findPayment(deps, paymentId)
  const [sequence] = after === null ? [] : parseCursor(after, SEQUENCE)
  const rows = await readEventsOfPayment(deps.pool, clientKey, paymentId, {
    limit: limit + 1,
    beforeSequence: sequence === undefined ? null : Number(sequence),
  })
  const page = toCursorPage(rows, limit, (last) => toCursor(last.sequence))
  const deliveries = await readDeliveriesOfEvents(
    deps.pool,
    clientKey,
    page.items.map((event) => event.id),
  )
  const items = page.items.map((event) => ({
    ...event,
    deliveries: deliveries.get(event.id) ?? [],
  }))
  return { ...page, items }
}
