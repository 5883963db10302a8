// The operator's acts on all deliveries that match a filter: replay what has ended, cancel what is pending,
// or make it due now. Deliveries in other states match too, but nothing is done to them.

import type { DeliveryFilter } from '../../core/asking/delivery-filter.ts'
import { DELIVERY_STATES, FINAL_STATES } from '../../core/delivery/delivery.ts'
import { ServiceError } from '../../core/plain/errors.ts'
import { resolveDeliveryFilter, SAME_NAME_MAX } from '../../store/history/delivery-search.ts'
import type { Audit } from '../shared/audit-trail.ts'
import type { EndpointBreakdown } from './endpoint-breakdown.ts'
import {
  type JobDeps,
  type JobRequest,
  previewJobByEndpoint,
  type StartedJob,
  startJob,
} from './start-job.ts'

export type BulkAct = 'replay' | 'cancel' | 'retry'

export async function previewChange(
  deps: JobDeps,
  act: BulkAct,
  filter: DeliveryFilter,
): Promise<EndpointBreakdown> {
  return previewJobByEndpoint(deps, await toRequest(deps, act, filter))
}

export async function changeDeliveries(
  deps: JobDeps,
  act: BulkAct,
  filter: DeliveryFilter,
  audit: Audit,
): Promise<StartedJob> {
  return startJob(deps, await toRequest(deps, act, filter), audit)
}

async function toRequest(deps: JobDeps, act: BulkAct, filter: DeliveryFilter): Promise<JobRequest> {
  const fit = act === 'replay' ? FINAL_STATES : (['PENDING'] as const)
  const states = DELIVERY_STATES.filter(
    (state) =>
      (fit as readonly string[]).includes(state) && (filter.states?.includes(state) ?? true),
  )
  const query =
    states.length === 0
      ? null
      : await resolveDeliveryFilter(deps.pool, { ...filter, states }, null, refuseMore)
  return { kind: act, asker: 'operator', query }
}

/** A list shows those of the newest. An act is done to all that match, or to none. */
function refuseMore(): never {
  throw new ServiceError(
    'filter-too-wide',
    `More than ${SAME_NAME_MAX} payments have this externalId. Name the client as well, or one payment at a time.`,
  )
}
