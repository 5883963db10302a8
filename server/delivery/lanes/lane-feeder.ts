// Brings parked deliveries back: notes which lanes have some, and asks for the next page of them before a
// lane has nothing left to do. What a lane knows of its parked rows is a machine of its own, parked-rows.ts.

import type { LaneKey } from '../../store/owed/parked.ts'
import type { Lane } from './lane.ts'
import type { LaneDirectory } from './lane-directory.ts'
import type { LaneEvents } from './lane-events.ts'
import type { LaneRoom } from './lane-room.ts'

export class LaneFeeder {
  readonly #directory: LaneDirectory
  readonly #room: LaneRoom
  readonly #events: Pick<LaneEvents, 'onRefillNeeded'>

  constructor(
    directory: LaneDirectory,
    room: LaneRoom,
    events: Pick<LaneEvents, 'onRefillNeeded'>,
  ) {
    this.#directory = directory
    this.#room = room
    this.#events = events
  }

  /** The database holds parked deliveries of this lane. */
  noteParked(key: LaneKey): void {
    const lane = this.#directory.of(key)
    lane.parked.note()
    this.feed(lane)
  }

  /** One that a scan may have passed is back in the database, and perhaps parked: elder than what comes next. */
  startOver(lane: Lane): void {
    lane.parked.note()
    lane.parked.restart()
    this.feed(lane)
  }

  /** A refill has ended: `upTo` is the last id that was read, or null when there are no more. */
  refilled(lane: Lane, upTo: string | null): void {
    lane.parked.endRefill(upTo)
    this.feed(lane)
  }

  refillFailed(lane: Lane): void {
    lane.parked.failRefill()
    this.feed(lane)
  }

  /** To be called when deliveries of the lane have left memory. */
  feed(lane: Lane): void {
    if (lane.parked.state.is !== 'parked') return
    const room = this.#room.of(lane)
    if (lane.count > room / 4) return
    lane.parked.beginRefill()
    this.#events.onRefillNeeded(lane, room - lane.count)
  }
}
