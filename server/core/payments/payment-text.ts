// A payment as one canonical JSON text, without the file: it is what `GET` answers, what callbacks
// begin with, and what "changes nothing" is judged by. So equal payments have equal texts, and
// `document`, where there is one, comes last: core/delivery/callback splices the file in at the end.
// Keep it as text in the database: jsonb would write 1e2 as 100.

import { NIL_UUID } from '../plain/uuid.ts'
import { isFinal, type Payment } from './payment.ts'

/** Fields in the order of the interface's table; optional ones that are not there are left out. */
export function toPaymentText(payment: Payment): string {
  const { status, amount, completedAt, documentReference, document } = payment
  // Written by hand, because JSON.stringify would need the amount as a number. Uuids, instants,
  // states, purposes and currencies hold nothing that needs escaping: their checks see to that.
  let text = `{"id":"${payment.id}","status":{"state":"${status.state}"`
  if (status.reason !== null) text += `,"reason":${JSON.stringify(status.reason)}`
  text += `},"complete":${isFinal(status.state)},"createdAt":"${payment.createdAt}"`
  if (completedAt !== null) text += `,"completedAt":"${completedAt}"`
  text += `,"externalId":${JSON.stringify(payment.externalId)},"quoteId":"${payment.quoteId}"`
  text += `,"amount":{"amount":${amount.amount},"currency":"${amount.currency}"}`
  text += `,"reference":${JSON.stringify(payment.reference)}`
  text += `,"purposeOfPayment":"${payment.purposeOfPayment}"`
  text += `,"beneficiaryId":"${payment.beneficiaryId}"`
  if (documentReference !== null)
    text += `,"documentReference":${JSON.stringify(documentReference)}`
  if (document !== null) {
    text += `,"document":{"mediaType":${JSON.stringify(document.mediaType)}`
    text += `,"name":${JSON.stringify(document.name)}}`
  }
  return `${text}}`
}

/** Instants that the service itself sets: UTC, with milliseconds. */
export function toInstantText(ms: number): string {
  return new Date(ms).toISOString()
}

/** What a client without payments is shown, and what a test send carries: valid, and no real payment. */
export function specimenPayment(nowMs: number): string {
  return toPaymentText({
    id: NIL_UUID,
    status: { state: 'DRAFT', reason: null },
    createdAt: toInstantText(nowMs),
    completedAt: null,
    externalId: 'SPECIMEN',
    quoteId: NIL_UUID,
    amount: { amount: '100.00', currency: 'EUR' },
    reference: 'SPECIMEN',
    purposeOfPayment: 'OTHER',
    beneficiaryId: NIL_UUID,
    documentReference: null,
    document: null,
  })
}
