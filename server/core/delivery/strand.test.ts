import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { DeliverMode } from './endpoint-settings.ts'
import {
  goesAhead,
  holdOf,
  nextReplay,
  nextStep,
  type OwedUpdate,
  supersedesElders,
} from './strand.ts'

const NOW = 1_000_000
const PATIENCE = 3_600_000

const WINDOW = 7 * 24 * 3_600_000

/** One that has failed has been attempted; its 7 days are counted from then. */
function owed(
  sequence: number,
  nextAttemptAtMs: number,
  firstFailedAtMs: number | null = null,
): OwedUpdate {
  const attempts = firstFailedAtMs === null ? 0 : 1
  const deadlineAtMs = firstFailedAtMs === null ? null : firstFailedAtMs + WINDOW
  const firstAttemptAtMs = firstFailedAtMs
  return {
    ...{ sequence, nextAttemptAtMs, attempts, firstAttemptAtMs, firstFailedAtMs, deadlineAtMs },
  }
}

function stepOf(
  updates: readonly OwedUpdate[],
  patienceMs = PATIENCE,
  deliver: DeliverMode = 'every',
): number | string {
  const step = nextStep(updates, patienceMs, NOW, deliver)
  if (step.kind === 'wait') return `until ${step.untilMs}`
  return step.kind === 'end' ? `${step.update.sequence} ends` : step.update.sequence
}

test('the oldest goes first, and the others wait for it', () => {
  assert.equal(stepOf([owed(1, NOW)]), 1)
  assert.equal(stepOf([owed(1, NOW), owed(2, NOW), owed(3, NOW)]), 1)
  assert.equal(stepOf([owed(4, NOW + 5), owed(5, NOW)]), `until ${NOW + 5}`)
})

test('one that has failed is waited for until its retry or the end of patience, whichever is earlier', () => {
  const justFailed = owed(1, NOW + 5_000, NOW - 10)
  assert.equal(stepOf([justFailed, owed(2, NOW)]), `until ${NOW + 5_000}`)
  const failingForLong = owed(1, NOW + 600_000, NOW - PATIENCE + 1_000)
  assert.equal(stepOf([failingForLong, owed(2, NOW)]), `until ${NOW + 1_000}`)
  assert.equal(stepOf([owed(1, NOW, NOW - 10), owed(2, NOW)]), 1)
})

test('when patience is over the next goes ahead', () => {
  const impatient = owed(1, NOW + 600_000, NOW - PATIENCE)
  assert.equal(stepOf([impatient, owed(2, NOW), owed(3, NOW)]), 2)
  assert.equal(stepOf([impatient, owed(2, NOW + 7, NOW - 1), owed(3, NOW)]), `until ${NOW + 7}`)
  assert.equal(stepOf([impatient, { ...impatient, sequence: 2 }, owed(3, NOW)]), 3)
  assert.equal(stepOf([owed(1, NOW + 9, NOW - 1), owed(2, NOW)], 0), 2, 'patience of 0')
})

test('regression: one that has gone ahead stays ahead, although by the clock of now patience is not over', () => {
  const failing = owed(1, NOW, NOW - 10)
  const ahead = { ...owed(2, NOW), firstAttemptAtMs: NOW + PATIENCE, deadlineAtMs: NOW + WINDOW }
  assert.equal(stepOf([failing, ahead, owed(3, NOW)]), 2)
})

test('what goes ahead of an older one for the first time is recorded as begun before it goes', () => {
  const failing = owed(1, NOW, NOW - PATIENCE)
  const next = owed(2, NOW)
  assert.equal(goesAhead([failing, next], next, 'every'), true)
  assert.equal(goesAhead([failing, next], next, 'latest'), false, 'the newest goes in any case')
  assert.equal(goesAhead([next, owed(3, NOW)], next, 'every'), false, 'nothing older is owed')
  const tried = owed(2, NOW, NOW - 10)
  assert.equal(goesAhead([failing, tried], tried, 'every'), false, 'its attempts are on record')
})

