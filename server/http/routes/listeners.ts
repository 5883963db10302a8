// /v1/listeners: callbacks of one account that wait to be fetched, so that a receiver behind a firewall,
// or on a developer's own machine, gets them too. Whoever asks for the next one forwards it and tells
// what came of it; all else is as for any endpoint.

import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { HMAC_HEADER } from '../../core/callback-headers.ts'
import type { UnreachableReason } from '../../core/delivery.ts'
import { ENDPOINT_STATUSES, type Endpoint, HMAC_ALGORITHM } from '../../core/endpoint.ts'
import { ServiceError } from '../../core/errors.ts'
import {
  LISTENER_NAME,
  listenerName,
  POLL_SECONDS_DEFAULT,
  POLL_SECONDS_MAX,
} from '../../core/listener.ts'
import { toPageRequest } from '../../core/page.ts'
import { isUuid } from '../../core/uuid.ts'
import {
  answerCallback,
  type ListenerDeps,
  type OfferAnswer,
  type OfferedCallback,
  takeNextCallback,
} from '../../operations/next-callback.ts'
import { registerListener } from '../../operations/register-listener.ts'
import { EndpointLists } from '../../operations/view-endpoints.ts'
import { callerOf } from '../authenticate.ts'
import { PageOf, PageQuery, toPageBody } from '../page.ts'
import {
  AccountHeader,
  BODY_PROBLEMS,
  CLIENT_PROBLEMS,
  EMPTY_BODY,
  IdParams,
  OptionalAccountHeader,
  problemResponses,
  readId,
  SharedKey,
} from '../schemas.ts'
import type { App, Routes } from '../typed.ts'
import { invalidFields } from '../validation.ts'
import { addOneEndpointRoutes } from './one-endpoint.ts'

/** As much of an answer's body is kept of any attempt. */
const EXCERPT_BYTES_MAX = 4_096

const Uuid = Type.String({ format: 'uuid' })

const Registration = Type.Object(
  {
    name: Type.String({
      pattern: LISTENER_NAME,
      description:
        'Letters, digits, dots, hyphens and underscores, at most 63. Of one account, the same name is the same listener.',
    }),
    sharedKey: SharedKey,
  },
  { examples: [{ name: 'anns-laptop', sharedKey: 'a-long-random-text-that-only-we-two-know' }] },
)

const Item = Type.Object(
  {
    id: Uuid,
    name: Type.String(),
    accountId: Uuid,
    status: Type.Enum([...ENDPOINT_STATUSES]),
    hmacHeaderName: Type.String(),
    algorithm: Type.String(),
  },
  {
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
const WaitQuery = Type.Object({
  wait: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: POLL_SECONDS_MAX,
      default: POLL_SECONDS_DEFAULT,
      description: 'Seconds to wait for a callback; 0 answers at once.',
    }),
  ),
})

const OfferSchema = Type.Object(
  {
    offerId: Uuid,
    deliveryId: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      format: 'uuid',
      description: 'Null for a test, which is no delivery.',
    }),
    eventId: Uuid,
    attempt: Type.Integer(),
    headers: Type.Array(Type.Array(Type.String(), { minItems: 2, maxItems: 2 }), {
      description: 'Name and value of each header, to be forwarded as they are.',
    }),
    bodyBase64: Type.String({ description: 'The exact bytes that are signed.' }),
    timeoutMs: Type.Integer({ description: 'What is left of the attempt’s 15 seconds.' }),
    deadlineAt: Type.String({ format: 'date-time' }),
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

