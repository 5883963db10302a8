// Rows that are read from the database may be out of date by the time they arrive: the delivery was recorded,
// or its endpoint changed, in between. Each read watches what moves on while it is under way. Without
// this a delivery could be sent again after its 200.

import type { QueuedDelivery } from '../../core/delivery/queued-delivery.ts'

export interface ReadWatch {
  /** True when the delivery, or its endpoint, has moved on since the watch began. */
  isOutdated(delivery: QueuedDelivery): boolean
  /** True when its endpoint was changed: what was read of it is as it was, and has to be read again. */
  isOfChanged(delivery: QueuedDelivery): boolean
  end(): void
}

export class ReadWatches {
  /** For each read that is under way, the ids that have moved on. */
  readonly #watches = new Set<Set<string>>()

  /** A read, or a transaction, begins. */
  begin(): ReadWatch {
    const moved = new Set<string>()
    this.#watches.add(moved)
    return {
      isOutdated: (delivery) => moved.has(delivery.id) || moved.has(delivery.endpointId),
      isOfChanged: (delivery) => moved.has(delivery.endpointId),
      end: () => this.#watches.delete(moved),
    }
  }

  /** The delivery or endpoint with this id has moved on. */
  note(id: string): void {
    for (const moved of this.#watches) moved.add(id)
  }
}
