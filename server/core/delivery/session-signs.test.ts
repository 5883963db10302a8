import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { aftermathMs, LEASE_POLICY } from './lease.ts'
import { OthersSigns, OwnSign } from './session-signs.ts'

const POLICY = { beatEveryMs: 300, provenMs: 1_000, endedMs: 1_300 }
const NEVER = Number.NEGATIVE_INFINITY
const ALWAYS = Number.POSITIVE_INFINITY

/** A process whose leases stand under this sign, proven at 5,000. */
function signed(name = 'a') {
  const own = new OwnSign(POLICY)
  own.change(name, 5_000)
  own.endRenewal(own.beginRenewal())
  return own
}

test('without a sign there is nothing to prove', () => {
  const own = new OwnSign(POLICY)
  assert.equal(own.provenUntilMs, ALWAYS)
  own.endRenewal(own.beginRenewal())
  assert.equal(own.provenUntilMs, ALWAYS)
})

test('under a sign an attempt begins within its proof, from when the beat was sent', () => {
  const own = signed()
  assert.equal(own.provenUntilMs, 6_000)
  own.prove(5_300)
  assert.equal(own.provenUntilMs, 6_300)
})

test('a sign counts from the moment a renewal that names it was sent, answered or not', () => {
  const own = new OwnSign(POLICY)
  own.change('a', 5_000)
  assert.equal(own.provenUntilMs, ALWAYS, 'no lease stands under it yet')
  own.beginRenewal()
  assert.equal(own.provenUntilMs, 6_000)
})

test('when its session is lost, nothing is begun until the leases are renewed without it', () => {
  const own = signed()
  own.change(null)
  assert.equal(own.provenUntilMs, NEVER)
  const renewal = own.beginRenewal()
  assert.equal(own.provenUntilMs, NEVER, 'the database may not have heard of it')
  own.endRenewal(renewal)
  assert.equal(own.provenUntilMs, ALWAYS)
})

test('a proof of the next session says nothing of leases that stand under the last one', () => {
  const own = signed('a')
  own.change('b', 9_000)
  assert.equal(own.provenUntilMs, NEVER)
  const renewal = own.beginRenewal()
  assert.equal(own.provenUntilMs, NEVER)
  own.endRenewal(renewal)
  assert.equal(own.provenUntilMs, 10_000)
})

test('a renewal without an answer leaves what may be in force in force', () => {
  const own = signed('a')
  own.change(null)
  own.beginRenewal()
  own.change('b', 9_000)
  own.endRenewal(own.beginRenewal())
  assert.equal(own.provenUntilMs, 10_000)
  assert.deepEqual(own.current, { turn: 3, name: 'b' }, 'turns rise, so that a late one is known')
})

test('the leases of a sign are taken some time after it was seen to have ended, and not before', () => {
  const others = new OthersSigns(POLICY)
  others.read([
    { id: 'p', name: 'a', shards: [1, 2] },
    { id: 'q', name: 'b', shards: [3] },
  ])
  assert.deepEqual(others.watched, ['a', 'b'])
  others.end(['a'], 7_000)
  others.end(['a'], 9_000)
  assert.deepEqual(others.watched, ['b'])
  assert.equal(others.nextGoneAtMs(7_000), 8_300)
  assert.deepEqual(others.gone(8_299), [])
  assert.deepEqual(others.gone(8_300), [{ id: 'p', name: 'a', shards: [1, 2], endedAtMs: 7_000 }])
  assert.equal(others.nextGoneAtMs(8_300), ALWAYS)
})

test('a process that has another sign by now is not gone', () => {
  const others = new OthersSigns(POLICY)
  others.read([{ id: 'p', name: 'a', shards: [1] }])
  others.end(['a'], 0)
  others.read([{ id: 'p', name: 'b', shards: [1] }])
  assert.deepEqual(others.gone(1e9), [])
  assert.deepEqual(others.watched, ['b'])
})

test('whoever takes a lease, its owner has stopped to begin before', () => {
  // All on one true clock: the session ends at 0, was asked whenever, and is seen to have ended whenever later.
  const { sign } = LEASE_POLICY
  fc.assert(
    fc.property(fc.nat(10_000), fc.nat(5_000), (sentBeforeMs, seenAfterMs) => {
      const own = new OwnSign(sign)
      own.change('a', -sentBeforeMs)
      own.endRenewal(own.beginRenewal())
      const others = new OthersSigns(sign)
      others.read([{ id: 'p', name: 'a', shards: [1] }])
      others.end(['a'], seenAfterMs)
      const takenAtMs = others.nextGoneAtMs(seenAfterMs)
      // A quarter is left for clocks that run unequally fast.
      assert.ok(takenAtMs >= own.provenUntilMs + sign.provenMs / 4)
      const overAtMs = seenAfterMs + aftermathMs(LEASE_POLICY)
      assert.ok(overAtMs > own.provenUntilMs + LEASE_POLICY.attemptMsMax)
    }),
  )
})
