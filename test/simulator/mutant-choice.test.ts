// Which mutants are hunted: all of them, or as many as are asked for, which the same sample draws again.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chooseMutants } from './mutant-choice.ts'
import { MUTANTS } from './mutant-table.ts'

const choose = (...args: string[]) => chooseMutants(args, () => 'abc')

test('without options all are hunted', () => {
  assert.deepEqual(choose(), { mutants: MUTANTS, seedsMax: 10_000, about: null })
})

test('a draw says its sample, and how to draw it again', () => {
  const { mutants, about } = choose('--draw', '5')
  assert.equal(mutants.length, 5)
  assert.match(about ?? '', /abc.*5 of.*PAYBELL_TEST_SAMPLE=abc npm run sim:mutants -- --draw 5$/)
  assert.deepEqual(choose('--draw', '5').mutants, mutants)
})

test('a part of a name chooses the mutants that have it', () => {
  const { mutants } = choose('--only', 'retry:', '--seeds', '7')
  assert.ok(mutants.length > 1 && mutants.every(({ name }) => name.includes('retry:')))
  assert.throws(() => choose('--only', 'no such name'), /no mutant has/)
})

test('what is not a number from 1 on is refused', () => {
  for (const option of ['--draw', '--seeds']) {
    for (const text of ['0', '-1', '1.5', 'x', '']) {
      assert.throws(() => choose(`${option}=${text}`), /takes a whole number from 1 on/)
    }
  }
})
