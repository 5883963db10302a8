// The audit trail of a request with an operator's key, for the operation that it calls.

import type { FastifyRequest } from 'fastify'
import { type Audit, type Trail, toAudit } from '../operations/parts/audit.ts'
import type { Deps } from '../operations/parts/deps.ts'

/** The operator and the request; needs authenticateOperator before it. */
export function trailOf(request: FastifyRequest): Trail {
  if (request.operator === null) throw new Error('this route is not behind authenticateOperator')
  return { operator: request.operator, requestId: request.id }
}

export function auditOf(deps: Pick<Deps, 'clock'>, request: FastifyRequest, action: string): Audit {
  return toAudit(deps, trailOf(request), action)
}
