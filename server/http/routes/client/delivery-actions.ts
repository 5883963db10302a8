// A client's actions on its deliveries: replay one, recover all that an endpoint has missed, and test an
// endpoint. The last two exist for webhooks, subscriptions and listeners.

import type { FastifyRequest } from 'fastify'
import { DELIVERY_STATES, FINAL_STATES } from '../../../core/delivery/delivery.ts'
import type { EndpointKind } from '../../../core/delivery/endpoint.ts'
import {
  previewRecovery,
  RECOVERED_BY_DEFAULT,
  recoverEndpoint,
} from '../../../operations/deliveries/recover-endpoint.ts'
import {
  type ChangedDelivery,
  replayDelivery,
} from '../../../operations/deliveries/replay-delivery.ts'
import type { JobDeps } from '../../../operations/deliveries/start-job.ts'
import { EndpointTester } from '../../../operations/endpoints/test-endpoint.ts'
import { DryRun, DryRunQuery, isDryRun, refuseDryRun } from '../../basics/dry-run.ts'
import { Uuid } from '../../basics/scalars.ts'
import { readSinceUntil, sinceUntilFields } from '../../basics/since-until.ts'
import { Type } from '../../basics/type.ts'
import type { App, Routes } from '../../basics/typed.ts'
import { callerOf } from '../../requests/authenticate.ts'
import { ENDPOINT_DOORS, type EndpointDoorEntry } from '../../schemas/endpoint-doors.ts'
import {
  BODY_PROBLEMS,
  CLIENT_PROBLEMS,
  IdParams,
  OptionalAccountHeader,
  problemResponses,
  readId,
} from '../../schemas/schemas.ts'

export const ChangedDeliverySchema = Type.Object(
  {
    id: Uuid,
    state: Type.Enum([...DELIVERY_STATES]),
    attempts: Type.Integer({ description: 'So far; a replay counts on.' }),
    nextAttemptAt: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      format: 'date-time',
      description: 'Null while its endpoint is not active, and when it has ended.',
    }),
  },
  {
    description: 'What is left of a delivery after an act on it.',
    examples: [
      {
        id: '019c1f6e-7a52-7c1e-9d0b-3f6a1c2b4d5e',
        state: 'PENDING',
        attempts: 41,
        nextAttemptAt: '2026-03-02T09:30:00.400Z',
      },
    ],
  },
)

export function toChangedDelivery({ id, state, attempts, nextAttemptAt }: ChangedDelivery) {
  return { id, state, attempts, nextAttemptAt: nextAttemptAt?.toISOString() ?? null }
}

const RecoverBody = Type.Object(
  {
    ...sinceUntilFields('Deliveries'),
    states: Type.Optional(
      Type.Array(Type.Enum([...FINAL_STATES]), {
        minItems: 1,
        maxItems: 20,
        description: `How they ended; ${RECOVERED_BY_DEFAULT.join(', ')} by default.`,
      }),
    ),
    dryRun: DryRun,
  },
  { examples: [{ since: '2026-03-01T00:00:00Z', states: ['EXHAUSTED'] }] },
)

const WouldReplay = Type.Object(
  { wouldReplay: Type.Integer() },
  { examples: [{ wouldReplay: 17 }] },
)
const Replayed = Type.Object({ replayed: Type.Integer() }, { examples: [{ replayed: 17 }] })

export const TestResultSchema = Type.Object(
  {
    delivered: Type.Boolean({ description: 'True exactly when it answered 200.' }),
    status: Type.Unsafe<number | null>({
      type: ['integer', 'null'],
      description: 'What it answered; null when there was no answer.',
    }),
    durationMs: Type.Integer(),
    error: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description: 'Why there was no answer, e.g. timeout, connect-error, tls-error, no-address.',
    }),
  },
  { examples: [{ delivered: true, status: 200, durationMs: 84, error: null }] },
)

