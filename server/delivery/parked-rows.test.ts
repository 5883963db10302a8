import assert from 'node:assert/strict'
import { test } from 'node:test'
import { idOf } from '../../test/support/engine-parts.ts'
import { NIL_UUID } from '../core/uuid.ts'
import { ParkedRows } from './parked-rows.ts'

type Move = 'note' | 'beginRefill' | 'failRefill' | 'disown' | { endAt: string | null }

function after(...moves: Move[]): ParkedRows {
  const parked = new ParkedRows()
  for (const move of moves) {
    if (typeof move === 'object') parked.endRefill(move.endAt)
    else parked[move]()
  }
  return parked
}

const LATER = idOf(50)
const END: Move = { endAt: null }
const MORE: Move = { endAt: LATER }

test('a scan reads page after page, and ends with the last', () => {
  assert.deepEqual(after().state, { is: 'none' })
  const known = { is: 'known', after: NIL_UUID, startsOver: false }
  assert.deepEqual(after('note').state, known)
  assert.deepEqual(after('note', 'note').state, known, 'what is read from the start misses nothing')
  assert.deepEqual(after('note', 'beginRefill').state, { ...known, is: 'refilling' })
  assert.deepEqual(after('note', 'beginRefill', MORE).state, { ...known, after: LATER })
  const last = after('note', 'beginRefill', MORE, 'beginRefill', END)
  assert.deepEqual(last.state, { is: 'none' })
})

test('what is parked during a scan makes it start over after its last page', () => {
  const scanning = after('note', 'beginRefill', 'note', MORE)
  assert.deepEqual(scanning.state, { is: 'known', after: LATER, startsOver: true })
  const over = after('note', 'beginRefill', MORE, 'note', 'beginRefill', END)
  assert.deepEqual(over.state, { is: 'known', after: NIL_UUID, startsOver: false })
  assert.deepEqual(after('note', 'beginRefill', 'note', END).state, over.state)
})

test('a refill that failed reads the same page again', () => {
  const failed = after('note', 'beginRefill', MORE, 'beginRefill', 'failRefill')
  assert.deepEqual(failed.state, { is: 'known', after: LATER, startsOver: false })
})

test('a lost shard is forgotten, and so is the end of a refill that was reading for it', () => {
  assert.deepEqual(after('disown').state, { is: 'none' })
  assert.deepEqual(after('note', 'disown').state, { is: 'none' })
  const disowned = after('note', 'beginRefill', 'disown')
  assert.deepEqual(
    [disowned.state.is, disowned.after, disowned.areKnown],
    ['disowned', NIL_UUID, false],
  )
  for (const end of [END, MORE, 'failRefill'] as const) {
    assert.deepEqual(after('note', 'beginRefill', 'disown', end).state, { is: 'none' })
  }
})

test('a shard that comes back before the refill has ended is scanned from the start again', () => {
  const back = after('note', 'beginRefill', 'disown', 'note')
  assert.deepEqual(back.state, { is: 'refilling', after: NIL_UUID, startsOver: true })
  back.endRefill(null)
  assert.equal(back.state.is, 'known')
})

test('a lane works off a backlog while rows are known, not before and not after', () => {
  assert.equal(after().areKnown, false)
  assert.equal(after('note').areKnown, true)
  assert.equal(after('note', 'beginRefill').areKnown, true)
})

for (const [name, moves] of [
  ['a refill begins without known rows', ['beginRefill']],
  ['a second refill begins', ['note', 'beginRefill', 'beginRefill']],
  ['a refill ends that never began', ['note', END]],
  ['a refill fails that never began', ['note', 'failRefill']],
] as [string, Move[]][]) {
  test(`${name}: a mistake of ours, and it throws`, () => {
    assert.throws(() => after(...moves), Error)
  })
}
