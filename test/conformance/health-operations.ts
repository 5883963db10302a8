// Random health of endpoints, for both stores.

import assert from 'node:assert/strict'
import type { Dice } from '../simulator/dice.ts'
import type { BothStores } from './both-stores.ts'

const HOUR_MS = 3_600_000

/** Writes what attempts at an endpoint have shown, and reads what is then shown of all. */
export async function saveHealth(both: BothStores, dice: Dice, endpointId: string): Promise<void> {
  const { clientKey, nowMs } = both
  // Now and then of a clock that is ahead.
  const aheadMs = dice.chance(0.1) ? HOUR_MS : 0
  const orNull = () => (dice.chance(0.5) ? nowMs + aheadMs - dice.between(0, HOUR_MS) : null)
  const deltas = [
    {
      clientKey,
      endpointId,
      attempts: 2,
      delivered: 1,
      durations: new Array<number>(30).fill(0),
      lastSuccessAtMs: orNull(),
      lastFailureAtMs: orNull(),
      lastError: dice.chance(0.5) ? 'timeout' : null,
      failingSinceMs: orNull(),
      circuit: dice.pick(['CLOSED', 'OPEN', 'HALF_OPEN'] as const),
      nextProbeAtMs: orNull(),
    },
  ]
  await both.store(0).saveHealth(deltas, nowMs)
  both.twin.outcomes.saveHealth(deltas, nowMs)
  const keys = [...both.twin.tables.endpoints.values()].map(({ id }) => ({
    clientKey,
    endpointId: id,
  }))
  const shown = await both.store(0).readShownHealth(keys)
  assert.deepEqual(
    new Map([...shown].sort()),
    new Map([...both.twin.reads.readShownHealth(keys)].sort()),
  )
}
