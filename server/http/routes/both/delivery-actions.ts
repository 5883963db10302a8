// Acts on deliveries: replay one, cancel one (the operator), recover all that an endpoint has missed, and test an
// endpoint. The last two exist for webhooks, subscriptions and listeners.

import { DELIVERY_STATES, FINAL_STATES } from '../../../core/delivery/delivery.ts'
import { cancelDelivery } from '../../../operations/deliveries/cancel-delivery.ts'
import type { ChangedDelivery } from '../../../operations/deliveries/changed-delivery.ts'
import {
  previewRecovery,
  RECOVERED_BY_DEFAULT,
  recoverEndpoint,
} from '../../../operations/deliveries/recover-endpoint.ts'
import { replayDelivery } from '../../../operations/deliveries/replay-delivery.ts'
import type { JobDeps } from '../../../operations/deliveries/start-job.ts'
import { EndpointTester } from '../../../operations/endpoints/test-endpoint.ts'
import { auditOf } from '../../answers/audit.ts'
import {
  DRY_RUN_MEANING,
  DryRun,
  DryRunQuery,
  isDryRun,
  NoDryRunQuery,
} from '../../basics/dry-run.ts'
import { InstantOrNull, IntegerOrNull, TextOrNull, Uuid } from '../../basics/scalars.ts'
import { readSinceUntil, sinceUntilFields } from '../../basics/since-until.ts'
import { Type } from '../../basics/type.ts'
import type { Routes } from '../../basics/typed.ts'
import { ownerOf, scopeOf } from '../../requests/authenticate.ts'
import { ABOUT_CLIENT, answer, forClients, forOperators } from '../../schemas/calls.ts'
import { ENDPOINT_DOORS } from '../../schemas/endpoint-doors.ts'
import { IdParams, readId } from '../../schemas/schemas.ts'

export const ChangedDeliverySchema = Type.Object(
  {
    id: Uuid,
    state: Type.Enum([...DELIVERY_STATES]),
    attempts: Type.Integer({ description: 'So far; a replay counts on.' }),
    nextAttemptAt: InstantOrNull('Null while its endpoint is not active, and when it has ended.'),
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
    status: IntegerOrNull('What it answered; null when there was no answer.'),
    durationMs: Type.Integer(),
    error: TextOrNull(
      'Why there was no answer, e.g. timeout, connect-error, tls-error, no-address.',
    ),
  },
  { examples: [{ delivered: true, status: 200, durationMs: 84, error: null }] },
)

const REPLAY = {
  summary: 'Send a delivery again',
  params: IdParams,
  querystring: NoDryRunQuery,
  answers: { 202: answer('The replay is on disk and under way.', ChangedDeliverySchema) },
}
const REPLAY_PROBLEMS = [
  'invalid-fields',
  'delivery-not-final',
  'endpoint-deleted',
  'payload-expired',
] as const

export const ANY_CLIENT = { clientKey: null, accountId: null }

export function deliveryActionRoutes(deps: JobDeps): Routes {
  const tester = new EndpointTester(deps)
  return (app) => {
    app.route({
      method: 'POST',
      url: '/v1/deliveries/:id/replay',
      ...forClients({
        operationId: 'replayDelivery',
        tags: ['Deliveries'],
        description:
          'Begins a new run of 7 days for a delivery that has ended: the same bytes, the same webhook-id, and X-Paybell-Replay: true. A paused endpoint gets it when it is resumed.',
        ...REPLAY,
        problems: REPLAY_PROBLEMS,
      }),
      handler: async (request, reply) => {
        const replayed = await replayDelivery(deps, ownerOf(request), readId(request.params.id))
        reply.code(202)
        return toChangedDelivery(replayed)
      },
    })

    for (const door of ENDPOINT_DOORS) {
      const { kind, path, name, tags } = door
      app.route({
        method: 'POST',
        url: `${path}/:id/recover`,
        ...forClients({
          operationId: `recover${name}`,
          tags,
          summary: `Send again what a ${kind} has missed`,
          description:
            'Replays its deliveries since a moment that ended in one of the given states, oldest first. At most 100,000 at a time; ask with dryRun=true first to learn how many there are.',
          params: IdParams,
          querystring: DryRunQuery,
          body: RecoverBody,
          answers: {
            200: answer(DRY_RUN_MEANING, WouldReplay),
            202: answer(
              'How many deliveries are replayed. Large recoveries go on after the answer.',
              Replayed,
            ),
          },
          problems: ['filter-too-wide', 'overloaded'],
        }),
        handler: async (request, reply) => {
          const isDry = isDryRun(request)
          const scope = scopeOf(request, door)
          const id = readId(request.params.id)
          const { states = RECOVERED_BY_DEFAULT } = request.body
          const recovery = { ...readSinceUntil(request.body), states }
          if (isDry) return { wouldReplay: await previewRecovery(deps, scope, id, recovery) }
          const replayed = await recoverEndpoint(deps, scope, id, recovery)
          reply.code(202)
          return { replayed }
        },
      })

      app.route({
        method: 'POST',
        url: `${path}/:id/test`,
        ...forClients({
          operationId: `test${name}`,
          tags,
          summary: `Send a test callback to a ${kind}`,
          description:
            'One signed callback with X-Paybell-Test: true, at once and without a retry; it is no delivery. Twenty in a row for each endpoint, then one a second; sixteen of all your endpoints at a time.',
          params: IdParams,
          answers: {
            200: answer(
              'What the endpoint answered. `delivered` is true only for a 200.',
              TestResultSchema,
            ),
          },
          problems: ['overloaded'],
        }),
        handler: async (request) => tester.test(scopeOf(request, door), readId(request.params.id)),
      })
    }
  }
}

export function operatorDeliveryActionRoutes(deps: JobDeps): Routes {
  return (app) => {
    app.route({
      method: 'POST',
      url: '/deliveries/:id/replay',
      ...forOperators('admin', {
        operationId: 'operatorReplayDelivery',
        description:
          'Begins a new run of 7 days for a delivery that has ended: the same bytes and the same webhook-id.',
        ...REPLAY,
        problems: [...ABOUT_CLIENT, ...REPLAY_PROBLEMS],
      }),
      handler: async (request, reply) => {
        const audit = auditOf(deps, request, 'delivery.replay')
        const replayed = await replayDelivery(deps, ANY_CLIENT, readId(request.params.id), audit)
        reply.code(202)
        return toChangedDelivery(replayed)
      },
    })

    app.route({
      method: 'POST',
      url: '/deliveries/:id/cancel',
      ...forOperators('admin', {
        operationId: 'cancelDelivery',
        summary: 'Cancel a pending delivery',
        description:
          'No attempt of it starts any more. One that is under way ends by itself and changes nothing. It can be replayed later.',
        params: IdParams,
        querystring: NoDryRunQuery,
        answers: { 200: answer('The delivery as it is now.', ChangedDeliverySchema) },
        problems: [...ABOUT_CLIENT, 'invalid-fields', 'delivery-final'],
      }),
      handler: async (request) => {
        const audit = auditOf(deps, request, 'delivery.cancel')
        const id = readId(request.params.id)
        return toChangedDelivery(await cancelDelivery(deps, ANY_CLIENT, id, audit))
      },
    })
  }
}
