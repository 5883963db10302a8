// What a wrong clock makes necessary, for both stores: runs that begin before anything is sent, and rows that are brought
// forward after the clock has gone back.

import assert from 'node:assert/strict'
import type { ShardEpoch } from '../../server/core/delivery/lease.ts'
import type { HeldDelivery } from '../../server/store/owed/held-deliveries.ts'
import type { Dice } from '../simulator/dice.ts'
import type { BothStores } from './both-stores.ts'
import { byShard } from './lease-operations.ts'

const HOUR_MS = 3_600_000
const LIMIT = 1_000

export async function beginRuns(both: BothStores, held: readonly HeldDelivery[]): Promise<void> {
  const { nowMs } = both
  const deadlineMs = nowMs + 7 * 24 * HOUR_MS
  const found = await both.store(0).beginRuns(held, nowMs, deadlineMs)
  const begun = both.twin.outcomes.beginRuns(held, nowMs, deadlineMs)
  assert.equal(begun.areBegun, found.areBegun)
  assert.deepEqual(byShard(begun.lost), byShard(found.lost))
}

export async function bringForward(
  both: BothStores,
  dice: Dice,
  leases: readonly ShardEpoch[],
): Promise<void> {
  for (const lease of leases) {
    const nowMs = both.nowMs - dice.pick([0, HOUR_MS])
    const latestMs = [0, 10_000, 30_000].map((ms) => nowMs + ms)
    const count = await both.store(0).bringForward(lease, latestMs, LIMIT)
    assert.equal(both.twin.outcomes.bringForward(lease, latestMs, LIMIT), count)
  }
}
