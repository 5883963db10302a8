// Deliveries as answers show them, to clients and to the operator.

import type { TSchema } from 'typebox'
import { SEARCH_CHARACTERS_MAX } from '../../core/asking/delivery-filter.ts'
import {
  OUTCOME_DESCRIPTION,
  type OutcomeReader,
  outcomePattern,
} from '../../core/asking/outcome-filter.ts'
import { DELIVERY_STATES } from '../../core/delivery/delivery.ts'
import type { Explanation } from '../../core/delivery/explanation.ts'
import { toClientCode } from '../../core/delivery/outcome-words.ts'
import { EVENT_KINDS, PAYMENT_STATES, TEXT_CHARACTERS_MAX } from '../../core/payments/payment.ts'
import { moneyText } from '../../core/payments/payment-summary.ts'
import type { AttemptItem, NamedDelivery } from '../../operations/deliveries/view-deliveries.ts'
import type { SentRequest } from '../../operations/deliveries/view-sent-request.ts'
import { CursorQuery } from '../basics/cursor.ts'
import { TEXT_PATTERN } from '../basics/published.ts'
import {
  Instant,
  InstantOrNull,
  IntegerOrNull,
  TextOrNull,
  Uuid,
  WordOrNull,
} from '../basics/scalars.ts'
import { Type } from '../basics/type.ts'
import { answer } from './calls.ts'
import { MoneySchema } from './payment-schema.ts'

export const StateSchema = Type.Enum([...DELIVERY_STATES])

const itemProperties = {
  id: Uuid,
  eventId: Type.String({ format: 'uuid', description: 'The `webhook-id` of its callbacks.' }),
  event: Type.Enum([...EVENT_KINDS]),
  paymentId: Uuid,
  sequence: Type.Integer({ description: 'The number of the event within its payment.' }),
  endpointId: Uuid,
  endpointUrl: Type.String(),
  state: StateSchema,
  attempts: Type.Integer({ description: 'So far, over all runs.' }),
  createdAt: Instant,
  nextAttemptAt: InstantOrNull(
    'When the next attempt can start: while the endpoint is down, not before its next probe, and while it waits for another update (`waitsFor`), not before that one’s. Null when it has ended, or waits until its endpoint is active or has room in its queue.',
  ),
  waitsFor: IntegerOrNull(
    'The `sequence` of the update of the same payment that is sent first. Null when there is none, or the endpoint is not active.',
  ),
  deadlineAt: InstantOrNull('No attempt starts later. Null before the first one.'),
  lastOutcome: TextOrNull(
    'What the last attempt came to: `answered` and the status, or why there was no answer.',
  ),
  externalId: TextOrNull(
    'Of its payment, as it is now; null when the payment was erased or is no longer kept. So are the next two.',
  ),
  paymentState: WordOrNull(PAYMENT_STATES),
  amount: Type.Unsafe<{ amount: number; currency: string } | null>({
    anyOf: [MoneySchema, { type: 'null' }],
  }),
}

const ITEM_EXAMPLE = {
  id: '019cade2-1350-7af3-913d-2f16aae956b4',
  eventId: '019cade2-1350-7000-8a0b-1c2d3e4f5a6b',
  event: 'payment.paid',
  paymentId: '7c0d0a5e-54c8-4b56-9f0e-2a4f5d1c9b11',
  sequence: 3,
  endpointId: '019cade1-0a11-7c1e-9d0b-3f6a1c2b4d5e',
  endpointUrl: 'https://example.com/paybell',
  state: 'PENDING',
  attempts: 6,
  createdAt: '2026-11-14T13:58:01.120Z',
  nextAttemptAt: '2026-11-14T14:03:20.000Z',
  waitsFor: null,
  deadlineAt: '2026-11-21T13:58:01.200Z',
  lastOutcome: 'answered 204',
  externalId: 'INV-2026-0042',
  paymentState: 'PAID',
  amount: { amount: 1250.5, currency: 'EUR' },
}

const attemptProperties = {
  attempt: Type.Integer(),
  at: Instant,
  durationMs: Type.Integer(),
  status: IntegerOrNull(),
  error: TextOrNull('Why no answer came; null when one did.'),
  excerpt: TextOrNull(
    'The first 4 KiB of the answer’s body, as text; of a 200 the first 256 bytes. Null where there was none.',
  ),
}

const ATTEMPT_EXAMPLE = {
  attempt: 6,
  at: '2026-11-14T14:00:36.410Z',
  durationMs: 84,
  status: 204,
  error: null,
  excerpt: null,
}

