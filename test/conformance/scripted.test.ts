// Rules of the store that the simulator relies on, one by one, in PostgreSQL and in the twin: what the random
// operations meet sooner or later is met here in every run.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { POLICY } from './both-stores.ts'
import { acceptOne, prepareBoth, recordAttempt, takeAll } from './prepared.ts'

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
  const taken = await both.store(1).takeLeases(64, new Map())
  const { leases } = both.twin
  assert.deepEqual(
    leases.takeLeases(both.processes[1], 64, POLICY.leaseMs, new Map(), both.nowMs),
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
