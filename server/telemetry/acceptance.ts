// Telemetry of accepting payment changes: each transaction is counted and traced, and each event gets one
// line in the log. The accepting itself is operations/accepting/record-payments.

import type { Logger } from 'pino'
import type { EventKind } from '../core/payments/payment.ts'
import type { Clock } from '../core/plain/clock.ts'
import type { Accept } from '../operations/accepting/create-gatherer.ts'
import type { PaymentGatherer } from '../operations/accepting/payment-gatherer.ts'
import type { PaymentChange, RecordedChanges } from '../operations/accepting/record-payments.ts'
import type { LiveStream } from './live-stream.ts'
import type { Metrics } from './metrics.ts'
import type { Tracing } from './tracing.ts'
import type { WriteWatch } from './write-watch.ts'

export interface AcceptanceParts {
  clock: Clock
  metrics: Metrics
  logger: Logger
  tracing: Tracing | null
  writes: WriteWatch
  /** Asked first whether it has readers: most of the time it has none. */
  stream: Pick<LiveStream, 'isWatched' | 'accepted'>
}

export function watchingAccepts(parts: AcceptanceParts, accept: Accept): Accept {
  const { tracing, writes } = parts
  return async (changes, locking) => {
    const work = () => accept(changes, locking)
    parts.metrics.countBatch(changes.length)
    try {
      const accepted = await (tracing === null ? work() : tracing.accept(changes, work))
      // A transaction that had nothing to write is no evidence that writes work.
      if (tellAccepted(parts, changes, accepted) > 0) writes.succeeded('payments')
      return accepted
    } catch (error) {
      writes.failed('payments', error)
      throw error
    }
  }
}

/** Which request each change came with is noted, because a transaction may serve many requests. */
export function notingRequests(
  tracing: Tracing,
  gatherer: PaymentGatherer,
): Pick<PaymentGatherer, 'enter' | 'submit'> {
  return {
    enter(change, submitter) {
      tracing.noteRequest(change)
      gatherer.enter(change, submitter)
    },
    submit(change) {
      tracing.noteRequest(change)
      return gatherer.submit(change)
    },
  }
}

/** Returns how many events were accepted. */
function tellAccepted(
  { clock, metrics, logger, stream }: AcceptanceParts,
  changes: readonly PaymentChange[],
  accepted: RecordedChanges,
): number {
  const { results, deliveries } = accepted
  let events = 0
  metrics.countCreated(deliveries.length)
  for (const result of results) {
    if (!('event' in result) || result.event === null) continue
    metrics.countEvent(result.event.kind)
    events++
  }
  // Thousands a second: the lines are not built when the level is off.
  if (logger.isLevelEnabled('info')) {
    for (const line of acceptedEvents(changes, accepted)) logger.info(line, 'event.accepted')
  }
  if (stream.isWatched) {
    const at = new Date(clock.nowMs()).toISOString()
    for (const { kind, ...event } of acceptedEvents(changes, accepted)) {
      stream.accepted({ ...event, event: kind, at })
    }
  }
  return events
}

interface Accepted {
  eventId: string
  paymentId: string
  accountId: string
  kind: EventKind
  sequence: number
  deliveries: number
}

function* acceptedEvents(
  changes: readonly PaymentChange[],
  { results, deliveries }: RecordedChanges,
): Generator<Accepted> {
  const counts = new Map<string, number>()
  for (const { eventId } of deliveries) counts.set(eventId, (counts.get(eventId) ?? 0) + 1)
  for (const [index, result] of results.entries()) {
    if (!('event' in result) || result.event === null) continue
    const { accountId, write } = changes[index] as PaymentChange
    const { id, kind, sequence } = result.event
    yield {
      eventId: id,
      paymentId: write.id,
      accountId,
      kind,
      sequence,
      deliveries: counts.get(id) ?? 0,
    }
  }
}