export const DeliverySchema = Type.Object(itemProperties, { examples: [ITEM_EXAMPLE] })

export const AttemptSchema = Type.Object(attemptProperties, { examples: [ATTEMPT_EXAMPLE] })

export const ExplanationPartSchema = Type.Object({
  code: Type.String({ description: 'What the sentence is about: stable, and more may come.' }),
  template: Type.String({
    description:
      'The sentence. `{name}` stands for the instant of that name, `{in name}` for the time until it.',
  }),
  instants: Type.Array(Type.Object({ name: Type.String(), at: Instant })),
})

const explanationProperties = {
  explanation: Type.String({
    description: 'Its status in words: what happened, what comes next and when, in UTC.',
  }),
  explanationParts: Type.Array(ExplanationPartSchema, {
    description:
      'The same sentences with their instants apart, to be written in the zone of the reader.',
  }),
}

/** The request of the last attempt. */
export const SentRequestSchema = Type.Object({
  method: Type.String(),
  url: Type.String(),
  attempt: IntegerOrNull(),
  headers: Type.Array(Type.Object({ name: Type.String(), value: Type.String() }), {
    description:
      'Of the last attempt, as they were sent, signatures included. The value of a header of the endpoint’s own is shown as `•••`. Made again with the settings of the endpoint as they are now and the key that signed at the time; of an attempt before the last two rotations with the oldest key that is kept, so that its signatures are not those that were sent. Empty before the first attempt, when the body is no longer stored, and when the keys cannot be decrypted.',
  }),
  body: TextOrNull('Without the file of a document. Null when it is no longer stored.'),
  bodyBytes: IntegerOrNull(),
  bodyUrl: Type.String({
    description: 'Where the exact bytes are: what a signed request carries.',
  }),
})

export const DeliveryDetailSchema = Type.Object({
  ...itemProperties,
  attemptLog: Type.Array(AttemptSchema),
  ...explanationProperties,
  request: SentRequestSchema,
})

const owner = {
  clientId: Uuid,
  clientName: Type.String(),
  accountId: Uuid,
  accountName: TextOrNull('Null when the account is no longer there.'),
}

export const OperatorDeliverySchema = Type.Object({ ...itemProperties, ...owner })

export const SignatureInputsSchema = Type.Object({
  algorithm: Type.String(),
  headers: Type.Array(
    Type.Object({
      name: Type.String(),
      signed: Type.String({ description: 'What the signature is made over.' }),
      encoding: Type.String(),
    }),
  ),
  webhookId: Uuid,
  timestamp: IntegerOrNull(),
  keys: Type.Integer({ description: '2 for 24 hours after a rotation, otherwise 1.' }),
})

export const OperatorDeliveryDetailSchema = Type.Object({
  ...OperatorDeliverySchema.properties,
  attemptLog: DeliveryDetailSchema.properties.attemptLog,
  ...explanationProperties,
  request: SentRequestSchema,
  signatureInputs: SignatureInputsSchema,
  response: Type.Unsafe<{ status: number | null; excerpt: string | null } | null>({
    type: ['object', 'null'],
    properties: { status: IntegerOrNull(), excerpt: TextOrNull('As in attemptLog.') },
    required: ['status', 'excerpt'],
    description: 'Of the last attempt; null before the first one.',
  }),
})

export function CursorPageOf<T extends TSchema>(item: T) {
  const page = Type.Object({
    items: Type.Array(item),
    next: TextOrNull('Give it back as `after` to read on; null at the end.'),
  })
  return answer('Items, and a cursor to read on with; the cursor is null at the end.', page)
}

const ONE_STATE = `(${DELIVERY_STATES.join('|')})`
/** One state, or several with commas. */
export const STATES_PATTERN = `^${ONE_STATE}(,${ONE_STATE})*$`

export const ExternalIdFilter = Type.String({
  maxLength: TEXT_CHARACTERS_MAX,
  published: { pattern: TEXT_PATTERN },
  description: 'Of the payments with exactly this external id, the newest 200.',
})
export function outcomeFilter(reader: OutcomeReader) {
  return Type.Optional(
    Type.String({
      maxLength: 420,
      published: { pattern: outcomePattern(reader) },
      description: OUTCOME_DESCRIPTION,
    }),
  )
}

