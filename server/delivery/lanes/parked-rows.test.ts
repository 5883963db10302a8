import assert from 'node:assert/strict'
import { test } from 'node:test'
import { idOf } from '../../../test/support/engine-parts.ts'
import { NIL_UUID } from '../../core/plain/uuid.ts'
import { ParkedRows } from './parked-rows.ts'

type Move = 'note' | 'beginRefill' | 'failRefill' | 'restart' | 'release' | { endAt: string | null }

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
  const parked = { is: 'parked', after: NIL_UUID, startsOver: false }
  assert.deepEqual(after('note').state, parked)
  assert.deepEqual(
    after('note', 'note').state,
    parked,
    'what is read from the start misses nothing',
  )
  assert.deepEqual(after('note', 'beginRefill').state, { ...parked, is: 'refilling' })
  assert.deepEqual(after('note', 'beginRefill', MORE).state, { ...parked, after: LATER })
  const last = after('note', 'beginRefill', MORE, 'beginRefill', END)
  assert.deepEqual(last.state, { is: 'none' })
})

test('what is parked during a scan makes it start over after its last page', () => {
  const scanning = after('note', 'beginRefill', 'note', MORE)
  assert.deepEqual(scanning.state, { is: 'parked', after: LATER, startsOver: true })
  const over = after('note', 'beginRefill', MORE, 'note', 'beginRefill', END)
  assert.deepEqual(over.state, { is: 'parked', after: NIL_UUID, startsOver: false })
  assert.deepEqual(after('note', 'beginRefill', 'note', END).state, over.state)
})

test('a refill that failed reads the same page again', () => {
  const failed = after('note', 'beginRefill', MORE, 'beginRefill', 'failRefill')
  assert.deepEqual(failed.state, { is: 'parked', after: LATER, startsOver: false })
})

test('a lost shard is forgotten, and so is the end of a refill that was reading for it', () => {
  assert.deepEqual(after('release').state, { is: 'none' })
  assert.deepEqual(after('note', 'release').state, { is: 'none' })
  const released = after('note', 'beginRefill', 'release')
  assert.deepEqual(
    [released.state.is, released.after, released.areParked],
    ['released', NIL_UUID, false],
  )
  for (const end of [END, MORE, 'failRefill'] as const) {
    assert.deepEqual(after('note', 'beginRefill', 'release', end).state, { is: 'none' })
  }
})

test('a shard that comes back before the refill has ended is scanned from the start again', () => {
  for (const end of [END, MORE, 'failRefill'] as const) {
    const back = after('note', 'beginRefill', MORE, 'beginRefill', 'release', 'note', end)
    assert.deepEqual(back.state, { is: 'parked', after: NIL_UUID, startsOver: false })
  }
})

test('regression: what has left memory is read before the rows that the scan has not reached', () => {
  const fromTheStart = { is: 'parked', after: NIL_UUID, startsOver: false }
  assert.deepEqual(after('note', 'beginRefill', MORE, 'restart').state, fromTheStart)
  assert.deepEqual(after('note', 'beginRefill', MORE, 'note', 'restart').state, fromTheStart)
  const reading = ['note', 'beginRefill', MORE, 'beginRefill', 'restart'] as const
  assert.deepEqual([after(...reading).after, after(...reading).areParked], [NIL_UUID, true])
  for (const end of [END, MORE, 'failRefill'] as const) {
    assert.deepEqual(after(...reading, end).state, fromTheStart)
    assert.deepEqual(after(...reading, 'note', end).state, fromTheStart)
    assert.deepEqual(after(...reading, 'release', end).state, { is: 'none' })
  }
  assert.deepEqual(after('restart').state, { is: 'none' })
  assert.equal(after('note', 'beginRefill', 'release', 'restart').state.is, 'released')
})

test('a lane works off a backlog while rows are parked, not before and not after', () => {
  assert.equal(after().areParked, false)
  assert.equal(after('note').areParked, true)
  assert.equal(after('note', 'beginRefill').areParked, true)
})

for (const [name, moves] of [
  ['a refill begins without parked rows', ['beginRefill']],
  ['a second refill begins', ['note', 'beginRefill', 'beginRefill']],
  ['a refill ends that never began', ['note', END]],
  ['a refill fails that never began', ['note', 'failRefill']],
] as [string, Move[]][]) {
  test(`${name}: a mistake of ours, and it throws`, () => {
    assert.throws(() => after(...moves), Error)
  })
}