test('the last one gives way to none', () => {
  assert.equal(stepOf([owed(1, NOW + 600_000, NOW - 2 * PATIENCE)]), `until ${NOW + 600_000}`)
})

test('regression: once a newer update was attempted, an older one that is due waits for it', () => {
  // The answer to the second was late or lost: the receiver may have it.
  const first = owed(1, NOW, NOW - PATIENCE - 10)
  const second = owed(2, NOW + 5_000, NOW - 5)
  assert.equal(stepOf([first, second]), `until ${NOW + 5_000}`)
  assert.equal(stepOf([first, { ...second, nextAttemptAtMs: NOW }]), 2)
  assert.equal(stepOf([first]), 1, 'the second has ended otherwise: the first goes on')
})

test('regression: three updates, and the third passes the second only after its patience too', () => {
  const first = owed(1, NOW, NOW - 2 * PATIENCE)
  const second = owed(2, NOW + 50_000, NOW - PATIENCE + 7_000)
  assert.equal(stepOf([first, second, owed(3, NOW)]), `until ${NOW + 7_000}`)
  const impatient = owed(2, NOW, NOW - PATIENCE)
  assert.equal(stepOf([first, impatient, owed(3, NOW)]), 3)
  const third = owed(3, NOW + 9_000, NOW - 1)
  assert.equal(stepOf([first, impatient, third]), `until ${NOW + 9_000}`)
})

test('regression: after a crash one that may have gone ahead goes first, due or not', () => {
  // An attempt of the second, under way when its process died, is on no record.
  const first = owed(1, NOW, NOW - PATIENCE)
  assert.equal(stepOf([first, owed(2, NOW), owed(3, NOW)]), 2)
  assert.equal(stepOf([first, owed(2, NOW + 40), owed(3, NOW)]), `until ${NOW + 40}`)
})

test('regression: what was attempted keeps its place when patience turns out longer than it was', () => {
  const updates = [owed(1, NOW, NOW - PATIENCE), owed(2, NOW + 60, NOW - 5)]
  assert.equal(stepOf(updates, Number.POSITIVE_INFINITY), `until ${NOW + 60}`)
})

test('an older one whose 7 days end while it waits is over, and is not sent', () => {
  const first = { ...owed(1, NOW, NOW - PATIENCE), deadlineAtMs: NOW + 300 }
  const second = owed(2, NOW + 5_000, NOW - 5)
  assert.equal(stepOf([first, second]), `until ${NOW + 300}`)
  assert.equal(stepOf([{ ...first, deadlineAtMs: NOW }, second]), '1 ends')
  const due = { ...second, nextAttemptAtMs: NOW }
  assert.equal(
    stepOf([{ ...first, deadlineAtMs: NOW }, due]),
    '1 ends',
    'also before one that is due',
  )
  const refused = { ...first, deadlineAtMs: NOW, nextAttemptAtMs: NOW + 90 }
  assert.equal(stepOf([refused, second]), `until ${NOW + 90}`, 'it could not be ended just now')
})

test('with endless patience nothing ever passes', () => {
  const updates = [owed(1, NOW + 5, 0), owed(2, NOW)]
  assert.equal(stepOf(updates, Number.POSITIVE_INFINITY), `until ${NOW + 5}`)
})

test('under latest the newest goes, whatever became of the older ones', () => {
  const latest = (...updates: OwedUpdate[]) => stepOf(updates, PATIENCE, 'latest')
  assert.equal(latest(owed(1, NOW)), 1)
  assert.equal(latest(owed(1, NOW), owed(2, NOW), owed(3, NOW)), 3)
  assert.equal(latest(owed(1, NOW + 5_000, NOW - 10), owed(2, NOW)), 2, 'patience is not needed')
  assert.equal(latest(owed(1, NOW), owed(2, NOW + 9, NOW - 1)), `until ${NOW + 9}`)
  assert.equal(latest(owed(1, NOW, NOW - WINDOW), owed(2, NOW + 9)), '1 ends')
})

