// Reports the engine's attempts: to the log, to the live stream, to the metrics.

import { outcomeCode } from '../core/delivery/delivery.ts'
import type { DeliveryStore } from '../delivery/seams/delivery-store.ts'
import type { AttemptReport } from '../delivery/seams/environment.ts'
import type { AttemptedEvent } from './live-events.ts'
import type { Metrics } from './metrics.ts'

/** Deliveries that end without another attempt are not reported here: the store returns their number. */
export function countingExhausted(store: DeliveryStore, metrics: Metrics): DeliveryStore {
  return {
    ...store,
    async exhaust(deliveries, nowMs) {
      await store.exhaust(deliveries, nowMs)
      metrics.countExhausted(deliveries.length)
    },
    async exhaustParked(lane, page, nowMs) {
      const found = await store.exhaustParked(lane, page, nowMs)
      metrics.countExhausted(found.exhausted)
      return found
    },
  }
}

export function attemptedEvent(report: AttemptReport): AttemptedEvent {
  const { deliveryId, eventId, endpointId, attempt, outcome, atMs } = report
  return {
    deliveryId,
    eventId,
    endpointId,
    attempt,
    outcome: outcomeCode(outcome),
    status: outcome.kind === 'answered' ? outcome.status : null,
    at: new Date(atMs).toISOString(),
  }
}

export function attemptLine(report: AttemptReport): object {
  const { outcome, nextAttemptAtMs, atMs, ...line } = report
  return {
    ...line,
    durationMs: Math.round(report.durationMs * 10) / 10,
    at: new Date(atMs).toISOString(),
    outcome: outcomeCode(outcome),
    status: outcome.kind === 'answered' ? outcome.status : undefined,
    nextAttemptAt: nextAttemptAtMs === null ? null : new Date(nextAttemptAtMs).toISOString(),
  }
}
