// What the lanes ask of the engine, which owns the reader and the writer of the database.

import type { QueuedDelivery } from '../../core/delivery/queued-delivery.ts'
import type { Lane, Strand } from './lane.ts'

export interface LaneEvents {
  /** Rows that are due but blocked until a later time, and leave memory. */
  onPostponed(deliveries: readonly QueuedDelivery[], untilMs: number): void
  /** Rows that are due but have no room in their lane, and wait in the database. */
  onParked(deliveries: readonly QueuedDelivery[]): void
  /** A row that was read ahead has no room, or one has left whose outcome is not known: read again when it is due. */
  onTooEarly(delivery: QueuedDelivery): void
  /** A strand has to be read again: it has nothing left in memory, or is out of date. */
  onReloadNeeded(strand: Strand): void
  /** A lane that can move runs low, and has parked deliveries. */
  onRefillNeeded(lane: Lane, room: number): void
  /** A delivery is over: nothing of it is needed again. */
  onEnded(delivery: QueuedDelivery): void
}
