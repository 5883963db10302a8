import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CautiousClock } from './cautious-clock.ts'

/** A machine whose three clocks are moved by hand. */
function machine() {
  const clocks = { monotonicMs: 1_000, wallMs: 1_790_000_000_000, uptimeMs: 86_400_000 }
  const clock = new CautiousClock(() => clocks.monotonicMs, {
    wallMs: () => clocks.wallMs,
    uptimeMs: () => clocks.uptimeMs,
  })
  const pass = (ms: number) => {
    clocks.monotonicMs += ms
    clocks.wallMs += ms
    clocks.uptimeMs += ms
  }
  return { clock, clocks, pass }
}

test('it runs as the monotonic clock does, while the clocks agree', () => {
  const { clock, pass } = machine()
  assert.equal(clock.nowMs(), 1_000)
  for (let n = 0; n < 1_000; n++) {
    pass(7)
    clock.nowMs()
  }
  assert.equal(clock.nowMs(), 8_000)
})

test('regression: a machine that slept knows at its first look how much has passed, once', () => {
  const { clock, clocks, pass } = machine()
  pass(10)
  clock.nowMs()
  clocks.wallMs += 40_000
  clocks.uptimeMs += 40_000
  assert.equal(clock.nowMs(), 41_010)
  pass(1_000)
  assert.equal(clock.nowMs(), 42_010)
})

test('one witness is enough: the wall clock alone, or the uptime alone while the wall was set back', () => {
  const wall = machine()
  wall.clocks.wallMs += 3_600_000
  assert.equal(wall.clock.nowMs(), 3_601_000)
  const slept = machine()
  slept.clocks.wallMs -= 3_600_000
  slept.clocks.uptimeMs += 40_000
  slept.pass(20)
  assert.equal(slept.clock.nowMs(), 41_020)
})

test('a clock that is set back says nothing; what it gains afterwards does', () => {
  const { clock, clocks, pass } = machine()
  clocks.wallMs -= 60_000
  assert.equal(clock.nowMs(), 1_000)
  pass(100)
  clocks.wallMs += 30_000
  assert.equal(clock.nowMs(), 31_100)
})

test('what is slewed adds up and counts; what is coarse does not', () => {
  const { clock, clocks } = machine()
  // 500 ppm faster for 1,000 s, and 10 ms too coarse now and then.
  for (let second = 0; second < 1_000; second++) {
    clocks.monotonicMs += 1_000
    clocks.wallMs += 1_000.5
    clocks.uptimeMs += second % 2 === 0 ? 1_010 : 990
    clock.nowMs()
  }
  const aheadMs = clock.nowMs() - clocks.monotonicMs
  assert.ok(aheadMs >= 400 && aheadMs <= 500, `${aheadMs}`)
})

test('it is never behind its own past', () => {
  const { clock, clocks, pass } = machine()
  let last = clock.nowMs()
  for (const jumpMs of [50_000, -20_000, 90, -90, 5_000, -100_000, 400]) {
    clocks.wallMs += jumpMs
    pass(1)
    const now = clock.nowMs()
    assert.ok(now > last)
    last = now
  }
})

test('the machine’s own clocks can be read', () => {
  const clock = new CautiousClock()
  const before = clock.nowMs()
  assert.ok(clock.nowMs() >= before)
})
