import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { DURATION_BUCKETS, durationBucket, percentileMs } from './health.ts'

function histogram(durations: readonly number[]): number[] {
  const counts: number[] = new Array(DURATION_BUCKETS).fill(0)
  for (const ms of durations) {
    const bucket = durationBucket(ms)
    counts[bucket] = (counts[bucket] ?? 0) + 1
  }
  return counts
}

test('every duration has a bucket, and a longer one never a lower bucket', () => {
  assert.equal(durationBucket(0), 0)
  assert.equal(durationBucket(1), 0)
  assert.equal(durationBucket(2), 2)
  assert.equal(durationBucket(1e9), DURATION_BUCKETS - 1)
  const ms = fc.double({ min: 0, max: 60_000, noNaN: true })
  fc.assert(
    fc.property(ms, ms, (one, other) => {
      const [shorter, longer] = [Math.min(one, other), Math.max(one, other)]
      assert.ok(durationBucket(shorter) <= durationBucket(longer))
      assert.ok(Number.isInteger(durationBucket(one)))
    }),
  )
})

test('a percentile is right within 41 %', () => {
  const durations = fc.array(fc.integer({ min: 1, max: 15_000 }), { minLength: 1, maxLength: 200 })
  fc.assert(
    fc.property(durations, fc.constantFrom(0.5, 0.95, 0.99), (drawn, share) => {
      const sorted = [...drawn].sort((a, b) => a - b)
      const exact = sorted[Math.ceil(sorted.length * share) - 1] as number
      const estimated = percentileMs(histogram(drawn), share) as number
      assert.ok(estimated >= exact - 1 && estimated <= exact * 1.42 + 1, `${exact} ${estimated}`)
    }),
  )
})

test('without attempts there is no percentile', () => {
  assert.equal(percentileMs([], 0.95), null)
  assert.equal(percentileMs(histogram([]), 0.95), null)
  assert.equal(percentileMs(histogram([15_000]), 1), 16_384)
})