const OutcomeBody = Type.Object(
  {
    offerId: Uuid,
    status: Type.Optional(
      Type.Integer({ minimum: 200, maximum: 599, description: 'What your receiver answered.' }),
    ),
    error: Type.Optional(
      Type.Enum([...REASONS], { description: 'Or why nobody answered; one of the two.' }),
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
    examples: [
      { offerId: '019cade5-6a31-7b11-a2c4-55d0f1a9be10', status: 200, durationMs: 23 },
      { offerId: '019cade5-6a31-7b11-a2c4-55d0f1a9be10', error: 'connect-error', durationMs: 1 },
    ],
  },
)

const tags = ['Listeners']

export function listenerRoutes(deps: ListenerDeps): Routes {
  return (app) => {
    addRegistration(app, deps)
    addViews(app, deps)
    addOneEndpointRoutes(app, deps, {
      path: '/v1/listeners',
      name: 'Listener',
      tags,
      item: Item,
      toItem,
      scopeOf,
      pausing:
        'Pausing says that nobody listens any more, half a minute before it would be noticed. Asking for the next callback resumes it.',
      deleting:
        'Its pending deliveries are cancelled at once. One that nobody has asked for 7 days is deleted by itself.',
    })
    addNext(app, deps)
    addOutcomes(app, deps)
  }
}

function addRegistration(app: App, deps: ListenerDeps): void {
  app.route({
    method: 'POST',
    url: '/v1/listeners',
    config: { account: 'required' },
    schema: {
      operationId: 'registerListener',
      tags,
      summary: 'Make a listener, or find the one of this name',
      description:
        'It is owed every callback of the account from now on, and is PAUSED until somebody asks for the next one. The same name again: the same listener, and another key replaces its key as a webhook’s.',
      headers: AccountHeader,
      body: Registration,
      response: {
        200: Item,
        201: Item,
        ...problemResponses(
          ...CLIENT_PROBLEMS,
          ...BODY_PROBLEMS,
          'invalid-account',
          'too-many-endpoints',
        ),
      },
    },
    handler: async (request, reply) => {
      const { name, sharedKey } = request.body
      const { listener, isNew } = await registerListener(deps, callerOf(request), {
        accountId: request.accountId as string,
        name,
        sharedKey,
      })
      reply.code(isNew ? 201 : 200)
      if (isNew) reply.header('location', `/v1/listeners/${listener.id}`)
      return toItem(listener)
    },
  })
}

function addViews(app: App, deps: ListenerDeps): void {
  const lists = new EndpointLists(deps)
  app.route({
    method: 'GET',
    url: '/v1/listeners',
    config: { account: 'optional' },
    schema: {
      operationId: 'listListeners',
      tags,
      summary: 'List the listeners of one account, or of all your accounts',
      headers: OptionalAccountHeader,
      querystring: PageQuery,
      response: {
        200: PageOf(Item),
        ...problemResponses(...CLIENT_PROBLEMS, 'invalid-account', 'invalid-query'),
      },
    },
    handler: async (request) => {
      const page = await lists.view(scopeOf(request), toPageRequest(request.query))
      return toPageBody(page, toItem)
    },
  })
}

function addNext(app: App, deps: ListenerDeps): void {
  app.route({
    method: 'GET',
    url: '/v1/listeners/:id/next',
    // A HEAD would take a callback and drop it.
    exposeHeadRoute: false,
    config: { account: 'optional' },
    schema: {
      operationId: 'nextCallback',
      tags,
      summary: 'Take the next callback of a listener',
      description:
        'Waits until there is one. It is an attempt like any other: forward it, then tell what came of it at /outcomes within timeoutMs, or it counts as a timeout and is retried. Ask again at once, also while you forward: callbacks of different payments do not wait for each other. Asking makes the listener ACTIVE; half a minute without it pauses the listener.',
      headers: OptionalAccountHeader,
      params: IdParams,
      querystring: WaitQuery,
      response: {
        200: OfferSchema,
        204: { ...EMPTY_BODY, description: 'None came. Ask again.' },
        ...problemResponses(
          ...CLIENT_PROBLEMS,
          'invalid-account',
          'invalid-query',
          'not-found',
          'overloaded',
        ),
      },
    },
    handler: async (request, reply) => {
      const { wait = POLL_SECONDS_DEFAULT } = request.query
      const taken = await takeNextCallback(deps, scopeOf(request), readId(request.params.id), {
        waitMs: wait * 1_000,
        signal: signalOf(reply),
      })
      if (taken === null) return reply.code(204).send(undefined as never)
      reply.header('cache-control', 'no-store')
      return toOffer(taken)
    },
  })
}

function addOutcomes(app: App, deps: ListenerDeps): void {
  app.route({
    method: 'POST',
    url: '/v1/listeners/:id/outcomes',
    config: { account: 'optional' },
    schema: {
      operationId: 'answerCallback',
      tags,
      summary: 'Tell what came of a callback',
      description:
        'Once, and in time. Only the status 200 is success; everything else is retried as for any endpoint.',
      headers: OptionalAccountHeader,
      params: IdParams,
      body: OutcomeBody,
      response: {
        204: EMPTY_BODY,
        ...problemResponses(
          ...CLIENT_PROBLEMS,
          ...BODY_PROBLEMS,
          'invalid-account',
          'not-found',
          'offer-gone',
        ),
      },
    },
    handler: async (request, reply) => {
      const answer = readAnswer(request.body)
      const id = readId(request.params.id)
      const { offerId } = request.body
      // One that is no uuid is as unknown as any other.
      const isTaken =
        isUuid(offerId) && (await answerCallback(deps, scopeOf(request), id, { offerId, answer }))
      if (!isTaken) {
        throw new ServiceError(
          'offer-gone',
          'This offer is unknown, answered already, or its time is over.',
        )
      }
      return reply.code(204).send(undefined)
    },
  })
}

function readAnswer(body: {
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
      detail: 'Give either the status that was answered, or the error why nobody answered.',
    },
  ])
}

/** Aborts when the caller hangs up: nothing must be handed to nobody. */
function signalOf(reply: FastifyReply): AbortSignal {
  const controller = new AbortController()
  reply.raw.once('close', () => controller.abort())
  return controller.signal
}

function scopeOf(request: FastifyRequest) {
  const { clientKey } = callerOf(request)
  return { clientKey, kind: 'listener', accountId: request.accountId } as const
}

function toItem(listener: Endpoint) {
  return {
    id: listener.id,
    name: listenerName(listener.url),
    accountId: listener.accountId as string,
    status: listener.status,
    hmacHeaderName: HMAC_HEADER,
    algorithm: HMAC_ALGORITHM,
  }
}

function toOffer({ offer, body, timeoutMs }: OfferedCallback) {
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
