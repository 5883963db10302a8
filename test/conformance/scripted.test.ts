// Rules of the store that the simulator relies on, one by one, in PostgreSQL and in the twin: what the random
// operations meet sooner or later is met here in every run.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { POLICY } from './both-stores.ts'
import { acceptOne, postponeTo, prepareBoth, recordAttempt, takeAll } from './prepared.ts'

const HOUR_MS = 3_600_000

test('a paused endpoint is owed what is accepted', async (t) => {
  const both = await prepareBoth(t)
  await both.change(both.endpointIds[0] as string, 'PAUSED')
  await acceptOne(both)
  await both.sameState(t.name)
  assert.equal(both.twin.tables.pending.size, 2)
})

test('a record under an old epoch changes nothing, and names the lease', async (t) => {
  const both = await prepareBoth(t)
  const row = await acceptOne(both)
  await takeAll(both)
  for (const isDelivered of [false, true]) {
    const { ids, lost } = await recordAttempt(both, row, { isDelivered, epoch: 0 })
    assert.deepEqual([...ids], [])
    assert.deepEqual(lost, [{ shard: row.shard, epoch: 0 }])
    await both.sameState(t.name)
  }
  assert.equal(both.twin.tables.pending.get(row.id)?.attempts, 0)
})

test('a lease that is past its time is still its owner’s', async (t) => {
  const both = await prepareBoth(t)
  await takeAll(both)
  await both.setPastTheirTime()
  const taken = await both.store(1).takeLeases(64, new Map(), [])
  const { leases } = both.twin
  assert.deepEqual(
    leases.takeLeases(both.processes[1], 64, POLICY.leaseMs, new Map(), [], both.nowMs),
    taken,
  )
  assert.deepEqual(taken, [])
  await both.sameState(t.name)
})

test('a pending delivery is not replayed, attempted or not; one that has ended is, once', async (t) => {
  const both = await prepareBoth(t)
  const row = await acceptOne(both)
  await takeAll(both)
  await both.replay(row.id)
  await recordAttempt(both, row, { isDelivered: false })
  await both.replay(row.id)
  await both.sameState(`${t.name}: refused`)
  assert.equal(both.twin.tables.pending.get(row.id)?.isReplay, false)
  await recordAttempt(both, row, { isDelivered: true })
  await both.replay(row.id)
  await both.replay(row.id)
  await both.sameState(`${t.name}: replayed`)
  assert.equal(both.twin.tables.pending.get(row.id)?.isReplay, true)
})

test('a pause is added to the 7 days and to the patience of what was attempted', async (t) => {
  const both = await prepareBoth(t)
  const row = await acceptOne(both)
  await takeAll(both)
  await recordAttempt(both, row, { isDelivered: false })
  const deadlineAtMs = both.twin.tables.pending.get(row.id)?.deadlineAtMs ?? 0
  both.nowMs += HOUR_MS
  await both.change(row.endpointId, 'PAUSED')
  both.nowMs += 5 * HOUR_MS
  await both.change(row.endpointId, 'ACTIVE')
  await both.sameState(t.name)
  assert.equal(both.twin.tables.pending.get(row.id)?.deadlineAtMs, deadlineAtMs + 5 * HOUR_MS)
})

test('a retry makes due what the payment is owed, the older updates too, and leaves it in its order', async (t) => {
  const both = await prepareBoth(t)
  const elder = await acceptOne(both)
  await takeAll(both)
  await recordAttempt(both, elder, { isDelivered: false })
  const younger = await acceptOne(both)
  const stranger = await acceptOne(both, '5d0c63c4-9a6e-4a0e-8f0c-0d7c4d6b1a01')
  const nextAttemptAtMs = both.nowMs + HOUR_MS
  for (const row of [younger, stranger]) await postponeTo(both, row, nextAttemptAtMs)
  both.nowMs += 1_000
  await both.retry(younger.id)
  await both.sameState(t.name)
  const { pending, endpoints } = both.twin.tables
  for (const { id } of [elder, younger]) {
    assert.equal(pending.get(id)?.nextAttemptAtMs, both.nowMs)
    assert.equal(pending.get(id)?.isReplay, false)
  }
  assert.equal(pending.get(stranger.id)?.nextAttemptAtMs, nextAttemptAtMs)
  assert.equal(endpoints.get(elder.endpointId)?.retriedAtMs, both.nowMs)
})

test('a retry that is asked for during an attempt outlives its failure', async (t) => {
  const both = await prepareBoth(t)
  const row = await acceptOne(both)
  await takeAll(both)
  await recordAttempt(both, row, { isDelivered: false })
  const atMs = both.nowMs
  both.nowMs += 5_000
  await both.retryEndpoint(row.endpointId)
  const retriedAtMs = both.nowMs
  both.nowMs += 5_000
  await recordAttempt(both, row, { isDelivered: false, atMs })
  await both.sameState(t.name)
  assert.equal(both.twin.tables.pending.get(row.id)?.nextAttemptAtMs, retriedAtMs)
  // The next attempt begins after it, and its failure is followed by its own delay.
  both.nowMs += 5_000
  await recordAttempt(both, row, { isDelivered: false })
  await both.sameState(`${t.name}: again`)
  assert.ok((both.twin.tables.pending.get(row.id)?.nextAttemptAtMs ?? 0) > both.nowMs)
})

test('a resumption makes due what is owed, and a retry of what is paused is refused', async (t) => {
  const both = await prepareBoth(t)
  const row = await acceptOne(both)
  await takeAll(both)
  await recordAttempt(both, row, { isDelivered: false })
  await both.change(row.endpointId, 'PAUSED')
  both.nowMs += 1_000
  await both.retry(row.id)
  await both.retryEndpoint(row.endpointId)
  await both.change(row.endpointId, 'ACTIVE')
  await both.sameState(t.name)
  assert.equal(both.twin.tables.pending.get(row.id)?.nextAttemptAtMs, both.nowMs)
})

test('under latest an attempt that failed ends what is older, and the newest are read', async (t) => {
  const both = await prepareBoth(t)
  const first = await acceptOne(both)
  const second = await acceptOne(both)
  const third = await acceptOne(both)
  await takeAll(both)
  const keys = [{ ...first, deliver: 'latest' as const }]
  for (const limit of [1, 2, 9]) {
    const found = await both.store(0).readStrands(keys, limit)
    assert.deepEqual(both.twin.reads.readStrands(keys, limit), found)
    const expected = [first, second, third].slice(-Math.max(2, limit))
    assert.deepEqual(
      found.map(({ id }) => id),
      expected.map(({ id }) => id),
    )
  }
  await recordAttempt(both, third, { isDelivered: false, supersedes: true })
  await both.sameState(t.name)
  const { pending, final } = both.twin.tables
  assert.equal(pending.get(third.id)?.attempts, 1)
  for (const { id } of [first, second]) assert.equal(final.get(id)?.state, 'SUPERSEDED')
})
