// The audit trail of a request with an operator's key, for the operation that it calls.

import type { FastifyRequest } from 'fastify'
import { viewAsAuditor } from '../../operations/proofs/view-audit.ts'
import { type Audit, type Trail, toAudit } from '../../operations/shared/audit-trail.ts'
import type { Deps } from '../../operations/shared/deps.ts'

/** The operator and the request; needs authenticateOperator before it. */
export function trailOf(request: FastifyRequest): Trail {
  if (request.operator === null) throw new Error('this route is not behind authenticateOperator')
  const { operator } = request
  const requestId = request.id
  if (!request.headers['user-agent']?.startsWith(ASSISTANT_AGENT)) return { operator, requestId }
  const actor = `${operator.actor.slice(0, NAME_MAX)} via mcp`
  return { operator: { ...operator, actor }, requestId }
}

/** What the audit has room for, beside the mark. */
const NAME_MAX = 90
/** What `paybell mcp` calls itself: what an assistant did is told apart from what the key's owner did. */
const ASSISTANT_AGENT = 'paybell-mcp/'

export function auditOf(deps: Pick<Deps, 'clock'>, request: FastifyRequest, action: string): Audit {
  return toAudit(deps, trailOf(request), action)
}

/** What an auditor reads is audited, before it is answered; other roles read without a trace. */
export async function noteAuditorRead(
  deps: Pick<Deps, 'clock' | 'pool'>,
  request: FastifyRequest,
  action: string,
): Promise<void> {
  if (trailOf(request).operator.role !== 'auditor') return
  await viewAsAuditor(deps, auditOf(deps, request, action))
}
