// The sample of a commit is the same each time, of the size that is asked for, and over many commits it is everything.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { draw, drawNumber } from './sample.ts'

const ALL = Array.from({ length: 150 }, (_, number) => number)

test('one commit always draws the same, in the order of the list', () => {
  const drawn = draw(ALL, 20, 'mutants', 'abc')
  assert.deepEqual(draw(ALL, 20, 'mutants', 'abc'), drawn)
  assert.equal(drawn.length, 20)
  assert.deepEqual(
    drawn,
    drawn.toSorted((a, b) => a - b),
  )
  assert.notDeepEqual(draw(ALL, 20, 'mutants', 'abd'), drawn)
  assert.notDeepEqual(draw(ALL, 20, 'files', 'abc'), drawn)
})

test('over a hundred commits everything is drawn', () => {
  const drawn = new Set<number>()
  for (let commit = 0; commit < 100; commit++) {
    for (const one of draw(ALL, 20, 'mutants', `${commit}`)) drawn.add(one)
  }
  assert.equal(drawn.size, ALL.length)
})

test('more than there is draws all; a number stays below its limit', () => {
  assert.deepEqual(draw([1, 2, 3], 20, 'files', 'abc'), [1, 2, 3])
  for (let commit = 0; commit < 100; commit++) {
    const number = drawNumber(7, 'seeds', `${commit}`)
    assert.ok(Number.isInteger(number) && number >= 0 && number < 7)
  }
})
