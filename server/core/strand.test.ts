import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { nextTurn, type OwedUpdate } from './strand.ts'

const NOW = 1_000_000
const PATIENCE = 3_600_000

function owed(
  sequence: number,
  nextAttemptAtMs: number,
  firstFailedAtMs: number | null = null,
): OwedUpdate {
  return { sequence, nextAttemptAtMs, firstFailedAtMs }
}

function turnOf(updates: readonly OwedUpdate[], patienceMs = PATIENCE): number | `until ${number}` {
  const turn = nextTurn(updates, patienceMs, NOW)
  return turn.kind === 'send' ? turn.update.sequence : `until ${turn.untilMs}`
}

test('the oldest goes first, and the others wait for it', () => {
  assert.equal(turnOf([owed(1, NOW)]), 1)
  assert.equal(turnOf([owed(1, NOW), owed(2, NOW), owed(3, NOW)]), 1)
  assert.equal(turnOf([owed(4, NOW + 5), owed(5, NOW)]), `until ${NOW + 5}`)
})

test('one that has failed is waited for until its retry or the end of patience, whichever is earlier', () => {
  const justFailed = owed(1, NOW + 5_000, NOW - 10)
  assert.equal(turnOf([justFailed, owed(2, NOW)]), `until ${NOW + 5_000}`)
  const failingForLong = owed(1, NOW + 600_000, NOW - PATIENCE + 1_000)
  assert.equal(turnOf([failingForLong, owed(2, NOW)]), `until ${NOW + 1_000}`)
  assert.equal(turnOf([owed(1, NOW, NOW - 10), owed(2, NOW)]), 1)
})

test('when patience is over the next goes ahead', () => {
  const impatient = owed(1, NOW + 600_000, NOW - PATIENCE)
  assert.equal(turnOf([impatient, owed(2, NOW), owed(3, NOW)]), 2)
  assert.equal(turnOf([impatient, owed(2, NOW + 7, NOW - 1), owed(3, NOW)]), `until ${NOW + 7}`)
  assert.equal(turnOf([impatient, { ...impatient, sequence: 2 }, owed(3, NOW)]), 3)
  assert.equal(turnOf([owed(1, NOW + 9, NOW - 1), owed(2, NOW)], 0), 2, 'patience of 0')
})

test('the last one gives way to nobody', () => {
  assert.equal(turnOf([owed(1, NOW + 600_000, NOW - 2 * PATIENCE)]), `until ${NOW + 600_000}`)
})

test('after a crash the newest of those that may go goes first, so that nothing old follows it', () => {
  // The second had gone ahead and its 200 was never recorded: both are due now.
  const updates = [owed(1, NOW, NOW - PATIENCE), owed(2, NOW), owed(3, NOW)]
  assert.equal(turnOf(updates), 2)
})

test('with endless patience nothing ever passes', () => {
  const updates = [owed(1, NOW + 5, 0), owed(2, NOW)]
  assert.equal(turnOf(updates, Number.POSITIVE_INFINITY), `until ${NOW + 5}`)
})

test('I6: whoever goes, each older one has failed for all of patience; whoever waits, has a time to wait for', () => {
  const time = fc.integer({ min: NOW - 10_000, max: NOW + 10_000 })
  const update = fc.tuple(
    time,
    fc.option(fc.integer({ min: NOW - 10_000, max: NOW }), { nil: null }),
  )
  fc.assert(
    fc.property(
      fc.array(update, { minLength: 1, maxLength: 8 }),
      fc.integer({ min: 0, max: 12_000 }),
      (drawn, patienceMs) => {
        const updates = drawn.map(([at, failedAt], index) => owed(index + 1, at, failedAt))
        const turn = nextTurn(updates, patienceMs, NOW)
        if (turn.kind === 'wait') {
          assert.ok(turn.untilMs > NOW && Number.isFinite(turn.untilMs))
          return
        }
        assert.ok(turn.update.nextAttemptAtMs <= NOW)
        for (const elder of updates.slice(0, turn.update.sequence - 1)) {
          assert.ok(elder.firstFailedAtMs !== null && elder.firstFailedAtMs + patienceMs <= NOW)
        }
      },
    ),
    { numRuns: 1_000 },
  )
})
