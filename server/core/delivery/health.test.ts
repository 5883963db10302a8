import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  DURATION_BUCKETS,
  durationBucket,
  isNews,
  percentileMs,
  SHOWN_WELL,
  type ShownHealth,
} from './health.ts'

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
      assert.ok(estimated >= exact / 1.42 - 1, `${exact} ${estimated}`)
      assert.ok(estimated <= exact * 1.42 + 1, `${exact} ${estimated}`)
    }),
  )
})

test('without attempts there is no percentile', () => {
  assert.equal(percentileMs([], 0.95), null)
  assert.equal(percentileMs(histogram([]), 0.95), null)
  assert.equal(percentileMs(histogram([15_000]), 1), 15_000)
})

test('regression: a percentile is not the upper edge of its bucket, nor longer than an attempt may take', () => {
  // Evenly from 362 to 512 ms, which is one bucket.
  const even = Array.from({ length: 101 }, (_, n) => 363 + 1.49 * n)
  const estimated = percentileMs(histogram(even), 0.5) as number
  assert.ok(Math.abs(estimated - 437) <= 2, `${estimated}`)
  const slowest = percentileMs(histogram(Array(20).fill(15_020)), 0.95) as number
  assert.ok(slowest > 14_500 && slowest <= 15_000, `${slowest}`)
})

test('what only counts on is no news; what people see of a failure is', () => {
  const failing: ShownHealth = {
    ...SHOWN_WELL,
    isFailing: true,
    error: 'timeout',
  }
  const seen = (changes: object, of: ShownHealth = failing) => ({
    ...of,
    hasSucceeded: false,
    ...changes,
  })
  assert.equal(isNews(SHOWN_WELL, seen({ hasSucceeded: true }, SHOWN_WELL)), false)
  assert.equal(isNews(failing, seen({})), false)
  assert.equal(isNews(SHOWN_WELL, seen({})), true, 'it began to fail')
  assert.equal(isNews(failing, seen({ hasSucceeded: true }, SHOWN_WELL)), true, 'it is well again')
  assert.equal(isNews(failing, seen({ error: 'answered 500' })), true, 'with another error')
  assert.equal(isNews(failing, seen({ hasSucceeded: true })), true, 'since a later time')
  assert.equal(isNews(failing, seen({ circuit: 'OPEN' })), true, 'its circuit has opened')
  const down: ShownHealth = { ...failing, circuit: 'OPEN', nextProbeAtMs: 1_000 }
  assert.equal(isNews(down, seen({}, down)), false)
  assert.equal(isNews(down, seen({ nextProbeAtMs: 2_000 }, down)), true, 'it is probed later')
})

interface Kept {
  failingSinceMs: number | null
  error: string | null
  circuit: ShownHealth['circuit']
  nextProbeAtMs: number | null
}

test('a store that is written only with news shows the same as one that is written each time', () => {
  const attempt = fc.record({
    error: fc.constantFrom(null, null, 'timeout', 'answered 500'),
    circuit: fc.constantFrom<ShownHealth['circuit']>('CLOSED', 'CLOSED', 'OPEN', 'HALF_OPEN'),
    probeAtMs: fc.constantFrom(1, 2),
  })
  const polls = fc.array(fc.array(attempt, { minLength: 1, maxLength: 4 }), { maxLength: 20 })
  fc.assert(
    fc.property(polls, (all) => {
      const { error, circuit, nextProbeAtMs } = SHOWN_WELL
      const always: Kept = { failingSinceMs: null, error, circuit, nextProbeAtMs }
      const withNews: Kept = { ...always }
      let nowMs = 0
      let pending: Attempt[] = []
      for (const poll of all) {
        const made = poll.map((attempt) => ({ ...attempt, atMs: nowMs++ }))
        write(always, made)
        pending.push(...made)
        if (isNews(shownOf(withNews), seenIn(pending))) {
          write(withNews, pending)
          pending = []
        }
        assert.deepEqual(shownWithTime(withNews), shownWithTime(always))
      }
    }),
  )
})

interface Attempt {
  error: string | null
  circuit: ShownHealth['circuit']
  probeAtMs: number
  atMs: number
}

function failingIn(attempts: readonly Attempt[]): readonly Attempt[] {
  return attempts.slice(attempts.findLastIndex(({ error }) => error === null) + 1)
}

function seenIn(attempts: readonly Attempt[]) {
  const failing = failingIn(attempts)
  const { circuit = 'CLOSED', probeAtMs = 0 } = attempts.at(-1) ?? {}
  return {
    isFailing: failing.length > 0,
    error: failing.at(-1)?.error ?? null,
    circuit,
    nextProbeAtMs: circuit === 'CLOSED' ? null : probeAtMs,
    hasSucceeded: failing.length < attempts.length,
  }
}

/** As store/endpoints/endpoint-health writes. */
function write(kept: Kept, attempts: readonly Attempt[]): void {
  const [first] = failingIn(attempts)
  const { error, circuit, nextProbeAtMs, hasSucceeded } = seenIn(attempts)
  if (first === undefined) kept.failingSinceMs = null
  else if (hasSucceeded) kept.failingSinceMs = first.atMs
  else kept.failingSinceMs ??= first.atMs
  kept.error = error
  kept.circuit = circuit
  kept.nextProbeAtMs = nextProbeAtMs
}

function shownOf({ failingSinceMs, ...kept }: Kept): ShownHealth {
  return { isFailing: failingSinceMs !== null, ...kept }
}

function shownWithTime(kept: Kept) {
  return { ...shownOf(kept), failingSinceMs: kept.failingSinceMs }
}
