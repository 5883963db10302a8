// Payments and their events as the operator sees them.

import { type CursorPage, parseCursor, toCursor, toCursorPage } from '../core/cursor.ts'
import { type EventView, readEventsOfPayment } from '../store/events.ts'
import {
  listPayments,
  type PaymentFilter,
  type PaymentView,
  readPayment,
} from '../store/payments.ts'
import type { Deps } from './deps.ts'
import { notFound } from './failures.ts'

export type { EventView, PaymentView }

export interface CursorRequest {
  limit: number
  after: string | null
}

const MILLISECONDS = /^\d{1,15}$/
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const SEQUENCE = /^\d{1,9}$/

export async function viewPayment(deps: Deps, paymentId: string): Promise<PaymentView> {
  const payment = await readPayment(deps.pool, paymentId, null)
  if (payment === null) throw notFound()
  return payment
}

export async function viewPayments(
  deps: Deps,
  filter: PaymentFilter,
  { limit, after }: CursorRequest,
): Promise<CursorPage<PaymentView>> {
  const [atMs, id] = after === null ? [] : parseCursor(after, MILLISECONDS, UUID)
  const from = atMs && id ? { acceptedAt: new Date(Number(atMs)), id } : null
  const rows = await listPayments(deps.pool, filter, from, limit + 1)
  return toCursorPage(rows, limit, (last) => toCursor(last.acceptedAt.getTime(), last.id))
}

export async function viewPaymentEvents(
  deps: Deps,
  paymentId: string,
  { limit, after }: CursorRequest,
): Promise<CursorPage<EventView>> {
  const { clientKey } = await viewPayment(deps, paymentId)
  const [sequence] = after === null ? [] : parseCursor(after, SEQUENCE)
  const rows = await readEventsOfPayment(deps.pool, clientKey, paymentId, {
    limit: limit + 1,
    beforeSequence: sequence === undefined ? null : Number(sequence),
  })
  return toCursorPage(rows, limit, (last) => toCursor(last.sequence))
}
