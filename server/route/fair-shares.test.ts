import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FairShares } from './fair-shares.ts'

/** How many slots are given to these one after the other. */
function takeAll(slots: FairShares, ...keys: string[]): (() => void)[] {
  const taken: (() => void)[] = []
  for (;;) {
    const leave = slots.take(keys)
    if (leave === null) return taken
    taken.push(leave)
  }
}

test('one caller takes half of all, and others find the rest, a tenth each', () => {
  const slots = new FairShares(100)
  assert.equal(takeAll(slots, 'one').length, 50)
  for (const other of ['two', 'three', 'four', 'five', 'six']) {
    assert.equal(takeAll(slots, other).length, 10)
  }
  assert.equal(slots.taken, 100)
  assert.equal(slots.take(['seven']), null)
})

test('a credential has a share of its own, wherever it is used', () => {
  const slots = new FairShares(100)
  takeAll(slots, 'one')
  assert.equal(takeAll(slots, 'two', 'token').length, 10)
  assert.equal(takeAll(slots, 'three', 'token').length, 0)
  assert.equal(takeAll(slots, 'three', 'another').length, 10)
})

test('what is given back is free, once, and nothing is remembered of its caller', () => {
  const slots = new FairShares(10)
  const taken = takeAll(slots, 'one')
  for (const leave of [...taken, ...taken]) leave()
  assert.equal(slots.taken, 0)
  assert.equal(takeAll(slots, 'two').length, 5)
})

test('what is never refused is counted', () => {
  const slots = new FairShares(0)
  assert.equal(slots.take(['one']), null)
  const leave = slots.takeAnyway()
  assert.equal(slots.taken, 1)
  leave()
  assert.equal(slots.taken, 0)
})
