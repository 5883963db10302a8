// I1: what was answered is on disk, with one delivery for each endpoint that existed; and every caller has
// an answer that is true.

import type { EndpointHistory, Violation } from './records.ts'
import { type RunIndex, violation } from './run-index.ts'

/** I1: what was answered is there, with a delivery for every endpoint that existed. */
export function durableAnswer(seen: RunIndex): Violation[] {
  const wrong: Violation[] = []
  const events = new Map(seen.run.events.map((event) => [event.id, event]))
  for (const write of seen.run.writes) {
    const stored = write.event && events.get(write.event.id)
    const isThere = write.event === null || stored !== undefined
    const hasPayment = seen.run.events.some((event) => event.paymentId === write.paymentId)
    if (!isThere || !hasPayment) {
      const detail = `acknowledged version ${write.version} left no event`
      wrong.push(violation('I1', detail, null, write.paymentId, write.acknowledgedAtMs))
    }
    if (stored && (write.event?.text ?? stored.text) !== stored.text) {
      wrong.push(violation('I1', 'another text was answered than stored', null, write.paymentId))
    }
  }
  for (const event of seen.run.events) {
    for (const endpoint of seen.run.endpoints) {
      if (!isOwed(endpoint, event)) continue
      if (seen.byEvent.has(`${event.id}/${endpoint.id}`)) continue
      const detail = `no delivery of update ${event.sequence}`
      wrong.push(violation('I1', detail, endpoint.id, event.paymentId, event.createdAtMs))
    }
  }
  for (const { eventId, endpointId, paymentId, sequence } of seen.run.deliveries) {
    const kind = seen.run.events.find(({ id }) => id === eventId)?.kind
    const endpoint = seen.endpoints.get(endpointId)
    if (kind === undefined || endpoint === undefined || isHeard(endpoint, kind)) continue
    wrong.push(violation('I1', `update ${sequence} is not heard, and owed`, endpointId, paymentId))
  }
  if (seen.byEvent.size !== seen.run.deliveries.length) {
    wrong.push(violation('I1', 'two deliveries of one event to one endpoint'))
  }
  for (const [paymentId, of] of Map.groupBy(seen.run.events, (event) => event.paymentId)) {
    const inOrder = of.toSorted((one, other) => one.sequence - other.sequence)
    for (const [index, event] of inOrder.entries()) {
      if (event.sequence !== index + 1) {
        wrong.push(
          violation('I1', `sequence ${event.sequence} in position ${index + 1}`, null, paymentId),
        )
      }
      if (event.text === inOrder[index - 1]?.text) {
        wrong.push(violation('I1', `update ${event.sequence} changes nothing`, null, paymentId))
      }
    }
  }
  return wrong
}

/** I10, P9: every call is answered once the faults have ended, and one bad write harms no other. */
export function answeredCalls({ run }: RunIndex): Violation[] {
  const { unanswered = 0, wronglyRefused = [] } = run.calls ?? {}
  const wrong = wronglyRefused.map(({ paymentId, reason }) =>
    violation('P9', `a good write is refused: ${reason}`, null, paymentId),
  )
  if (unanswered > 0) wrong.push(violation('I10', `${unanswered} calls are never answered`))
  return wrong
}

function isOwed(
  endpoint: EndpointHistory,
  event: { accountId: string; kind: string; createdAtMs: number },
): boolean {
  if (!isHeard(endpoint, event.kind)) return false
  if (endpoint.accountId !== null && endpoint.accountId !== event.accountId) return false
  const registered = endpoint.acts.find((act) => act.kind === 'register')
  const deleted = endpoint.acts.find((act) => act.kind === 'delete')
  if (registered === undefined || registered.appliedAtMs > event.createdAtMs) return false
  return deleted === undefined || deleted.appliedAtMs > event.createdAtMs + 10_000
}

/** As the interface says it, not as the service decides it. */
function isHeard({ events }: EndpointHistory, kind: string): boolean {
  return events === null || events.includes(kind) || events.includes('payment.*')
}
