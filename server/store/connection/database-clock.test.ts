import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DatabaseClock } from './database-clock.ts'

/** A clock on a machine whose own clock is a day behind. */
function clockAt(monotonic: { ms: number }): DatabaseClock {
  return new DatabaseClock(
    () => 1_000_000 - 86_400_000,
    () => monotonic.ms,
  )
}

test("until the database has been asked, the machine's own clock has to do", () => {
  const monotonic = { ms: 50 }
  const clock = clockAt(monotonic)
  assert.equal(clock.isAnchored, false)
  assert.equal(clock.nowMs(), 1_000_000 - 86_400_000)
  monotonic.ms += 10
  assert.equal(clock.nowMs(), 1_000_010 - 86_400_000)
})

test("F10: then it is the database's time, taken as read half-way, plus the time since", () => {
  const monotonic = { ms: 50 }
  const clock = clockAt(monotonic)
  clock.adjust(2_000_000, 50, 70)
  assert.ok(clock.isAnchored)
  monotonic.ms = 100
  assert.equal(clock.nowMs(), 2_000_040)
  assert.equal(clock.monotonicMs(), 100)
})

test('a reading that took long says little and is passed over, unless those before took longer', () => {
  const monotonic = { ms: 0 }
  const clock = clockAt(monotonic)
  clock.adjust(2_000_000, 0, 10_000)
  assert.equal(clock.nowMs(), 1_995_000)
  clock.adjust(9_000_000, 0, 10_000)
  assert.equal(clock.nowMs(), 1_995_000)
  clock.adjust(9_000_000, 0, 9_000)
  assert.equal(clock.nowMs(), 8_995_500, 'less slow')
  clock.adjust(9_000_000, 0, 2_000)
  assert.equal(clock.nowMs(), 8_999_000)
  clock.adjust(7_000_000, 0, 2_001)
  assert.equal(clock.nowMs(), 8_999_000)
})

test('F11: a jump ahead is in doubt for ten minutes, the first reading against the machine’s own clock', () => {
  const monotonic = { ms: 0 }
  const clock = clockAt(monotonic)
  assert.equal(clock.hasJumped, false)
  assert.equal(clock.adjust(1_000_000, 0, 0), 86_400_000, 'the machine’s clock is a day late')
  assert.equal(clock.hasJumped, true)
  monotonic.ms = 600_000
  assert.equal(clock.hasJumped, false)
  assert.equal(clock.adjust(1_600_000 + 59_999, 600_000, 600_000), 0, 'no jump')
  assert.equal(clock.adjust(1_600_000, 600_000, 600_000), 0, 'back is no jump ahead')
  assert.equal(clock.hasJumped, false)
  assert.equal(clock.adjust(9_600_000, 600_000, 600_000), 8_000_000)
  assert.equal(clock.nowMs(), 9_600_000, 'the time is followed at once')
  monotonic.ms = 1_199_999
  assert.equal(clock.adjust(10_199_999, 1_199_999, 1_199_999), 0)
  assert.equal(clock.hasJumped, true)
  monotonic.ms = 1_200_000
  assert.equal(clock.hasJumped, false)
})
