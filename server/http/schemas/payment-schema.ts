// The Payment of the interface as JSON Schema, for the published interface alone: payments are
// checked by core/payments/payment-fields, which keeps the digits of an amount.

import type { Static, TSchema } from 'typebox'
import {
  AMOUNT_CHARACTERS_MAX,
  AMOUNT_EXPONENT_MAX,
  EVENT_KINDS,
  FILE_BASE64_CHARACTERS_MAX,
  MEDIA_TYPE_CHARACTERS_MAX,
  PAYMENT_STATES,
  PURPOSES,
  TEXT_CHARACTERS_MAX,
} from '../../core/payments/payment.ts'
import { MEDIA_TYPE_PATTERN } from '../../core/payments/payment-checks.ts'
import { BASE64_PATTERN, Instant, Uuid } from '../basics/scalars.ts'
import { Type } from '../basics/type.ts'

// PostgreSQL stores no U+0000.
const pattern = '^[^\\u0000]*$'
const RequiredText = Type.String({ minLength: 1, maxLength: TEXT_CHARACTERS_MAX, pattern })
const OptionalText = Type.String({ maxLength: TEXT_CHARACTERS_MAX, pattern })
export const PaymentStateSchema = Type.Enum([...PAYMENT_STATES])
export const PurposeSchema = Type.Enum([...PURPOSES])
const Status = Type.Object({
  state: PaymentStateSchema,
  reason: Type.Optional(OptionalText),
})

export const MoneySchema = Type.Object({
  amount: Type.Number({
    minimum: 0,
    description: `An exact decimal: the digits are kept as written. At most ${AMOUNT_CHARACTERS_MAX} characters, with an exponent from -${AMOUNT_EXPONENT_MAX} to ${AMOUNT_EXPONENT_MAX} or none.`,
  }),
  currency: Type.String({ pattern: '^[A-Z]{3}$' }),
})

const properties = {
  id: Uuid,
  status: Type.Optional(Status),
  complete: Type.Optional(Type.Boolean({ description: 'True exactly in a final state.' })),
  createdAt: Instant,
  completedAt: Type.Optional(Instant),
  externalId: RequiredText,
  quoteId: Uuid,
  amount: MoneySchema,
  reference: RequiredText,
  purposeOfPayment: PurposeSchema,
  beneficiaryId: Uuid,
  documentReference: Type.Optional(OptionalText),
}

const documentProperties = {
  mediaType: Type.String({ maxLength: MEDIA_TYPE_CHARACTERS_MAX, pattern: MEDIA_TYPE_PATTERN }),
  name: RequiredText,
}
export const DocumentSchema = Type.Object(documentProperties)
export const DocumentWithFile = Type.Object({
  ...documentProperties,
  base64EncodedFile: Type.String({
    minLength: 4,
    maxLength: FILE_BASE64_CHARACTERS_MAX,
    contentEncoding: 'base64',
    pattern: BASE64_PATTERN,
    description: 'At most 10 MiB decoded.',
  }),
})

const PAYMENT_EXAMPLE = {
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
  { ...properties, document: Type.Optional(DocumentSchema) },
  { examples: [PAYMENT_EXAMPLE] },
)

/** With the file: as callbacks carry it. */
export const CallbackSchema = Type.Object({
  ...properties,
  document: Type.Optional(DocumentWithFile),
})

/** As the callbacks of one endpoint carry it: with the file, with a link in its place, or with neither. */
export const SentBodySchema = Type.Object({
  ...properties,
  document: Type.Optional(
    Type.Object({
      ...documentProperties,
      base64EncodedFile: Type.Optional(DocumentWithFile.properties.base64EncodedFile),
      url: Type.Optional(Type.String({ format: 'uri' })),
    }),
  ),
})

/** Null counts as left out, because many systems write it for what they do not have. */
function orNull<T extends TSchema>(schema: T) {
  return Type.Optional(Type.Unsafe<Static<T> | null>({ anyOf: [schema, { type: 'null' }] }))
}

export const StatusWriteSchema = Type.Object({ ...Status.properties, reason: orNull(OptionalText) })

/** As a write may have it: optional members may be null, and some the service sets itself. */
const writeProperties = {
  ...properties,
  status: orNull(StatusWriteSchema),
  complete: orNull(Type.Boolean({ description: 'Derived from the state, whatever is said here.' })),
  createdAt: orNull(Instant),
  completedAt: orNull(Instant),
  documentReference: orNull(OptionalText),
  document: orNull(DocumentWithFile),
  version: orNull(
    Type.Integer({
      minimum: Number.MIN_SAFE_INTEGER,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'A number of the source that only rises.',
    }),
  ),
}

/** The body of a PUT: its path names the payment. */
export const PaymentWriteSchema = Type.Object(
  { ...writeProperties, id: orNull(Uuid) },
  { examples: [PAYMENT_EXAMPLE] },
)

/** A line of a batch. */
export const LineWriteSchema = Type.Object(
  { accountId: Uuid, ...writeProperties },
  { examples: [{ accountId: '3b1f0a52-7c86-4d1e-9f0a-8e2d5c4b6a70', ...PAYMENT_EXAMPLE }] },
)

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
