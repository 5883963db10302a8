// What a client can check: that nothing is missing at an endpoint (statements), and that one event was delivered
// (receipts). Both are signed.

import { viewReceipt } from '../../../operations/proofs/view-receipt.ts'
import { viewStatement } from '../../../operations/proofs/view-statement.ts'
import type { Deps } from '../../../operations/shared/deps.ts'
import { OneAtATime } from '../../../operations/shared/one-at-a-time.ts'
import { Type } from '../../basics/type.ts'
import type { App, Routes } from '../../basics/typed.ts'
import { callerOf } from '../../requests/authenticate.ts'
import { ENDPOINT_DOORS, type EndpointDoorEntry } from '../../schemas/endpoint-doors.ts'
import {
  CLIENT_PROBLEMS,
  IdParams,
  OptionalAccountHeader,
  problemResponses,
  readId,
} from '../../schemas/schemas.ts'
import {
  readStatementPeriod,
  STATEMENT_DESCRIPTION,
  StatementQuery,
  StatementSchema,
  toSignedStatement,
} from '../../schemas/statement-schema.ts'

/** The media type of a JWS in compact form (RFC 7515 §9.2.1). */
export const JOSE_TYPE = 'application/jose'

export const ReceiptSchema = {
  description: 'The receipt, as one line of text.',
  content: {
    [JOSE_TYPE]: {
      schema: Type.String({
        description: 'A compact JWS (EdDSA) of the type `paybell-receipt+jws`.',
      }),
    },
  },
}

export const RECEIPT_DESCRIPTION =
  'A compact JWS of `{deliveryId, webhookId, paymentId, sequence, endpointUrl, bodySha256, attempt, sentAt, answeredAt, status}`, under a key of `/.well-known/webhook-keys.json`. It is made when you ask: ask while the event is kept.'

/** A client counts one statement at a time, and a few more calls may wait for it. */
const WAITING_MAX = 8

export function statementRoutes(deps: Deps): Routes {
  const counting = new OneAtATime<number>(WAITING_MAX)
  return (app) => {
    for (const door of ENDPOINT_DOORS) addStatement(app, deps, counting, door)

    app.route({
      method: 'GET',
      url: '/v1/deliveries/:id/receipt',
      config: { account: 'optional' },
      schema: {
        operationId: 'getReceipt',
        tags: ['Deliveries'],
        summary: 'Get the signed receipt of a delivered event',
        description: RECEIPT_DESCRIPTION,
        headers: OptionalAccountHeader,
        params: IdParams,
        response: {
          200: ReceiptSchema,
          ...problemResponses(
            ...CLIENT_PROBLEMS,
            'invalid-account',
            'not-found',
            'no-receipt',
            'payload-expired',
          ),
        },
      },
      handler: async (request, reply) => {
        const { clientKey } = callerOf(request)
        const reader = { kind: 'client', clientKey, accountId: request.accountId } as const
        const jws = await viewReceipt(deps, reader, readId(request.params.id))
        return reply.type(JOSE_TYPE).send(jws)
      },
    })
  }
}

function addStatement(
  app: App,
  deps: Deps,
  counting: OneAtATime<number>,
  { kind, path, name, tag }: EndpointDoorEntry,
): void {
  app.route({
    method: 'GET',
    url: `${path}/:id/statement`,
    config: { account: 'optional' },
    schema: {
      operationId: `get${name}Statement`,
      tags: [tag],
      summary: `Get a signed statement of what a ${kind} was owed and got`,
      description: STATEMENT_DESCRIPTION,
      headers: OptionalAccountHeader,
      params: IdParams,
      querystring: StatementQuery,
      response: {
        200: StatementSchema,
        ...problemResponses(
          ...CLIENT_PROBLEMS,
          'invalid-account',
          'invalid-query',
          'not-found',
          'overloaded',
        ),
      },
    },
    handler: async (request) => {
      const { clientKey } = callerOf(request)
      const scope = { clientKey, kind, accountId: request.accountId }
      const period = readStatementPeriod(request.query, deps.clock.nowMs())
      const id = readId(request.params.id)
      const statement = await counting.run(clientKey, () => viewStatement(deps, scope, id, period))
      return toSignedStatement(deps, statement)
    },
  })
}
