// Lanes to be tested alone, with what they asked of the engine, and the steps of a flight by short names.

import assert from 'node:assert/strict'
import { circuitPolicy } from '../../server/core/delivery/circuit.ts'
import type { QueuedDelivery } from '../../server/core/delivery/queued-delivery.ts'
import type { Moment } from '../../server/core/plain/clock.ts'
import type { Flight } from '../../server/delivery/lanes/lane.ts'
import type { LaneEvents } from '../../server/delivery/lanes/lane-events.ts'
import { Lanes, type LanesOptions } from '../../server/delivery/lanes/lanes.ts'
import { queued } from './engine-parts.ts'

export const HOUR_MS = 3_600_000
const OPTIONS: LanesOptions = {
  policy: {
    inFlightMax: 4,
    ratePerSecond: null,
  },
  slots: 20,
  perLaneMax: 8,
  perBrokenLaneMax: 2,
  unprovenMax: 100_000,
  lanesMax: 100,
  keepMsMax: 30_000,
  endpoints: { deliverOf: () => 'every' },
  policies: {
    circuit: { ...circuitPolicy(), failuresToOpen: 2, failingMsToOpen: 0 },
    patienceMs: HOUR_MS,
  },
}
export const ANY = () => true

/** A moment at which both clocks show the same. */
export function at(ms: number): Moment {
  return { nowMs: ms, monotonicMs: ms }
}

export const SUCCESS = { isSuccess: true, durationMs: 5, bodyBytes: 100 }
export const FAILURE = { isSuccess: false, durationMs: 5, bodyBytes: 100 }

/** Lanes that ask nothing of an engine. */
export const NO_EVENTS: LaneEvents = {
  onPostponed() {},
  onParked() {},
  onTooEarly() {},
  onReloadNeeded() {},
  onRefillNeeded() {},
  onEnded() {},
}

export function lanesWith(changes: Partial<LanesOptions> = {}) {
  const calls = {
    postponed: [] as { id: string; untilMs: number }[],
    parked: [] as string[],
    tooEarly: [] as string[],
    reloads: [] as string[],
    refills: [] as { endpointId: string; room: number }[],
    ended: [] as string[],
  }
  const lanes = new Lanes(
    { ...OPTIONS, ...changes },
    {
      onPostponed: (deliveries, untilMs) => {
        calls.postponed.push(...deliveries.map(({ id }) => ({ id, untilMs })))
      },
      onParked: (deliveries) => void calls.parked.push(...deliveries.map(({ id }) => id)),
      onTooEarly: ({ id }) => void calls.tooEarly.push(id),
      onReloadNeeded: (strand) => void calls.reloads.push(strand.key),
      onRefillNeeded: (lane, room) =>
        void calls.refills.push({ endpointId: lane.endpointId, room }),
      onEnded: ({ id }) => void calls.ended.push(id),
    },
  )
  return { lanes, calls }
}

/** The updates 1 … count of one payment. */
export function updates(count: number, changes: Partial<QueuedDelivery> = {}): QueuedDelivery[] {
  const { paymentId } = queued()
  return Array.from({ length: count }, (_, n) => queued({ paymentId, sequence: n + 1, ...changes }))
}

export function sentBy(flight: Flight | null): QueuedDelivery {
  return flight?.update ?? assert.fail('nothing was sent')
}

export function next(lanes: Lanes, nowMs = 0): Flight {
  return lanes.next(at(nowMs), ANY) ?? assert.fail('nothing to send')
}

export function deliver(lanes: Lanes, flight: Flight, nowMs = 0): void {
  lanes.answered(flight, SUCCESS, at(nowMs))
  lanes.settle(flight, null, nowMs)
}

/** The attempt failed and is recorded, to be repeated at this time. */
export function fail(lanes: Lanes, flight: Flight, nextAttemptAtMs: number, nowMs = 0): void {
  const sent = sentBy(flight)
  lanes.answered(flight, FAILURE, at(nowMs))
  const attempts = sent.attempts + 1
  const firstFailedAtMs = sent.firstFailedAtMs ?? nowMs
  lanes.settle(flight, { ...sent, attempts, nextAttemptAtMs, firstFailedAtMs }, nowMs)
}
