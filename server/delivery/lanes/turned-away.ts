// What has no room in memory, and where it goes: parked in the database when it is due, read again in time when not.

import type { QueuedDelivery } from '../../core/delivery/queued-delivery.ts'
import { type Lane, strandKey } from './lane.ts'
import type { LaneEvents } from './lane-events.ts'

type Leaving = Pick<LaneEvents, 'onParked' | 'onTooEarly'>

/** Parked ones count as due as soon as they are taken up again, so only due ones are parked. */
export function turnAway(
  events: Leaving,
  lane: Lane,
  deliveries: readonly QueuedDelivery[],
  nowMs: number,
): void {
  parkDue(events, lane, deliveries, nowMs)
  for (const delivery of deliveries) if (!isDue(delivery, nowMs)) events.onTooEarly(delivery)
}

/**
 * One that is in flight keeps its row's time: a retry that was asked for during it has set it, and holds when the
 * attempt fails (store/owed/outcomes.ts). Its strand is read again when it has landed.
 */
export function parkDue(
  events: Leaving,
  lane: Lane,
  deliveries: readonly QueuedDelivery[],
  nowMs: number,
): void {
  const parked = deliveries.filter((each) => isDue(each, nowMs) && !isInFlight(lane, each))
  if (parked.length > 0) events.onParked(parked)
}

function isDue(delivery: QueuedDelivery, nowMs: number): boolean {
  return delivery.nextAttemptAtMs <= nowMs
}

function isInFlight(lane: Lane, delivery: QueuedDelivery): boolean {
  return lane.departed?.get(strandKey(delivery))?.update.id === delivery.id
}
