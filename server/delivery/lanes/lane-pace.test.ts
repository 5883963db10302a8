// A lane that works off a backlog beside fresh work, on virtual time: one queue that all of it goes through, as the
// one processor of a small machine is.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { circuitPolicy } from '../../core/delivery/circuit.ts'
import { LanePace } from './lane-pace.ts'

const IN_FLIGHT_MAX = 64
const POLICY = { inFlightMax: IN_FLIGHT_MAX, ratePerSecond: null }
const SECONDS = 20
/** Long enough for the measure of what is usual to be taken again, under load. */
const LONG_SECONDS = 130
/** By then a window has found its size: it grows past it once, and eases off again. */
const FOUND_MS = 2_000

interface Machine {
  perSecond: number
  freshPerSecond: number
  /** What an answer takes besides the queue. */
  networkMs: number
}

/**
 * What becomes of fresh attempts, those from `sinceMs` on, while a backlog drains; without `pace` it keeps all that may
 * be in flight.
 */
function drain(machine: Machine, pace: LanePace | null, seconds = SECONDS, sinceMs = 0) {
  const { perSecond, freshPerSecond, networkMs } = machine
  const workMs = 1_000 / perSecond
  const freshMs: number[] = []
  /** Ends of the backlog's attempts, the earliest first. */
  const underWay: { startedAtMs: number; endsAtMs: number }[] = []
  let freeAtMs = 0
  let drained = 0
  let nextFreshAtMs = 0
  const begin = (nowMs: number) => {
    freeAtMs = Math.max(freeAtMs, nowMs) + workMs
    return freeAtMs + networkMs
  }
  for (let nowMs = 0; nowMs < seconds * 1_000; nowMs += 0.25) {
    for (; nextFreshAtMs <= nowMs; nextFreshAtMs += 1_000 / freshPerSecond) {
      const tookMs = begin(nextFreshAtMs) - nextFreshAtMs
      if (nextFreshAtMs >= sinceMs) freshMs.push(tookMs)
    }
    for (let [first] = underWay; first && first.endsAtMs <= nowMs; [first] = underWay) {
      underWay.shift()
      drained++
      const verdict = { isSuccess: true, durationMs: nowMs - first.startedAtMs, bodyBytes: 0 }
      pace?.answered(verdict, POLICY, circuitPolicy(), nowMs)
    }
    const mayStart = () =>
      pace === null ? underWay.length < IN_FLIGHT_MAX : pace.startsAtMs(nowMs) <= nowMs
    while (mayStart()) {
      pace?.started(POLICY, nowMs, true)
      underWay.push({ startedAtMs: nowMs, endsAtMs: begin(nowMs) })
    }
  }
  freshMs.sort((one, other) => one - other)
  return { p99Ms: freshMs[Math.floor(freshMs.length * 0.99)] as number, drained }
}

test('a backlog that takes the whole machine leaves fresh work its time, and drains as fast', () => {
  const machine = { perSecond: 1_500, freshPerSecond: 300, networkMs: 1 }
  const full = drain(machine, null)
  const eased = drain(machine, new LanePace())
  assert.ok(full.p99Ms > 40, `${full.p99Ms} ms with a full window`)
  assert.ok(eased.p99Ms < full.p99Ms / 2.5, `${eased.p99Ms} ms`)
  assert.ok(eased.drained > full.drained * 0.95, `${eased.drained} of ${full.drained}`)
})

test('law: fresh work waits for some milliseconds of the backlog, whatever the machine can do', () => {
  const machine = fc.record({
    perSecond: fc.integer({ min: 600, max: 4_000 }),
    freshPerSecond: fc.integer({ min: 10, max: 300 }),
    networkMs: fc.integer({ min: 0, max: 200 }),
  })
  fc.assert(
    fc.property(machine, (given) => {
      const { p99Ms, drained } = drain(given, new LanePace(), SECONDS, FOUND_MS)
      const aloneMs = given.networkMs + 1_000 / given.perSecond
      assert.ok(p99Ms < 2 * aloneMs + 35, `${p99Ms} ms, ${aloneMs} ms alone`)
      assert.ok(drained > 0)
    }),
    // The first is one whose window grows furthest past its size.
    { numRuns: 15, examples: [[{ perSecond: 616, freshPerSecond: 259, networkMs: 41 }]] },
  )
})

test('a backlog that takes minutes presses fresh work no more at its end', () => {
  const machine = { perSecond: 800, freshPerSecond: 50, networkMs: 1 }
  const { p99Ms } = drain(machine, new LanePace(), LONG_SECONDS)
  assert.ok(p99Ms < 25, `${p99Ms} ms`)
})

test('an endpoint that has become slower for good gets the whole window again', () => {
  const pace = new LanePace()
  const answerMs = (nowMs: number) => (nowMs < 10_000 ? 10 : 400)
  const underWay: number[] = []
  let most = 0
  for (let nowMs = 0; nowMs < 180_000; nowMs += 5) {
    while (
      underWay.length > 0 &&
      (underWay[0] as number) + answerMs(underWay[0] as number) <= nowMs
    ) {
      const durationMs = answerMs(underWay.shift() as number)
      pace.answered({ isSuccess: true, durationMs, bodyBytes: 0 }, POLICY, circuitPolicy(), nowMs)
    }
    for (; pace.startsAtMs(nowMs) <= nowMs; underWay.push(nowMs)) pace.started(POLICY, nowMs, true)
    if (nowMs > 170_000) most = Math.max(most, underWay.length)
  }
  assert.equal(most, IN_FLIGHT_MAX)
})

test('an endpoint that answers evenly gets the whole window, however slow it is', () => {
  const pace = new LanePace()
  for (let n = 0; n < 1_000; n++) {
    pace.started(POLICY, n * 10, false)
    // Uneven, as networks are; the average is the same whatever is in flight.
    const verdict = { isSuccess: true, durationMs: 50 + ((n * 37) % 100), bodyBytes: 0 }
    pace.answered(verdict, POLICY, circuitPolicy(), n * 10)
  }
  let started = 0
  for (; pace.startsAtMs(20_000) <= 20_000; started++) pace.started(POLICY, 20_000, false)
  assert.equal(started, IN_FLIGHT_MAX)
})
