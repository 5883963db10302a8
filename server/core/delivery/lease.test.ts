import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fairShare, hasRoom, LEASE_POLICY, type Lease, SHARD_COUNT } from './lease.ts'

test('an attempt starts only when it would be over, and recorded, before the lease ends', () => {
  const ends = { endsAtMonotonicMs: 200_000, endsAtCautiousMs: 100_000 }
  const lease: Lease = { shard: 1, epoch: 4, beat: 9, ...ends }
  const needed = LEASE_POLICY.attemptMsMax + LEASE_POLICY.recordingMsMax
  assert.equal(hasRoom(lease, LEASE_POLICY, 100_000 - needed - 1), true)
  assert.equal(hasRoom(lease, LEASE_POLICY, 100_000 - needed), false)
  assert.equal(hasRoom(lease, LEASE_POLICY, 100_000), false)
  assert.equal(hasRoom(lease, LEASE_POLICY, 1e9), false)
})

test('the policy leaves room for several renewals, and a dead owner is replaced within 30 s', () => {
  const { leaseMs, renewEveryMs, attemptMsMax, recordingMsMax } = LEASE_POLICY
  assert.ok(leaseMs - attemptMsMax - recordingMsMax > 2 * renewEveryMs)
  assert.ok(leaseMs + renewEveryMs <= 30_000)
  assert.ok(LEASE_POLICY.processGoneAfterMs > renewEveryMs)
})

test('the fair shares of all processes cover every shard, and differ by what cannot be divided', () => {
  for (let processes = 1; processes <= 100; processes++) {
    assert.ok(fairShare(processes) * processes >= SHARD_COUNT)
    assert.ok((fairShare(processes) - 1) * processes < SHARD_COUNT)
  }
  assert.equal(fairShare(0), SHARD_COUNT)
  assert.equal(fairShare(2), 32)
})
