// New deliveries go to the engine once they are committed, never before: the engine must not see a
// delivery that could still be rolled back.

import type { HandedOff } from '../../core/delivery/queued-delivery.ts'
import type { EngineNotices } from '../shared/deps.ts'

/**
 * Runs a transaction, and hands the deliveries that it has made to the engine. The engine is notified of
 * the beginning too: it may find, and even deliver, some of them before the commit's answer arrives.
 */
export async function handOffAfterCommit<T>(
  engine: Pick<EngineNotices, 'beginAccept'>,
  transact: () => Promise<T>,
  deliveriesOf: (committed: T) => readonly HandedOff[],
): Promise<T> {
  const handOff = engine.beginAccept()
  let deliveries: readonly HandedOff[] = []
  try {
    const committed = await transact()
    deliveries = deliveriesOf(committed)
    return committed
  } finally {
    handOff(deliveries)
  }
}
