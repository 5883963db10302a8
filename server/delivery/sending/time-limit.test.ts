import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { TimeLimit } from './time-limit.ts'

/** A clock and Node's timers, which `advance` moves together. */
function startClock(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const clock = {
    nowMs: 1_000_003.25,
    advance(ms: number) {
      for (let passed = 0; passed < ms; passed += 1) {
        clock.nowMs += 1
        t.mock.timers.tick(1)
      }
    },
  }
  return clock
}

function limitOn(clock: { nowMs: number }) {
  const over: number[] = []
  const limit = new TimeLimit(
    () => clock.nowMs,
    () => over.push(clock.nowMs),
  )
  return { limit, over }
}

test('a limit is over once, never early and at most 2 ms late', (t) => {
  const clock = startClock(t)
  const startMs = clock.nowMs
  for (const waitMs of [-5, 0, 0.5, 1, 49.9, 700, 2_000, 15_000]) {
    const { limit, over } = limitOn(clock)
    const setAtMs = clock.nowMs
    limit.set(setAtMs + waitMs)
    clock.advance(20_000)
    const [overAtMs = Number.NaN] = over
    assert.equal(over.length, 1)
    assert.ok(overAtMs >= setAtMs + waitMs, `${waitMs}: early`)
    assert.ok(overAtMs <= setAtMs + Math.max(waitMs, 0) + 2, `${waitMs}: ${overAtMs - setAtMs}`)
  }
  assert.ok(clock.nowMs > startMs)
})

test('a timer that fires early waits for the rest', (t) => {
  const clock = startClock(t)
  const { limit, over } = limitOn(clock)
  const endsAtMs = clock.nowMs + 300
  limit.set(endsAtMs)
  // The loop was busy for 120 ms before the limit was set: by its own count the time is over.
  t.mock.timers.tick(180)
  clock.nowMs += 180
  t.mock.timers.tick(120)
  assert.deepEqual(over, [])
  clock.advance(119)
  assert.deepEqual(over, [])
  clock.advance(2)
  assert.equal(over.length, 1)
})

test('a limit that is cleared is never over, and clearing it twice is harmless', (t) => {
  const clock = startClock(t)
  const { limit, over } = limitOn(clock)
  limit.clear()
  limit.set(clock.nowMs + 100)
  clock.advance(99)
  limit.clear()
  limit.clear()
  clock.advance(300)
  assert.deepEqual(over, [])
})

test('a limit that is moved, forward or back, is over at its new time only', (t) => {
  const clock = startClock(t)
  for (const [firstMs, thenMs] of [
    [10_000, 200],
    [200, 10_000],
  ] as const) {
    const { limit, over } = limitOn(clock)
    const setAtMs = clock.nowMs
    limit.set(setAtMs + firstMs)
    limit.set(setAtMs + thenMs)
    clock.advance(20_000)
    assert.equal(over.length, 1)
    assert.ok(Math.abs((over[0] ?? 0) - setAtMs - thenMs) <= 2)
  }
})

test('after a stall of minutes it is over at the first look', (t) => {
  const clock = startClock(t)
  const { limit, over } = limitOn(clock)
  limit.set(clock.nowMs + 15_000)
  clock.nowMs += 300_000
  t.mock.timers.tick(15_000)
  assert.deepEqual(over, [clock.nowMs])
})

test('what is called when a limit is over may set it again', (t) => {
  const clock = startClock(t)
  let rounds = 0
  const limit = new TimeLimit(
    () => clock.nowMs,
    () => {
      rounds += 1
      if (rounds < 3) limit.set(clock.nowMs)
    },
  )
  limit.set(clock.nowMs + 10)
  clock.advance(100)
  assert.equal(rounds, 3)
})
