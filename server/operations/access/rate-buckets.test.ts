import assert from 'node:assert/strict'
import test from 'node:test'
import { RateBuckets } from './rate-buckets.ts'

function create(options: { burst: number; perSecond: number; keysMax?: number }) {
  const clock = { ms: 0 }
  const buckets = new RateBuckets({ keysMax: 10, ...options, monotonicMs: () => clock.ms })
  return { buckets, clock }
}

test('a burst passes, then a steady trickle', () => {
  const { buckets, clock } = create({ burst: 3, perSecond: 0.5 })
  for (let at = 0; at < 3; at++) {
    assert.equal(buckets.waitSeconds('a'), 0)
    buckets.take('a')
  }
  assert.equal(buckets.waitSeconds('a'), 2)
  assert.equal(buckets.waitSeconds('b'), 0)
  clock.ms = 1_999
  assert.equal(buckets.waitSeconds('a'), 1)
  clock.ms = 2_000
  assert.equal(buckets.waitSeconds('a'), 0)
})

test('a full bucket does not grow, and an empty one does not go below empty', () => {
  const { buckets, clock } = create({ burst: 2, perSecond: 1 })
  for (let at = 0; at < 50; at++) buckets.take('a')
  assert.equal(buckets.waitSeconds('a'), 1)
  clock.ms = 3_600_000
  buckets.take('a')
  buckets.take('a')
  assert.equal(buckets.waitSeconds('a'), 1)
})

test('memory is bounded: the key touched longest ago goes first', () => {
  const { buckets } = create({ burst: 1, perSecond: 0.001, keysMax: 2 })
  for (const key of ['a', 'b', 'a', 'c']) buckets.take(key)
  assert.equal(buckets.size, 2)
  assert.ok(buckets.waitSeconds('a') > 0)
  assert.equal(buckets.waitSeconds('b'), 0)
})

test('taking and asking in one: 0 and a token less, or the wait and nothing taken', () => {
  const { buckets, clock } = create({ burst: 2, perSecond: 1 })
  assert.deepEqual(
    [1, 2, 3, 4].map(() => buckets.takeOrWait('a')),
    [0, 0, 1, 1],
  )
  clock.ms = 1_000
  assert.deepEqual(
    [1, 2].map(() => buckets.takeOrWait('a')),
    [0, 1],
  )
  assert.equal(buckets.takeOrWait('b'), 0)
})

test('the order of last use holds when one key is taken many times in a row', () => {
  const { buckets } = create({ burst: 5, perSecond: 0.001, keysMax: 2 })
  for (const key of ['a', 'b', 'b', 'a', 'a', 'c']) buckets.take(key)
  assert.equal(buckets.size, 2)
  for (let at = 0; at < 2; at++) assert.equal(buckets.takeOrWait('a'), 0)
  assert.ok(buckets.takeOrWait('a') > 0, 'a was kept, with three taken')
})

test('what is given back was never taken, and a full bucket needs no memory', () => {
  const { buckets, clock } = create({ burst: 2, perSecond: 1 })
  buckets.take('a')
  buckets.take('a')
  assert.equal(buckets.waitSeconds('a'), 1)
  buckets.giveBack('a')
  assert.equal(buckets.takeOrWait('a'), 0)
  assert.equal(buckets.takeOrWait('a'), 1)
  clock.ms = 1_500
  buckets.giveBack('a')
  assert.equal(buckets.size, 0)
  buckets.giveBack('unknown')
  for (let at = 0; at < 2; at++) assert.equal(buckets.takeOrWait('a'), 0)
  assert.equal(buckets.takeOrWait('a'), 1)
})
