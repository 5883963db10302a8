import assert from 'node:assert/strict'
import { test } from 'node:test'
import { canMove, furtherOf, type JudgedMark, judgeMark } from './sealing-mark.ts'

const WRONG: JudgedMark = { binding: 'done', isWrong: true }

test('an authentic word is taken at its word', () => {
  for (const binding of ['begun', 'done'] as const) {
    for (const hasBound of [true, false]) {
      const judged = judgeMark({ binding, isAuthentic: true }, hasBound)
      assert.deepEqual(judged, { binding, isWrong: false })
    }
  }
})

test('where nothing is bound yet, a new database begins, an older one waits, and a forged end is none', () => {
  const judge = (binding: 'none' | 'begun' | 'done') =>
    judgeMark({ binding, isAuthentic: false }, false)
  assert.deepEqual(judge('begun'), { binding: 'begun', isWrong: false })
  assert.deepEqual(judge('none'), { binding: 'none', isWrong: false })
  assert.deepEqual(judge('done'), { binding: 'none', isWrong: true })
})

test('where something is bound, a word that was taken away or forged loosens nothing', () => {
  for (const binding of ['none', 'begun', 'done'] as const) {
    assert.deepEqual(judgeMark({ binding, isAuthentic: false }, true), WRONG)
  }
  assert.deepEqual(judgeMark({ binding: 'none', isAuthentic: true }, true), WRONG)
})

test('nothing leads back, and a client moves only to where what it brings is opened', () => {
  assert.equal(furtherOf('done', 'none'), 'done')
  assert.equal(furtherOf('none', 'begun'), 'begun')
  assert.ok(canMove('none', 'none') && canMove('done', 'done') && canMove('done', 'begun'))
  assert.ok(!canMove('none', 'begun') && !canMove('begun', 'done') && !canMove('done', 'none'))
})
