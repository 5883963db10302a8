// Both stores with a client, a subscription and a webhook, and steps that scripted tests share.

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { AttemptRecord, Recorded } from '../../server/store/owed/outcomes.ts'
import type { PendingRow } from '../simulator/twin-tables.ts'
import { cloneDatabase } from '../support/database.ts'
import { sampleWrite } from '../support/payment-sample.ts'
import { BothStores, POLICY } from './both-stores.ts'

export const PAYMENT = '5d0c63c4-9a6e-4a0e-8f0c-0d7c4d6b1a00'
const DAY_MS = 86_400_000

export async function prepareBoth(t: TestContext): Promise<BothStores> {
  const database = await cloneDatabase()
  t.after(() => database.drop())
  const both = new BothStores(database)
  await both.prepare()
  await both.register(0, true)
  await both.register(1, false)
  return both
}

export function writeOf(reference: string, id = PAYMENT) {
  return sampleWrite({ id, reference, document: undefined })
}

/** Accepts a payment; returns what one of the endpoints is owed. */
export async function acceptOne(both: BothStores, id = PAYMENT): Promise<PendingRow> {
  const { pending } = both.twin.tables
  const before = new Set(pending.keys())
  await both.accept([writeOf(`update ${pending.size}`, id)])
  return [...pending.values()].find((row) => !before.has(row.id)) ?? assert.fail('nothing is owed')
}

/** The engine knows the time of a delivery, and moves it. */
export async function postponeTo(
  both: BothStores,
  { clientKey, id, shard, nextAttemptAtMs: knownAtMs }: PendingRow,
  nextAttemptAtMs: number,
): Promise<void> {
  const given = [{ clientKey, id, shard, epoch: 1, knownAtMs: knownAtMs ?? 0, nextAttemptAtMs }]
  await both.store(0).postpone(given)
  both.twin.outcomes.postpone(given)
}

/** All shards for the first process, under epoch 1. */
export async function takeAll(both: BothStores): Promise<void> {
  const { nowMs, processes, twin } = both
  await both.store(0).takeLeases(64, new Map(), [])
  twin.leases.takeLeases(processes[0], 64, POLICY.leaseMs, new Map(), [], nowMs)
}

/** The next attempt of the delivery: answered with 200, or with 500 and tried again in an hour. */
export async function recordAttempt(
  both: BothStores,
  row: PendingRow,
  {
    isDelivered,
    epoch = 1,
    ...given
  }: {
    isDelivered: boolean
    epoch?: number
    atMs?: number
    supersedes?: boolean
  },
): Promise<Recorded> {
  const { nowMs } = both
  const { atMs = nowMs } = given
  const firstAttemptAtMs = row.firstAttemptAtMs ?? nowMs
  const record: AttemptRecord = {
    ...row,
    epoch,
    attempt: row.attempts + 1,
    runAttempt: row.runAttempts + 1,
    atMs,
    durationMs: 1,
    outcome: 'answered',
    status: isDelivered ? 200 : 500,
    excerpt: null,
    state: isDelivered ? 'DELIVERED' : 'PENDING',
    nextAttemptAtMs: isDelivered ? null : nowMs + DAY_MS / 24,
    firstAttemptAtMs,
    firstFailedAtMs: isDelivered ? row.firstFailedAtMs : (row.firstFailedAtMs ?? nowMs),
    deadlineAtMs: row.deadlineAtMs ?? firstAttemptAtMs + 7 * DAY_MS,
    supersedes: given.supersedes ?? false,
  }
  const found = await both.store(0).recordOutcomes([record], nowMs)
  assert.deepEqual(both.twin.outcomes.recordOutcomes([record], nowMs), found)
  return found
}
