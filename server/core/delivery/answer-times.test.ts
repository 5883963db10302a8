import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { afterFullWindow, isOutdated, NEVER_MEASURED, slowdownOf } from './answer-times.ts'

const measured = (usualMs: number) => ({ usualMs, measuredAtMs: 0 })

test('answers that take more than twice as long are slow, but not for a few milliseconds', () => {
  const cases = [
    [100, 100, 'none'],
    [100, 205, 'none'],
    [100, 206, 'slower'],
    [100, 211, 'pressed'],
    [1, 7, 'none'],
    [1, 8, 'slower'],
    [1, 13, 'pressed'],
  ] as const
  for (const [usualMs, averageMs, slowdown] of cases) {
    assert.equal(slowdownOf(measured(usualMs), averageMs), slowdown, `${usualMs}, ${averageMs}`)
  }
})

test('before anything was measured nothing is slow', () => {
  assert.equal(slowdownOf(NEVER_MEASURED, 9_000), 'none')
})

test('a measure is outdated after a minute, and only where answers have slowed down', () => {
  assert.equal(isOutdated(measured(10), 'pressed', 59_999), false)
  assert.equal(isOutdated(measured(10), 'slower', 60_000), true)
  assert.equal(isOutdated(measured(10), 'none', 1e9), false)
})

test('law: the quickest average becomes the usual, is never slow, and a longer one is never better', () => {
  const ms = fc.integer({ min: 0, max: 5_000 })
  const order = ['none', 'slower', 'pressed']
  fc.assert(
    fc.property(ms, fc.array(ms), ms, ms, (first, averages, one, other) => {
      const times = averages.reduce(afterFullWindow, measured(first))
      assert.equal(times.usualMs, Math.min(first, ...averages))
      assert.equal(slowdownOf(times, times.usualMs), 'none')
      const rank = (averageMs: number) => order.indexOf(slowdownOf(times, averageMs))
      assert.ok(rank(Math.min(one, other)) <= rank(Math.max(one, other)))
    }),
  )
})
