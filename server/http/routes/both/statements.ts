// What can be checked: that nothing is missing at an endpoint (statements), and that one event was delivered (receipts).
// Both are signed. The operator gets them of any client.

import { viewReceipt } from '../../../operations/proofs/view-receipt.ts'
import { viewAnyStatement, viewStatement } from '../../../operations/proofs/view-statement.ts'
import type { Deps } from '../../../operations/shared/deps.ts'
import { OneAtATime } from '../../../operations/shared/one-at-a-time.ts'
import { Type } from '../../basics/type.ts'
import type { Routes } from '../../basics/typed.ts'
import { callerOf, ownerOf, scopeOf } from '../../requests/authenticate.ts'
import { answer, forClients, forOperators } from '../../schemas/calls.ts'
import { ENDPOINT_DOORS } from '../../schemas/endpoint-doors.ts'
import { IdParams, readId } from '../../schemas/schemas.ts'
import {
  readStatementPeriod,
  StatementQuery,
  StatementSchema,
  toSignedStatement,
} from '../../schemas/statement-schema.ts'

/** The media type of a JWS in compact form (RFC 7515 §9.2.1). */
const JOSE_TYPE = 'application/jose'

const STATEMENT = {
  description:
    'The status of every event for this endpoint, hour by hour, with one number over the ids that were delivered: keep the same number on your side and compare. An event counts in the hour that its `webhook-id`, a UUIDv7, was made in. A deleted endpoint has one, too; that of a subscription is always about all accounts. The first statement of a long period takes some seconds, or several calls: a 503 with `Retry-After` says so.',
  params: IdParams,
  querystring: StatementQuery,
  answers: {
    200: answer(
      'Counts and the digest of the delivered ids, in all and for each hour, signed.',
      StatementSchema,
    ),
  },
  problems: ['overloaded'],
} as const

const RECEIPT = {
  summary: 'Get the signed receipt of a delivered event',
  description:
    'A compact JWS of `{deliveryId, webhookId, paymentId, sequence, endpointUrl, bodySha256, attempt, sentAt, answeredAt, status}`, under a key of `/.well-known/webhook-keys.json`. It is made when you ask: ask while the event is kept.',
  params: IdParams,
  answers: {
    200: {
      description: 'The receipt, as one line of text.',
      content: {
        [JOSE_TYPE]: {
          schema: Type.String({
            description: 'A compact JWS (EdDSA) of the type `paybell-receipt+jws`.',
          }),
        },
      },
    },
  },
  problems: ['no-receipt', 'payload-expired'],
} as const

/** One statement is counted at a time for a client, or an endpoint; a few more calls may wait for it. */
const WAITING_MAX = 8

export function statementRoutes(deps: Deps): Routes {
  const counting = new OneAtATime<number>(WAITING_MAX)
  return (app) => {
    for (const door of ENDPOINT_DOORS) {
      const { kind, path, name, tags } = door
      app.route({
        method: 'GET',
        url: `${path}/:id/statement`,
        ...forClients({
          operationId: `get${name}Statement`,
          tags,
          summary: `Get a signed statement of what a ${kind} had to get and got`,
          ...STATEMENT,
        }),
        handler: async (request) => {
          const period = readStatementPeriod(request.query, deps.clock.nowMs())
          const id = readId(request.params.id)
          const statement = await counting.run(callerOf(request).clientKey, () =>
            viewStatement(deps, scopeOf(request, door), id, period),
          )
          return toSignedStatement(deps, statement)
        },
      })
    }

    app.route({
      method: 'GET',
      url: '/v1/deliveries/:id/receipt',
      ...forClients({ operationId: 'getReceipt', tags: ['Deliveries'], ...RECEIPT }),
      handler: async (request, reply) => {
        const reader = { kind: 'client', ...ownerOf(request) } as const
        const jws = await viewReceipt(deps, reader, readId(request.params.id))
        return reply.type(JOSE_TYPE).send(jws)
      },
    })
  }
}

/** Of any client, and of deleted endpoints too. */
export function operatorStatementRoutes(deps: Deps): Routes {
  const counting = new OneAtATime<string>(WAITING_MAX)
  return (app) => {
    app.route({
      method: 'GET',
      url: '/endpoints/:id/statement',
      ...forOperators('viewer', {
        operationId: 'getEndpointStatement',
        summary: 'Get a signed statement of what an endpoint had to get and got',
        ...STATEMENT,
      }),
      handler: async (request) => {
        const period = readStatementPeriod(request.query, deps.clock.nowMs())
        const id = readId(request.params.id)
        const statement = await counting.run(id, () => viewAnyStatement(deps, id, period))
        return toSignedStatement(deps, statement)
      },
    })

    app.route({
      method: 'GET',
      url: '/deliveries/:id/receipt',
      ...forOperators('viewer', { operationId: 'getAnyReceipt', ...RECEIPT }),
      handler: async (request, reply) => {
        const jws = await viewReceipt(deps, { kind: 'operator' }, readId(request.params.id))
        return reply.type(JOSE_TYPE).send(jws)
      },
    })
  }
}
