import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { afterSlowdown, narrow, rampUp, WINDOW_START, type Window, widen } from './window.ts'

/** Every attempt that the window allows succeeds. */
function fill(window: Window, sizeMax = 1_000): Window {
  let next = window
  for (let n = Math.floor(window.size); n > 0; n--) next = widen(next, sizeMax)
  return next
}

function sizes(window: Window, count: number): readonly number[] {
  const sizes = [Math.floor(window.size)]
  for (let next = window; sizes.length <= count; ) {
    next = fill(next)
    sizes.push(Math.floor(next.size))
  }
  return sizes
}

test('it starts with two and doubles with each full window of successes, up to the limit', () => {
  assert.deepEqual(sizes(WINDOW_START, 5), [2, 4, 8, 16, 32, 64])
  assert.equal(fill({ ...WINDOW_START, size: 60 }, 64).size, 64)
})

test('it halves when the endpoint fails, but at most once a second: many fail together', () => {
  const wide = { ...WINDOW_START, size: 64 }
  const once = narrow(wide, 5_000)
  assert.equal(once.size, 32)
  assert.equal(narrow(once, 5_999), once)
  assert.equal(narrow(once, 6_000).size, 16)
})

test('above what was safe before it grows by about one with each full window', () => {
  const halved = narrow({ ...WINDOW_START, size: 16 }, 0)
  assert.deepEqual(sizes(halved, 3), [8, 8, 9, 10])
})

test('after a circuit has closed: one, two, four, up to where it was safe', () => {
  const before = narrow({ ...WINDOW_START, size: 16 }, 0)
  assert.deepEqual(sizes(rampUp(before), 5), [1, 2, 4, 8, 8, 9])
})

test('it stops growing while answers are slower, and then grows by one with each full window', () => {
  const held = afterSlowdown({ ...WINDOW_START, size: 16 }, 'slower', true)
  assert.deepEqual(sizes(held, 3), [16, 16, 16, 16])
  const released = afterSlowdown(held, 'none', true)
  assert.deepEqual(sizes(released, 3), [16, 16, 17, 18])
  assert.equal(
    afterSlowdown(released, 'none', true),
    released,
    'nothing is made where nothing changes',
  )
})

test('under pressure a lane with a backlog eases off, down to four; one with fresh work only stops', () => {
  let window: Window = { ...WINDOW_START, size: 64 }
  assert.equal(afterSlowdown(window, 'pressed', false).size, 64)
  const sizes: number[] = []
  for (let n = 0; n < 12; n++) {
    window = afterSlowdown(window, 'pressed', true)
    sizes.push(Math.floor(window.size))
  }
  assert.deepEqual(sizes, [48, 36, 27, 20, 15, 11, 8, 6, 4, 4, 4, 4])
  assert.equal(afterSlowdown({ ...WINDOW_START, size: 2 }, 'pressed', true).size, 2)
})

test('a probe that closes the circuit lets a window that was held grow again', () => {
  const held = afterSlowdown({ ...WINDOW_START, size: 16 }, 'pressed', false)
  assert.deepEqual(sizes(rampUp(held), 3), [1, 2, 4, 8])
})

test('law: it stays between one and the limit, and always lets one go', () => {
  const slower = (window: Window) => afterSlowdown(window, 'slower', true)
  const pressed = (window: Window) => afterSlowdown(window, 'pressed', true)
  const atEase = (window: Window) => afterSlowdown(window, 'none', true)
  const steps = fc.array(
    fc.tuple(
      fc.nat(3_000),
      fc.constantFrom<(window: Window, given: number) => Window>(
        ...[widen, narrow, rampUp, slower, pressed, atEase],
      ),
    ),
  )
  fc.assert(
    fc.property(steps, fc.integer({ min: 2, max: 100 }), (happened, sizeMax) => {
      let nowMs = 0
      let window: Window = WINDOW_START
      for (const [waitMs, step] of happened) {
        nowMs += waitMs
        window = step(window, step === widen ? sizeMax : nowMs)
        assert.ok(window.size >= 1 && window.size <= sizeMax)
      }
    }),
  )
})