export function deliveryActionRoutes(deps: JobDeps): Routes {
  const tester = new EndpointTester(deps)
  return (app) => {
    app.route({
      method: 'POST',
      url: '/v1/deliveries/:id/replay',
      config: { account: 'optional' },
      schema: {
        operationId: 'replayDelivery',
        tags: ['Deliveries'],
        summary: 'Send a delivery again',
        description:
          'Begins a new run of 7 days for a delivery that has ended: the same bytes, the same webhook-id, and X-Paybell-Replay: true. A paused endpoint gets it when it is resumed.',
        headers: OptionalAccountHeader,
        params: IdParams,
        response: {
          202: ChangedDeliverySchema,
          ...problemResponses(
            ...CLIENT_PROBLEMS,
            'invalid-account',
            'invalid-query',
            'invalid-fields',
            'not-found',
            'delivery-not-final',
            'endpoint-deleted',
            'payload-expired',
          ),
        },
      },
      handler: async (request, reply) => {
        refuseDryRun(request)
        const { clientKey } = callerOf(request)
        const owner = { clientKey, accountId: request.accountId }
        const replayed = await replayDelivery(deps, owner, readId(request.params.id))
        reply.code(202)
        return toChangedDelivery(replayed)
      },
    })

    for (const door of ENDPOINT_DOORS) {
      addRecover(app, deps, door)
      addTest(app, tester, door)
    }
  }
}

function addRecover(app: App, deps: JobDeps, { kind, path, name, tag }: EndpointDoorEntry): void {
  app.route({
    method: 'POST',
    url: `${path}/:id/recover`,
    config: { account: 'optional' },
    schema: {
      operationId: `recover${name}`,
      tags: [tag],
      summary: `Send again what a ${kind} has missed`,
      description:
        'Replays its deliveries since a moment that ended in one of the given states, oldest first. At most 100,000 at a time; ask with dryRun=true first to learn how many there are.',
      headers: OptionalAccountHeader,
      params: IdParams,
      querystring: DryRunQuery,
      body: RecoverBody,
      response: {
        200: WouldReplay,
        202: Replayed,
        ...problemResponses(
          ...CLIENT_PROBLEMS,
          ...BODY_PROBLEMS,
          'invalid-account',
          'invalid-query',
          'not-found',
          'filter-too-wide',
          'overloaded',
        ),
      },
    },
    handler: async (request, reply) => {
      const isDry = isDryRun(request)
      const scope = scopeOf(request, kind)
      const id = readId(request.params.id)
      const { states = RECOVERED_BY_DEFAULT } = request.body
      const recovery = { ...readSinceUntil(request.body), states }
      if (isDry) {
        return { wouldReplay: await previewRecovery(deps, scope, id, recovery) }
      }
      const replayed = await recoverEndpoint(deps, scope, id, recovery)
      reply.code(202)
      return { replayed }
    },
  })
}

function addTest(
  app: App,
  tester: EndpointTester,
  { kind, path, name, tag }: EndpointDoorEntry,
): void {
  app.route({
    method: 'POST',
    url: `${path}/:id/test`,
    config: { account: 'optional' },
    schema: {
      operationId: `test${name}`,
      tags: [tag],
      summary: `Send a test callback to a ${kind}`,
      description:
        'One signed callback with X-Paybell-Test: true, at once and without a retry; it is no delivery. Twenty in a row for each endpoint, then one a second; sixteen of all your endpoints at a time.',
      headers: OptionalAccountHeader,
      params: IdParams,
      response: {
        200: TestResultSchema,
        ...problemResponses(...CLIENT_PROBLEMS, 'invalid-account', 'not-found', 'overloaded'),
      },
    },
    handler: async (request) => {
      const scope = scopeOf(request, kind)
      // A subscription belongs to the client as a whole: no account narrows it.
      const of = kind === 'subscription' ? { ...scope, accountId: null } : scope
      return tester.test(of, readId(request.params.id))
    },
  })
}

function scopeOf(request: FastifyRequest, kind: EndpointKind) {
  return { clientKey: callerOf(request).clientKey, kind, accountId: request.accountId }
}
