import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { DAY_MS, delayAfterMs, retryAfterMs, retryPolicy } from './backoff.ts'

const POLICY = retryPolicy()
const MIDDLE = () => 0.5

test('the delay doubles from 5 s to the cap of 6 h', () => {
  const seconds = [5, 10, 20, 40, 80, 160, 320, 640, 1_280, 2_560, 5_120, 10_240, 20_480, 21_600]
  for (const [index, expected] of seconds.entries()) {
    assert.equal(delayAfterMs(index + 1, POLICY, MIDDLE), expected * 1_000)
  }
  for (const attempt of [15, 60, 100, 10_000, Number.MAX_SAFE_INTEGER]) {
    assert.equal(delayAfterMs(attempt, POLICY, MIDDLE), 21_600_000, 'F25: finite for ever')
  }
})

test('jitter stays within 20 % on either side', () => {
  const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 10_000 }), random, (attempt, draw) => {
      const middle = delayAfterMs(attempt, POLICY, MIDDLE)
      const delay = delayAfterMs(attempt, POLICY, () => draw)
      assert.ok(delay >= middle * 0.8 - 1e-6 && delay <= middle * 1.2 + 1e-6)
    }),
  )
})

test('a time scale divides every duration and leaves the jitter', () => {
  const fast = retryPolicy(1_000)
  assert.equal(fast.runMs, (7 * DAY_MS) / 1_000)
  assert.equal(fast.jitter, POLICY.jitter)
  for (const attempt of [1, 5, 14, 40]) {
    const expected = delayAfterMs(attempt, POLICY, MIDDLE) / 1_000
    assert.equal(delayAfterMs(attempt, fast, MIDDLE), expected)
  }
})

const NOW_MS = Date.parse('2026-03-02T09:30:00Z')

test('Retry-After counts between the delay and twice the delay', () => {
  const delay = 20_000
  const cases: [string | undefined, number][] = [
    [undefined, 20_000],
    ['0', 20_000],
    ['20', 20_000],
    ['30', 30_000],
    ['40', 40_000],
    ['41', 40_000],
    [' 30 ', 30_000],
    ['1000000000000', 40_000],
    ['1e12', 20_000],
    ['-1', 20_000],
    ['NaN', 20_000],
    ['', 20_000],
    ['30.5', 20_000],
    ['soon', 20_000],
    ['Thu, 01 Jan 1970 00:00:00 GMT', 20_000],
    ['Fri, 01 Jan 2100 00:00:00 GMT', 40_000],
    [new Date(NOW_MS + 30_000).toUTCString(), 30_000],
    ['Mon, 99 Foo 2026 99:99:99 GMT', 20_000],
  ]
  for (const [header, expected] of cases) {
    assert.equal(retryAfterMs(header, delay, POLICY, NOW_MS), expected, header)
  }
})

test('F25: no Retry-After leads out of the range, or to what is not a number', () => {
  const header = fc.oneof(
    fc.string(),
    fc.bigInt().map(String),
    fc.double().map(String),
    fc.date({ noInvalidDate: true }).map((date) => date.toUTCString()),
  )
  const delay = fc.double({ min: 0.01, max: 26_000_000, noNaN: true })
  fc.assert(
    fc.property(header, delay, fc.constantFrom(1, 1_000, 100_000), (text, delayMs, scale) => {
      const waitMs = retryAfterMs(text, delayMs, retryPolicy(scale), NOW_MS)
      assert.ok(waitMs >= delayMs && waitMs <= 2 * delayMs, `${waitMs}`)
    }),
    { numRuns: 2_000 },
  )
})
