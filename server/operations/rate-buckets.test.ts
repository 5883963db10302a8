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
