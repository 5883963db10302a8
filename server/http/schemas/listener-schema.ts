// Listeners, the callbacks that they are offered and the outcomes that they report, as requests and answers
// show them.

import type { UnreachableReason } from '../../core/delivery/delivery.ts'
import { ENDPOINT_STATUSES, type Endpoint, HMAC_ALGORITHM } from '../../core/delivery/endpoint.ts'
import {
  LISTENER_NAME,
  listenerName,
  POLL_SECONDS_DEFAULT,
  POLL_SECONDS_MAX,
} from '../../core/delivery/listener.ts'
import { HMAC_HEADER } from '../../core/signatures/callback-headers.ts'
import type { OfferAnswer, OfferedCallback } from '../../operations/endpoints/next-callback.ts'
import { Instant, Uuid, UuidOrNull } from '../basics/scalars.ts'
import { Type } from '../basics/type.ts'
import { invalidFields } from '../basics/validation.ts'
import { REFUSED_SETTINGS, toHmacHeaderName } from './endpoint-settings-schema.ts'
import { SharedKey } from './schemas.ts'

/** How much of an answer's body is kept, as for any attempt. */
const EXCERPT_BYTES_MAX = 4_096

export const ListenerRegistration = Type.Object(
  {
    name: Type.String({
      pattern: LISTENER_NAME,
      description:
        'Letters, digits, dots, hyphens and underscores, at most 63. Of one account, the same name is the same listener.',
    }),
    sharedKey: SharedKey,
  },
  {
    examples: [{ name: 'anns-laptop', sharedKey: 'a-long-random-text-that-only-we-two-know' }],
    refused: REFUSED_SETTINGS,
  },
)

export const ListenerSchema = Type.Object(
  {
    id: Uuid,
    name: Type.String(),
    accountId: Uuid,
    status: Type.Enum([...ENDPOINT_STATUSES], {
      description: '`PAUSED` while no one asks for callbacks.',
    }),
    hmacHeaderName: Type.String(),
    algorithm: Type.Enum([HMAC_ALGORITHM]),
  },
  {
    description: 'An endpoint whose callbacks are fetched, one by one.',
    examples: [
      {
        id: '019cade2-1350-7af3-913d-2f16aae956b4',
        name: 'anns-laptop',
        accountId: '019cade1-0d11-7c41-8a1f-0b7c5a0e3c52',
        status: 'PAUSED',
        hmacHeaderName: HMAC_HEADER,
        algorithm: HMAC_ALGORITHM,
      },
    ],
  },
)

export const WaitQuery = Type.Object({
  wait: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: POLL_SECONDS_MAX,
      default: POLL_SECONDS_DEFAULT,
      description: 'Seconds to wait for a callback; 0 answers at once.',
    }),
  ),
})

export const OfferSchema = Type.Object(
  {
    offerId: Uuid,
    deliveryId: UuidOrNull('Null for a test, which is no delivery.'),
    eventId: Uuid,
    attempt: Type.Integer(),
    headers: Type.Array(Type.Array(Type.String(), { minItems: 2, maxItems: 2 }), {
      description: 'Name and value of each header, to be forwarded as they are.',
    }),
    bodyBase64: Type.String({ description: 'The exact bytes that are signed.' }),
    timeoutMs: Type.Integer({ description: 'What is left of the attempt’s 15 seconds.' }),
    deadlineAt: Instant,
  },
  {
    description: 'A callback to forward, and to answer at /outcomes.',
    examples: [
      {
        offerId: '019cade5-6a31-7b11-a2c4-55d0f1a9be10',
        deliveryId: '019cade5-69f0-7d0c-8f6e-2b7b3a4c5d6e',
        eventId: '019cade5-69f0-7a52-8c1e-9d0b3f6a1c2b',
        attempt: 1,
        headers: [
          ['content-type', 'application/json'],
          [HMAC_HEADER, '6990777c822d21d78c253cc0ed2bf83bb5ba6fceb61e8829f60887e7bb3e4ca1'],
        ],
        bodyBase64: 'eyJpZCI6IjdjMGQwYTVlIn0=',
        timeoutMs: 14_985,
        deadlineAt: '2026-03-02T09:30:15.400Z',
      },
    ],
  },
)

const REASONS = [
  'connect-error',
  'connection-reset',
  'dns-error',
  'protocol-error',
  'timeout',
  'tls-error',
] as const satisfies readonly UnreachableReason[]

export const OutcomeBody = Type.Object(
  {
    offerId: Uuid,
    status: Type.Optional(
      Type.Integer({ minimum: 200, maximum: 599, description: 'What your receiver answered.' }),
    ),
    error: Type.Optional(
      Type.Enum([...REASONS], { description: 'Or why there was no answer; one of the two.' }),
    ),
    durationMs: Type.Optional(Type.Integer({ minimum: 0, maximum: 3_600_000 })),
    body: Type.Optional(
      Type.String({
        maxLength: 16_384,
        description: 'How its answer begins; 4 KiB are kept, unless it was a 200.',
      }),
    ),
    retryAfter: Type.Optional(
      Type.String({ maxLength: 100, description: 'Its Retry-After header, with 429 or 503.' }),
    ),
  },
  {
    published: { oneOf: [{ required: ['status'] }, { required: ['error'] }] },
    examples: [
      { offerId: '019cade5-6a31-7b11-a2c4-55d0f1a9be10', status: 200, durationMs: 23 },
      { offerId: '019cade5-6a31-7b11-a2c4-55d0f1a9be10', error: 'connect-error', durationMs: 1 },
    ],
  },
)

export function toListener(listener: Endpoint) {
  return {
    id: listener.id,
    name: listenerName(listener.url),
    accountId: listener.accountId as string,
    status: listener.status,
    hmacHeaderName: toHmacHeaderName(listener),
    algorithm: HMAC_ALGORITHM,
  }
}

export function toOffer({ offer, body, timeoutMs }: OfferedCallback) {
  const { id, deliveryId, eventId, attempt, headers, deadlineAt } = offer
  return {
    offerId: id,
    deliveryId,
    eventId,
    attempt,
    headers: headers.flatMap((name, at) =>
      at % 2 === 0 ? [[name, headers[at + 1] as string]] : [],
    ),
    bodyBase64: Buffer.concat(body).toString('base64'),
    timeoutMs,
    deadlineAt: deadlineAt.toISOString(),
  }
}

export function readAnswer(body: {
  status?: number
  error?: (typeof REASONS)[number]
  durationMs?: number
  body?: string
  retryAfter?: string
}): OfferAnswer {
  const { status, error, durationMs = 0 } = body
  if (status !== undefined && error === undefined) {
    const excerpt = Buffer.from(body.body ?? '').subarray(0, EXCERPT_BYTES_MAX)
    const { retryAfter } = body
    return {
      outcome: {
        kind: 'answered',
        status,
        ...(excerpt.length === 0 ? {} : { excerpt }),
        ...(retryAfter === undefined ? {} : { retryAfter }),
      },
      durationMs,
    }
  }
  if (error !== undefined && status === undefined) {
    return { outcome: { kind: 'unreachable', reason: error }, durationMs }
  }
  throw invalidFields([
    {
      pointer: '/status',
      code: status === undefined ? 'missing' : 'given-twice',
      detail: 'Give either the status that was answered, or the error why there was no answer.',
    },
  ])
}