const filterProperties = {
  externalId: Type.Optional(ExternalIdFilter),
  state: Type.Optional(
    Type.String({
      published: { pattern: STATES_PATTERN },
      description: `One of ${DELIVERY_STATES.join(', ')}, or several with commas.`,
    }),
  ),
  endpointId: Type.Optional(Uuid),
  paymentId: Type.Optional(Uuid),
  from: Type.Optional(
    Type.String({ format: 'date-time', description: 'Created at this instant or later.' }),
  ),
  to: Type.Optional(
    Type.String({
      format: 'date-time',
      description: 'Created before this instant, which lies after `from`.',
    }),
  ),
}

export const DeliveryListQuery = Type.Object({
  ...CursorQuery,
  ...filterProperties,
  outcome: outcomeFilter('client'),
})

export const OperatorDeliveryListQuery = Type.Object({
  ...CursorQuery,
  ...filterProperties,
  outcome: outcomeFilter('operator'),
  clientId: Type.Optional(Uuid),
  accountId: Type.Optional(Uuid),
  eventId: Type.Optional(Uuid),
  event: Type.Optional(Type.Enum([...EVENT_KINDS], { description: 'The kind of event.' })),
  job: Type.Optional(
    Type.String({ format: 'uuid', description: 'What a bulk job was about, as it is now.' }),
  ),
  q: Type.Optional(
    Type.String({
      maxLength: SEARCH_CHARACTERS_MAX,
      published: { pattern: TEXT_PATTERN },
      description: 'The id of a payment, an event or a delivery, or the externalId of a payment.',
    }),
  ),
})

/** The text in UTC, and the sentences with their instants apart. */
export function toExplanation({ text, parts }: Explanation) {
  return {
    explanation: text,
    explanationParts: parts.map(({ code, template, instants }) => ({
      code,
      template,
      instants: Object.entries(instants).map(([name, ms]) => ({
        name,
        at: new Date(ms).toISOString(),
      })),
    })),
  }
}

/** As its client sees it. */
export function toDelivery(item: NamedDelivery) {
  const { lastOutcome } = item
  return toItem(item, lastOutcome && toClientCode(lastOutcome))
}

function toItem(item: NamedDelivery, lastOutcome: string | null) {
  return {
    id: item.id,
    eventId: item.eventId,
    event: item.kind as (typeof EVENT_KINDS)[number],
    paymentId: item.paymentId,
    sequence: item.sequence,
    endpointId: item.endpointId,
    endpointUrl: item.endpointUrl,
    state: item.state,
    attempts: item.attempts,
    createdAt: item.createdAt.toISOString(),
    nextAttemptAt: item.nextAttemptAt?.toISOString() ?? null,
    waitsFor: item.waitsFor,
    deadlineAt: item.deadlineAt?.toISOString() ?? null,
    lastOutcome: toOutcomeText(lastOutcome, item.lastStatus),
    externalId: item.payment?.externalId ?? null,
    paymentState: item.payment?.status.state ?? null,
  }
}

/** JSON of a delivery, with the digits of the amount as they were written. */
export function deliveryText(body: object, { payment }: Pick<NamedDelivery, 'payment'>): string {
  const amount = payment === null ? 'null' : moneyText(payment.amount)
  return `{"amount":${amount},${JSON.stringify(body).slice(1)}`
}

export function toOperatorDelivery(item: NamedDelivery) {
  const { clientId, clientName, accountId, accountName, lastOutcome } = item
  return { ...toItem(item, lastOutcome), clientId, clientName, accountId, accountName }
}

export function toSentRequest(request: SentRequest, delivery: NamedDelivery, bodyUrl: string) {
  return { method: 'POST', url: delivery.endpointUrl, ...request, bodyUrl }
}

/** As health says it: `answered 503`, `timeout`. */
function toOutcomeText(outcome: string | null, status: number | null): string | null {
  return outcome === 'answered' && status !== null ? `answered ${status}` : outcome
}

/** As its client sees it. */
export function toAttempt(item: AttemptItem) {
  return toAnyAttempt(item, toClientCode(item.outcome))
}

export function toOperatorAttempt(item: AttemptItem) {
  return toAnyAttempt(item, item.outcome)
}

function toAnyAttempt(item: AttemptItem, outcome: string) {
  return {
    attempt: item.attempt,
    at: item.at.toISOString(),
    durationMs: item.durationMs,
    status: item.status,
    error: outcome === 'answered' ? null : outcome,
    excerpt: toExcerpt(item),
  }
}

/** Whatever bytes came back, as text: what is no UTF-8 becomes a replacement character. */
export function toExcerpt({ excerpt }: AttemptItem): string | null {
  return excerpt === null ? null : excerpt.toString('utf8')
}
