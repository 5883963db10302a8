// What counts as a number on a command line, and what is refused.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toCount, toSeconds, toWhole } from './number-arguments.ts'

const NO_NUMBERS = ['', 'x', '1x', '-1', '1e3', ' 1', '0x10', 'NaN', 'Infinity', '1'.repeat(20)]

test('what is no number is refused, with what to give', () => {
  for (const text of NO_NUMBERS) {
    assert.throws(() => toCount('--draw', text), {
      message: `--draw takes a whole number from 1 on, not “${text}”`,
    })
    assert.throws(() => toWhole('--seed', text), /--seed takes a whole number from 0 on/)
    assert.throws(() => toSeconds('--seconds', text), /--seconds takes a number above 0/)
  }
})

test('a count begins at 1, a seed at 0, and seconds may be a part of one', () => {
  assert.deepEqual(
    [toCount('n', '1'), toWhole('n', '0'), toWhole('n', '700000099')],
    [1, 0, 700000099],
  )
  assert.deepEqual([toSeconds('n', '0.3'), toSeconds('n', '90')], [0.3, 90])
  for (const text of ['0', '1.5']) assert.throws(() => toCount('n', text))
  assert.throws(() => toWhole('n', '1.5'))
  for (const text of ['0', '0.0', '.5', '1.']) assert.throws(() => toSeconds('n', text))
})
