// Why an endpoint gets an update of a payment, or does not: one plain sentence. Pure.

import { toInstantText } from '../plain/time-text.ts'
import type { DeliveryState } from './delivery.ts'
import type { EndpointStatus } from './endpoint.ts'
import { hears, type ListeningEndpoint } from './fan-out.ts'

export const WHY_OWED_CODES = ['owed', 'not-heard', 'registered-later', 'no-delivery'] as const
export type WhyOwedCode = (typeof WHY_OWED_CODES)[number]

export interface ExplainedEndpoint {
  events: ListeningEndpoint['events']
  status: EndpointStatus
  createdAt: Date
}

export interface ExplainedEvent {
  kind: string
  sequence: number
  createdAt: Date
}

const STATES: Readonly<Record<DeliveryState, string>> = {
  PENDING: 'is owed and still pending',
  DELIVERED: 'was delivered',
  EXHAUSTED: 'was tried until its time was over',
  SUPERSEDED: 'was superseded by a newer update',
  CANCELLED: 'was cancelled',
}

export function whyOwed(
  endpoint: ExplainedEndpoint,
  event: ExplainedEvent,
  state: DeliveryState | null,
  nowMs: number,
): { code: WhyOwedCode; explanation: string } {
  const update = `Update ${event.sequence} (${event.kind})`
  if (state !== null) {
    const waits =
      state === 'PENDING' && endpoint.status !== 'ACTIVE'
        ? `: the endpoint is ${endpoint.status}`
        : ''
    return { code: 'owed', explanation: `${update} ${STATES[state]}${waits}.` }
  }
  if (endpoint.createdAt > event.createdAt) {
    const at = toInstantText(endpoint.createdAt.getTime(), nowMs)
    const explanation = `${update} is older than this endpoint, which was registered later (${at} UTC).`
    return { code: 'registered-later', explanation }
  }
  if (!hears(endpoint.events, event.kind)) {
    const heard = endpoint.events?.join(', ')
    const explanation = `${update} is not sent here: the endpoint gets only ${heard}.`
    return { code: 'not-heard', explanation }
  }
  const explanation = `${update} has no delivery here: the endpoint did not get this kind when it was accepted, or the record is older than the retention.`
  return { code: 'no-delivery', explanation }
}
