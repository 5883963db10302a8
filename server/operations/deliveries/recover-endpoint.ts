// Sends again what an endpoint has missed: its deliveries created since a given time that ended in one of
// the given states, oldest first.

import type { FinalState } from '../../core/delivery/delivery.ts'
import { type EndpointScope, findEndpoint } from '../../store/endpoints/endpoints.ts'
import { EVERY_DELIVERY } from '../../store/sql/delivery-query.ts'
import { NO_AUDIT } from '../shared/audit-trail.ts'
import { notFound } from '../shared/service-errors.ts'
import { type JobDeps, type JobRequest, previewJob, startJob } from './start-job.ts'

export interface Recovery {
  /** By creation: `sinceMs` is included, `untilMs` is not. */
  sinceMs: number
  untilMs: number | null
  states: readonly FinalState[]
}

export const RECOVERED_BY_DEFAULT: readonly FinalState[] = ['EXHAUSTED']

/** How many deliveries would be sent. */
export async function previewRecovery(
  deps: JobDeps,
  scope: EndpointScope,
  endpointId: string,
  recovery: Recovery,
): Promise<number> {
  return previewJob(deps, await toRequest(deps, scope, endpointId, recovery))
}

export async function recoverEndpoint(
  deps: JobDeps,
  scope: EndpointScope,
  endpointId: string,
  recovery: Recovery,
): Promise<number> {
  const request = await toRequest(deps, scope, endpointId, recovery)
  return (await startJob(deps, request, NO_AUDIT)).count
}

async function toRequest(
  deps: JobDeps,
  scope: EndpointScope,
  endpointId: string,
  recovery: Recovery,
): Promise<JobRequest> {
  const endpoint = await findEndpoint(deps.pool, scope, endpointId)
  if (endpoint === null) throw notFound()
  return {
    kind: 'recover',
    asker: scope.clientKey,
    query: {
      ...EVERY_DELIVERY,
      clientKey: scope.clientKey,
      accountId: scope.accountId,
      endpointId: endpoint.id,
      states: recovery.states,
      fromMs: recovery.sinceMs,
      toMs: recovery.untilMs,
    },
  }
}
