import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { TimerWheel, WheelEntry } from './timer-wheel.ts'

const TICK_MS = 50

class Alarm extends WheelEntry {
  firedAtMs: number | null = null
  onFire: () => void = () => {}

  override onDue(): void {
    this.firedAtMs = clock.nowMs
    this.onFire()
  }
}

const clock = { nowMs: 0 }

function startWheel(t: TestContext, nowMs = 1_000_003): TimerWheel {
  clock.nowMs = nowMs
  t.mock.timers.enable({ apis: ['setInterval'] })
  return new TimerWheel(() => clock.nowMs, TICK_MS)
}

function advance(t: TestContext, ms: number): void {
  for (let passed = 0; passed < ms; passed += TICK_MS) {
    clock.nowMs += TICK_MS
    t.mock.timers.tick(TICK_MS)
  }
}

test('an entry fires once, never early and at most two ticks late', (t) => {
  const wheel = startWheel(t)
  const startMs = clock.nowMs
  const waits = [0, 1, 49, 50, 51, 700, 5_000, 15_000, 25_599, 25_600, 60_000]
  const alarms = waits.map((waitMs) => ({ waitMs, alarm: new Alarm() }))
  for (const { waitMs, alarm } of alarms) wheel.set(alarm, startMs + waitMs)
  assert.equal(wheel.count, waits.length)
  advance(t, 61_000)
  for (const { waitMs, alarm } of alarms) {
    const afterMs = (alarm.firedAtMs ?? Number.NaN) - startMs
    assert.ok(afterMs >= waitMs && afterMs <= waitMs + 2 * TICK_MS, `${waitMs}: ${afterMs}`)
  }
  assert.equal(wheel.count, 0)
})

test('an entry taken out does not fire, and taking it out twice is harmless', (t) => {
  const wheel = startWheel(t)
  const [first, second] = [new Alarm(), new Alarm()]
  wheel.set(first, clock.nowMs + 100)
  wheel.set(second, clock.nowMs + 100)
  wheel.clear(first)
  wheel.clear(first)
  advance(t, 300)
  assert.equal(first.firedAtMs, null)
  assert.notEqual(second.firedAtMs, null)
})

test('an entry moved fires at its new time only', (t) => {
  const wheel = startWheel(t)
  const alarm = new Alarm()
  const startMs = clock.nowMs
  wheel.set(alarm, startMs + 10_000)
  wheel.set(alarm, startMs + 200)
  assert.equal(wheel.count, 1)
  advance(t, 400)
  assert.ok((alarm.firedAtMs ?? 0) <= startMs + 300)
})

test('after a stall of minutes everything due fires in one tick', (t) => {
  const wheel = startWheel(t)
  const alarms = [100, 5_000, 20_000, 40_000].map((waitMs) => {
    const alarm = new Alarm()
    wheel.set(alarm, clock.nowMs + waitMs)
    return alarm
  })
  clock.nowMs += 300_000
  t.mock.timers.tick(TICK_MS)
  for (const alarm of alarms) assert.equal(alarm.firedAtMs, clock.nowMs)
})

test('what fires may clear its neighbour in the same slot, or set itself again', (t) => {
  const wheel = startWheel(t)
  const [first, second, again] = [new Alarm(), new Alarm(), new Alarm()]
  for (const alarm of [first, second, again]) wheel.set(alarm, clock.nowMs + 100)
  let rounds = 0
  first.onFire = () => wheel.clear(second)
  again.onFire = () => {
    rounds += 1
    if (rounds < 3) wheel.set(again, clock.nowMs)
  }
  advance(t, 400)
  assert.equal(second.firedAtMs, null)
  assert.equal(rounds, 3)
})

test('an empty wheel stops its timer, and a later entry starts it again', (t) => {
  const wheel = startWheel(t)
  wheel.set(new Alarm(), clock.nowMs + 10)
  advance(t, 60_000)
  const late = new Alarm()
  wheel.set(late, clock.nowMs + 10)
  advance(t, 200)
  assert.notEqual(late.firedAtMs, null)
})
