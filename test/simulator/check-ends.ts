// I3: every delivery has ended for a reason that others can confirm.

import type { ReceivedRequest, Violation } from './records.ts'
import type { RunIndex } from './run-index.ts'

/** I3: every delivery ended for a reason that others can confirm. */
export function atLeastOnce(seen: RunIndex): Violation[] {
  return seen.run.deliveries.flatMap((delivery) => {
    const requests = seen.requestsOf(delivery)
    const isAccepted = (request: ReceivedRequest) => request.status === 200
    if (delivery.state === 'DELIVERED') {
      if (requests.some((request) => isAccepted(request) && request.wasAnswerHeard)) return []
      return [seen.of('I3', 'DELIVERED, but the receiver never answered 200', delivery)]
    }
    if (delivery.state === 'SUPERSEDED') {
      const isOvertaken = seen.run.requests.some(
        (request) =>
          request.endpointId === delivery.endpointId &&
          request.paymentId === delivery.paymentId &&
          request.sequence > delivery.sequence &&
          // Under `latest` the newer one has to be sent, and no more.
          (isAccepted(request) || seen.deliverOf(delivery.endpointId) !== 'every'),
      )
      return isOvertaken ? [] : [seen.of('I3', 'SUPERSEDED by nothing', delivery)]
    }
    if (delivery.state === 'CANCELLED') {
      const acts = seen.endpoints.get(delivery.endpointId)?.acts ?? []
      if (acts.some(({ kind }) => kind === 'delete' || kind === 'cancel')) return []
      return [seen.of('I3', 'CANCELLED without an act', delivery)]
    }
    if (delivery.state === 'EXHAUSTED' && requests.length === 0 && delivery.attempts === 0) {
      return [seen.of('I3', 'EXHAUSTED without a single attempt', delivery)]
    }
    return []
  })
}