test('under latest any end of an attempt supersedes what is older, else only a 200', () => {
  assert.equal(supersedesElders(true, 'every'), true)
  assert.equal(supersedesElders(false, 'every'), false)
  assert.equal(supersedesElders(true, 'latest'), true)
  assert.equal(supersedesElders(false, 'latest'), true)
})

test('I6: only one may go; older ones have failed for all of patience, and no newer one was attempted', () => {
  const time = fc.integer({ min: NOW - 10_000, max: NOW + 10_000 })
  const update = fc.tuple(
    time,
    fc.option(fc.integer({ min: NOW - 10_000, max: NOW }), { nil: null }),
    fc.integer({ min: NOW - 1_000, max: NOW + 20_000 }),
  )
  fc.assert(
    fc.property(
      fc.array(update, { minLength: 1, maxLength: 8 }),
      fc.integer({ min: 0, max: 12_000 }),
      (drawn, patienceMs) => {
        const updates = drawn.map(([at, failedAt, deadlineAt], index) => ({
          ...owed(index + 1, at, failedAt),
          deadlineAtMs: failedAt === null ? null : deadlineAt,
        }))
        const step = nextStep(updates, patienceMs, NOW)
        if (step.kind === 'wait') {
          assert.ok(step.untilMs > NOW && Number.isFinite(step.untilMs))
          return
        }
        const { sequence } = step.update
        const newer = updates.slice(sequence)
        if (step.kind === 'end') {
          assert.ok((step.update.deadlineAtMs ?? Number.POSITIVE_INFINITY) <= NOW)
          assert.ok(newer.length > 0, 'the last one is sent, or ends with its attempt')
          return
        }
        assert.ok(step.update.nextAttemptAtMs <= NOW)
        assert.ok(newer.every(({ attempts }) => attempts === 0))
        // The one before it: those before that one it has passed already.
        const elder = updates[sequence - 2]
        const isFirstTime = step.update.attempts === 0
        if (elder === undefined || !isFirstTime) return
        assert.ok(elder.firstFailedAtMs !== null && elder.firstFailedAtMs + patienceMs <= NOW)
      },
    ),
    { numRuns: 1_000 },
  )
})

test('an update waits for the one that goes first, at least until that is tried, ends, or gives way', () => {
  const held = (
    sequence: number,
    updates: readonly OwedUpdate[],
    deliver: DeliverMode = 'every',
  ) => {
    const hold = holdOf(sequence, updates, PATIENCE, NOW, deliver)
    return hold && [hold.by.sequence, hold.untilMs]
  }
  const failing = owed(1, NOW + 5_000, NOW - 10)
  assert.equal(held(1, [failing, owed(2, NOW - 9)]), null)
  assert.deepEqual(held(2, [failing, owed(2, NOW - 9)]), [1, NOW + 5_000])
  assert.deepEqual(held(3, [owed(1, NOW - 9), owed(2, NOW - 9), owed(3, NOW)]), [1, NOW])
  const failingForLong = owed(1, NOW + 600_000, NOW - PATIENCE + 1_000)
  assert.deepEqual(held(2, [failingForLong, owed(2, NOW)]), [1, NOW + 1_000])
  const wentAhead = owed(2, NOW + 7, NOW - 1)
  assert.deepEqual(held(1, [owed(1, NOW, NOW - PATIENCE), wentAhead]), [2, NOW + 7])
  assert.deepEqual(held(1, [owed(1, NOW), owed(2, NOW + 3)], 'latest'), [2, NOW + 3])
  assert.equal(held(1, []), null)
})

test('of the replays of a payment the oldest that is due goes, whatever became of others', () => {
  const replays = [
    { ...owed(1, 50), attempts: 3 },
    { ...owed(2, 10), attempts: 2 },
    { ...owed(4, 10), attempts: 1 },
  ]
  assert.deepEqual(nextReplay(replays, 9), { kind: 'wait', untilMs: 10 })
  assert.deepEqual(nextReplay(replays, 10), { kind: 'send', update: replays[1] })
  assert.deepEqual(nextReplay(replays, 50), { kind: 'send', update: replays[0] })
})
