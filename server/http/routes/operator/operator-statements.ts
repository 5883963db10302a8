// Statements and receipts for the operator: of any client, and of deleted endpoints too.

import { viewReceipt } from '../../../operations/proofs/view-receipt.ts'
import { viewAnyStatement } from '../../../operations/proofs/view-statement.ts'
import type { Deps } from '../../../operations/shared/deps.ts'
import { OneAtATime } from '../../../operations/shared/one-at-a-time.ts'
import type { Routes } from '../../basics/typed.ts'
import { IdParams, OPERATOR_PROBLEMS, problemResponses, readId } from '../../schemas/schemas.ts'
import {
  readStatementPeriod,
  STATEMENT_DESCRIPTION,
  StatementQuery,
  StatementSchema,
  toSignedStatement,
} from '../../schemas/statement-schema.ts'
import { JOSE_TYPE, RECEIPT_DESCRIPTION, ReceiptSchema } from '../client/statements.ts'

const tags = ['Operator']
const WAITING_MAX = 8

export function operatorStatementRoutes(deps: Deps): Routes {
  const counting = new OneAtATime<string>(WAITING_MAX)
  return (app) => {
    app.route({
      method: 'GET',
      url: '/endpoints/:id/statement',
      config: { role: 'viewer' },
      schema: {
        operationId: 'getEndpointStatement',
        tags,
        summary: 'Get a signed statement of what an endpoint was owed and got',
        description: STATEMENT_DESCRIPTION,
        params: IdParams,
        querystring: StatementQuery,
        response: {
          200: StatementSchema,
          ...problemResponses(...OPERATOR_PROBLEMS, 'invalid-query', 'not-found', 'overloaded'),
        },
      },
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
      config: { role: 'viewer' },
      schema: {
        operationId: 'getAnyReceipt',
        tags,
        summary: 'Get the signed receipt of a delivered event',
        description: RECEIPT_DESCRIPTION,
        params: IdParams,
        response: {
          200: ReceiptSchema,
          ...problemResponses(...OPERATOR_PROBLEMS, 'not-found', 'no-receipt', 'payload-expired'),
        },
      },
      handler: async (request, reply) => {
        const jws = await viewReceipt(deps, { kind: 'operator' }, readId(request.params.id))
        return reply.type(JOSE_TYPE).send(jws)
      },
    })
  }
}
