import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { uuidFloor } from '../plain/uuid.ts'
import { digestOfIds, NO_IDS } from './ids-digest.ts'
import {
  checkStatementPeriod,
  HOUR_MS,
  hourOfId,
  isHourFinal,
  isHourOver,
  nextSpanHours,
  owedIn,
  SETTLING_MS,
  SPAN_HOURS_FIRST,
  STATEMENT_HOURS_MAX,
  type StatementHour,
  sumHours,
  withOnceDelivered,
} from './statement.ts'

const AT = Date.UTC(2026, 2, 2, 9)
const NOW = AT + HOUR_MS / 2
const NONE = { delivered: 0, superseded: 0, exhausted: 0, cancelled: 0, pending: 0 }

test('an hour is final when it is over and settled, and nothing of it is pending', () => {
  const settledAt = AT + HOUR_MS + SETTLING_MS
  const none = { fromMs: AT, pending: 0 }
  assert.ok(isHourFinal(none, null, settledAt))
  assert.ok(!isHourFinal(none, null, settledAt - 1), 'an event of it may still be committed')
  assert.ok(!isHourFinal(none, null, null), 'it is not known which transactions are open')
  assert.ok(!isHourFinal({ fromMs: AT, pending: 1 }, null, settledAt + HOUR_MS))
  const endedAt = settledAt + HOUR_MS
  assert.ok(!isHourFinal(none, endedAt, endedAt + SETTLING_MS - 1), 'a 200 may be on its way')
  assert.ok(isHourFinal(none, endedAt, endedAt + SETTLING_MS))
})

test('what was answered with 200 once counts as delivered, whatever it is now', () => {
  const event = uuidFloor(AT)
  const counted = { ...NONE, fromMs: AT, delivered: 1, exhausted: 2, idsDigest: digestOfIds(['a']) }
  const once = [{ id: uuidFloor(AT), eventId: event, state: 'exhausted' as const }]
  const hour = withOnceDelivered({ ...counted, lastUndeliveredEndAtMs: AT }, once)
  assert.deepEqual([hour.delivered, hour.exhausted], [2, 1])
  assert.equal(hour.idsDigest, digestOfIds(['a', event]))
  assert.equal(owedIn(hour), owedIn(counted))
})

test('the whole is the sum of its hours, and final when all of them are', () => {
  const hour = (fromMs: number, ids: string[], isFinal: boolean): StatementHour => ({
    ...NONE,
    fromMs,
    delivered: ids.length,
    exhausted: 1,
    isFinal,
    idsDigest: digestOfIds(ids),
  })
  const hours = [hour(AT, ['a', 'b'], true), hour(AT + HOUR_MS, ['c'], false)]
  const sum = sumHours(hours)
  assert.deepEqual([sum.delivered, sum.exhausted, sum.isFinal], [3, 2, false])
  assert.equal(sum.idsDigest, digestOfIds(['c', 'a', 'b']))
  assert.equal(sumHours([]).idsDigest, NO_IDS)
})

test('an id tells its hour', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: HOUR_MS - 1 }), (ms) => {
      assert.equal(hourOfId(uuidFloor(AT + ms)), AT)
    }),
  )
})

test('a period is made of whole hours, at most 31 days, up to the end of the open hour', () => {
  const codes = (fromMs: number, toMs: number) =>
    checkStatementPeriod({ fromMs, toMs }, NOW).map(({ pointer, code }) => `${pointer} ${code}`)
  const open = AT + HOUR_MS
  assert.deepEqual(codes(AT, open), [])
  assert.deepEqual(codes(open - STATEMENT_HOURS_MAX * HOUR_MS, open), [])
  assert.deepEqual(codes(open - (STATEMENT_HOURS_MAX + 1) * HOUR_MS, open), [
    '/from period-too-long',
  ])
  assert.deepEqual(codes(AT + 1, open - 1), ['/from not-a-whole-hour', '/to not-a-whole-hour'])
  assert.deepEqual(codes(AT, AT), ['/to not-after-from'])
  assert.deepEqual(codes(AT, open + HOUR_MS), ['/to in-the-future'])
})

test('a kept hour counts as open until it is over and has settled by the clock that asks', () => {
  const hour = Date.UTC(2026, 2, 2, 9)
  const overMs = hour + HOUR_MS + SETTLING_MS
  const cases: [nowMs: number, isOver: boolean][] = [
    [hour - 1, false],
    [hour + HOUR_MS, false],
    [overMs - 1, false],
    [overMs, true],
  ]
  for (const [nowMs, isOver] of cases) assert.equal(isHourOver(hour, nowMs), isOver)
})

test('a span grows by what was counted: to the whole month after nothing, and never above what fits', () => {
  const cases: [hours: number, rows: number, next: number][] = [
    [SPAN_HOURS_FIRST, 0, STATEMENT_HOURS_MAX],
    [1, 0, 16],
    [48, 250_000, 48],
    [48, 25_000, 480],
    [48, 10_000_000, 1],
    [1, 100_000_000, 1],
    [744, 1, 744],
  ]
  for (const [hours, rows, next] of cases) {
    assert.equal(nextSpanHours(hours, rows), next, `${hours} hours with ${rows}`)
  }
})
