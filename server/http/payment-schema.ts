// The Payment of the interface as JSON Schema, for the published interface alone: payments are
// checked by core/payment-fields, which keeps the digits of an amount.

import { Type } from 'typebox'
import { EVENT_KINDS, PAYMENT_STATES, PURPOSES } from '../core/payment.ts'
import { Instant, Uuid } from './scalars.ts'

const properties = {
  id: Uuid,
  status: Type.Optional(
    Type.Object({
      state: Type.Enum([...PAYMENT_STATES]),
      reason: Type.Optional(Type.String()),
    }),
  ),
  complete: Type.Optional(Type.Boolean({ description: 'True exactly in a final state.' })),
  createdAt: Instant,
  completedAt: Type.Optional(Instant),
  externalId: Type.String(),
  quoteId: Uuid,
  amount: Type.Object({
    amount: Type.Number({ description: 'An exact decimal: the digits are kept as written.' }),
    currency: Type.String({ pattern: '^[A-Z]{3}$' }),
  }),
  reference: Type.String(),
  purposeOfPayment: Type.Enum([...PURPOSES]),
  beneficiaryId: Uuid,
  documentReference: Type.Optional(Type.String()),
}

const documentProperties = { mediaType: Type.String(), name: Type.String() }

export const PAYMENT_EXAMPLE = {
  id: '7c0d0a5e-54c8-4b56-9f0e-2a4f5d1c9b11',
  status: { state: 'DUE' },
  complete: false,
  createdAt: '2026-03-02T09:30:00.000Z',
  externalId: 'INV-2026-0042',
  quoteId: '0f7f2a61-9d0c-4f5e-8a3f-6d1b8a2c7e90',
  amount: { amount: 1250.5, currency: 'EUR' },
  reference: 'Invoice 42',
  purposeOfPayment: 'COMPUTER_SERVICES',
  beneficiaryId: 'c1f0a3de-8a1b-4b7c-9d2e-5f6a7b8c9d0e',
}

/** Without the file: as answers show it. */
export const PaymentSchema = Type.Object(
  { ...properties, document: Type.Optional(Type.Object(documentProperties)) },
  { examples: [PAYMENT_EXAMPLE] },
)

/** With the file: as callbacks carry it. */
export const CallbackSchema = Type.Object({
  ...properties,
  document: Type.Optional(Type.Object({ ...documentProperties, base64EncodedFile: Type.String() })),
})

const RECEIPT = {
  documentReference: 'RECEIPT-2026-0042',
  document: {
    mediaType: 'application/pdf',
    name: 'receipt.pdf',
    base64EncodedFile: 'JVBERi0xLjcKJSVFT0YK',
  },
}
const COMPLETED = { complete: true, completedAt: '2026-03-03T14:05:12.481Z' }

/** What has happened, and how the payment looks after it. */
const STORIES: Readonly<
  Record<(typeof EVENT_KINDS)[number], { summary: string; after: Record<string, unknown> }>
> = {
  'payment.created': {
    summary: 'written for the first time',
    after: { status: { state: 'DRAFT' } },
  },
  'payment.pending_approval': {
    summary: 'waits for an approval',
    after: { status: { state: 'PENDING_APPROVAL', reason: 'Needs a second approver' } },
  },
  'payment.due': {
    summary: 'approved, and to be paid',
    after: { status: { state: 'DUE' } },
  },
  'payment.paid': {
    summary: 'paid; a final state',
    after: { status: { state: 'PAID' }, ...COMPLETED },
  },
  'payment.cancelled': {
    summary: 'cancelled, with the reason; a final state',
    after: { status: { state: 'CANCELLED', reason: 'Withdrawn by the payer' }, ...COMPLETED },
  },
  'payment.updated': {
    summary: 'another field has changed: here a receipt was attached, and its file is inline',
    after: { status: { state: 'PAID' }, ...COMPLETED, ...RECEIPT },
  },
}

/** A callback of each kind. */
export function callbackExamples(): Record<string, { summary: string; value: unknown }> {
  return Object.fromEntries(
    EVENT_KINDS.map((kind) => {
      const { summary, after } = STORIES[kind]
      return [kind, { summary: `${kind}: ${summary}`, value: { ...PAYMENT_EXAMPLE, ...after } }]
    }),
  )
}
