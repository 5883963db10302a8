import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { aftermathMs, LEASE_POLICY } from './lease.ts'
import { OthersSigns, OwnSign, type SignedProcess } from './session-signs.ts'

const POLICY = { beatEveryMs: 300, provenMs: 1_000, endedMs: 1_300 }
const NEVER = Number.NEGATIVE_INFINITY
const ALWAYS = Number.POSITIVE_INFINITY

const LONG_MS = aftermathMs(LEASE_POLICY)

function signedOne(
  id: string,
  name: string,
  shards: readonly number[],
  early: readonly number[] = [],
  endedForMs: number | null = null,
): SignedProcess {
  return { id, name, shards, early, endedForMs }
}

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
  others.read([signedOne('p', 'a', [1, 2]), signedOne('q', 'b', [3])], 6_900)
  assert.deepEqual(others.watched, ['a', 'b'])
  others.end(['a'], 7_000)
  others.end(['a'], 9_000)
  assert.deepEqual(others.watched, ['b'])
  assert.equal(others.nextGoneAtMs(LONG_MS, 7_000), 8_300)
  assert.deepEqual(others.gone(8_299), [])
  assert.deepEqual(others.gone(8_300), [{ ...signedOne('p', 'a', [1, 2]), endedAtMs: 7_000 }])
  assert.equal(others.nextGoneAtMs(LONG_MS, 8_300), 24_000)
  assert.equal(others.nextGoneAtMs(LONG_MS, 24_000), ALWAYS)
})

test('after the last attempt of its process all its leases are to be had, also those that it took early', () => {
  const others = new OthersSigns(POLICY)
  others.read([signedOne('p', 'a', [1], [2])], 6_900)
  others.end(['a'], 7_000)
  assert.deepEqual(others.heldByGoneFor(LONG_MS, 23_999), [])
  assert.deepEqual(others.heldByGoneFor(LONG_MS, 24_000), [1, 2])
  assert.deepEqual(
    others.ended(7_100.7),
    [{ id: 'p', name: 'a', forMs: 100 }],
    'not more than it is',
  )
})

test('who begins to watch goes on from what was known before; it has not seen the end itself', () => {
  const others = new OthersSigns(POLICY)
  others.read([signedOne('p', 'a', [1], [2], 9_000)], 50_000)
  assert.deepEqual(others.gone(1e9), [], 'its own sign may have ended before')
  assert.deepEqual(others.watched, ['a'])
  assert.equal(others.nextGoneAtMs(LONG_MS, 50_000), 58_000)
  others.end(['a'], 50_100)
  assert.deepEqual(others.heldByGoneFor(LONG_MS, 57_999), [])
  assert.deepEqual(others.heldByGoneFor(LONG_MS, 58_000), [1, 2])
  others.read([signedOne('p', 'a', [1], [2], 10_000)], 53_000)
  assert.deepEqual(others.ended(54_000), [{ id: 'p', name: 'a', forMs: 13_000 }], 'the longest')
  others.read([signedOne('p', 'a', [], [], 12_000)], 55_000)
  assert.deepEqual(others.ended(56_000), [], 'nobody waits for it any more')
  others.read([signedOne('p', 'b', [1])], 57_000)
  assert.deepEqual(others.heldByGoneFor(LONG_MS, 1e9), [], 'it has another sign by now')
})

test('however many have died, holders of leases are asked about first, and then all of them', () => {
  const others = new OthersSigns(POLICY)
  const dead = Array.from({ length: 200 }, (_, n) => signedOne(`${n}`, `s${n}`, []))
  others.read([...dead, signedOne('p', 'a', [1]), signedOne('q', 'b', [], [2])], 0)
  assert.deepEqual(others.watched.slice(0, 2), ['a', 'b'])
  const asked = new Set<string>()
  while (others.watched.length > 2) {
    assert.equal(others.watched.length <= 66, true)
    const idle = others.watched.slice(2)
    for (const name of idle) asked.add(name)
    others.end(idle, 0)
  }
  assert.equal(asked.size, 200)
})

test('a process that has another sign by now is not gone', () => {
  const others = new OthersSigns(POLICY)
  others.read([signedOne('p', 'a', [1])], 0)
  others.end(['a'], 0)
  others.read([signedOne('p', 'b', [1])], 0)
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
      others.read([signedOne('p', 'a', [1])], 0)
      others.end(['a'], seenAfterMs)
      const takenAtMs = others.nextGoneAtMs(LONG_MS, seenAfterMs)
      // A quarter is left for clocks that run unequally fast.
      assert.ok(takenAtMs >= own.provenUntilMs + sign.provenMs / 4)
      const overAtMs = seenAfterMs + aftermathMs(LEASE_POLICY)
      assert.ok(overAtMs > own.provenUntilMs + LEASE_POLICY.attemptMsMax)
    }),
  )
})
