import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Noted, type Span, STAGES, traceOf } from './stages.ts'

function transaction(connection: number, atMs: number): Span[] {
  const spans: [string, number, number][] = [
    ['begin', 0, 3],
    ['try-lock-payments', 0, 3],
    ['read-listening', 1, 4],
    ['save-new-one-with-payment', 5, 8],
    ['insert-audit', 5, 8],
    ['commit', 6, 9],
  ]
  return spans.map(([name, from, to]) => ({
    name,
    connection,
    startMs: atMs + from,
    endMs: atMs + to,
  }))
}

test('each millisecond of a PUT is in one stage, and its transaction is the one that it was answered after', () => {
  const poll = { name: 'read-due', connection: 3, startMs: 115, endMs: 116 }
  const noted: Noted = {
    requests: [
      { path: '/one', startMs: 101, endMs: 121 },
      { path: '/other', startMs: 108, endMs: 132 },
    ],
    // The first had begun before the requests came; the last is on another connection.
    statements: [
      ...transaction(1, 90),
      ...transaction(1, 110),
      poll,
      ...transaction(2, 122),
      { name: 'set search_path = x', connection: 4, startMs: 140, endMs: 150 },
    ],
    pauses: [{ name: 'scavenge', startMs: 125, endMs: 126 }],
  }
  const puts = [
    { path: '/one', sentMs: 100, answeredMs: 122, arrivedMs: 123 },
    { path: '/other', sentMs: 107, answeredMs: 133, arrivedMs: 134 },
    { path: '/never', sentMs: 107, answeredMs: 133, arrivedMs: 134 },
  ]
  const [one, other, ...none] = traceOf(puts, noted)
  assert.deepEqual(none, [])
  assert.deepEqual(one?.stagesMs, [1, 9, 1, 3, 1, 1, 3, 2, 1])
  assert.equal(one?.stagesMs.length, STAGES.length)
  assert.equal(
    one?.stagesMs.reduce((sum, ms) => sum + ms),
    one?.totalMs,
  )
  assert.deepEqual([...(one?.beside ?? [])], ['read-due'])
  assert.equal(other?.stagesMs[1], 14)
  assert.deepEqual(
    [...(other?.beside ?? [])],
    ['scavenge', 'another transaction of PUTs', 'read-due'],
  )
})
