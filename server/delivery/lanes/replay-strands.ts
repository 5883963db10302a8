// Replays in memory. Those of one payment at one endpoint are a strand of their own, of which the oldest that is due
// goes (core/delivery/strand). Others may be owed that are not in memory, and nothing waits for them: so a replay that has to
// be read again is read alone, where any other update takes its whole strand with it.

import type { QueuedDelivery } from '../../core/delivery/queued-delivery.ts'
import type { Flight, Strand } from './lane.ts'
import type { LaneEvents } from './lane-events.ts'
import type { LaneFeeder } from './lane-feeder.ts'
import type { LaneRoom } from './lane-room.ts'
import { turnAway } from './turned-away.ts'

export class ReplayStrands {
  readonly #room: LaneRoom
  readonly #feeder: LaneFeeder
  readonly #events: Pick<LaneEvents, 'onParked' | 'onTooEarly'>

  constructor(
    room: LaneRoom,
    feeder: LaneFeeder,
    events: Pick<LaneEvents, 'onParked' | 'onTooEarly'>,
  ) {
    this.#room = room
    this.#feeder = feeder
    this.#events = events
  }

  /** Puts one among those in memory, in sequence; without room it is turned away. */
  insert(strand: Strand, replay: QueuedDelivery, nowMs: number): void {
    if (this.#room.isFull(strand.lane)) {
      turnAway(this.#events, strand.lane, [replay], nowMs)
      return
    }
    const elder = strand.owed.findLastIndex(({ sequence }) => sequence < replay.sequence)
    strand.owed.splice(elder + 1, 0, replay)
    this.#room.hold(strand, replay)
  }

  /** One has landed whose strand is gone. What was read of it during its flight knows nothing of its outcome. */
  readAgain({ lane, strand, update }: Flight): void {
    this.#events.onTooEarly(update)
    const successor = lane.strands.get(strand.key)
    if (successor === undefined || !holds(successor, update)) return
    this.#room.forget(lane, update)
    successor.owed = successor.owed.filter(({ id }) => id !== update.id)
  }

  /**
   * One was called off whose strand is gone: its row is what it was, so what was read of it during its flight goes on
   * in its place. Where it was not read, its row may be due or, without a time, parked.
   */
  giveBack({ lane, strand, update }: Flight): void {
    const successor = lane.strands.get(strand.key)
    if (successor !== undefined && holds(successor, update)) return
    this.#events.onTooEarly(update)
    this.#feeder.startOver(lane)
  }
}

function holds({ owed }: Strand, update: QueuedDelivery): boolean {
  return owed.some(({ id }) => id === update.id)
}
