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
  // Joined at once: a text that grows piece by piece is a tree of them first, twice the size of the text.
  return [
    '{"id":"',
    payment.id,
    '","status":{"state":"',
    status.state,
    status.reason === null ? '"' : `","reason":${JSON.stringify(status.reason)}`,
    isFinal(status.state) ? '},"complete":true,"createdAt":"' : '},"complete":false,"createdAt":"',
    payment.createdAt,
    completedAt === null ? '","externalId":' : `","completedAt":"${completedAt}","externalId":`,
    JSON.stringify(payment.externalId),
    ',"quoteId":"',
    payment.quoteId,
    '","amount":{"amount":',
    amount.amount,
    ',"currency":"',
    amount.currency,
    '"},"reference":',
    JSON.stringify(payment.reference),
    ',"purposeOfPayment":"',
    payment.purposeOfPayment,
    '","beneficiaryId":"',
    payment.beneficiaryId,
    documentReference === null ? '"' : `","documentReference":${JSON.stringify(documentReference)}`,
    document === null
      ? '}'
      : `,"document":${JSON.stringify({ mediaType: document.mediaType, name: document.name })}}`,
  ].join('')
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
