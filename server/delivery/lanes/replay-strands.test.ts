import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  ANY,
  at,
  deliver,
  fail,
  lanesWith,
  next,
  SUCCESS,
  sentBy,
  updates,
} from '../../../test/support/test-lanes.ts'
import type { QueuedDelivery } from '../../core/delivery/queued-delivery.ts'

test('regression: replays of one payment go one at a time, in sequence, in whatever order they came', () => {
  const { lanes, calls } = lanesWith()
  const [first, second, third] = updates(3, { isReplay: true, attempts: 2 }) as [
    QueuedDelivery,
    QueuedDelivery,
    QueuedDelivery,
  ]
  for (const replay of [second, third, first]) assert.ok(lanes.add(replay, true, 0))
  for (const sequence of [1, 2, 3]) {
    const flight = next(lanes)
    assert.equal(sentBy(flight).sequence, sequence)
    assert.equal(lanes.next(at(0), ANY), null)
    deliver(lanes, flight)
  }
  assert.equal(lanes.size, 0)
  assert.deepEqual(calls.reloads, [])
})

test('a replay that fails holds no other one back', () => {
  const { lanes } = lanesWith()
  for (const replay of updates(2, { isReplay: true })) lanes.add(replay, true, 0)
  fail(lanes, next(lanes), 5_000)
  deliver(lanes, next(lanes))
  assert.equal(lanes.next(at(4_999), ANY), null)
  assert.equal(sentBy(next(lanes, 5_000)).sequence, 1)
})

test('a replay whose outcome is not known is read again alone, and the next one goes', () => {
  const { lanes, calls } = lanesWith()
  const [first, second] = updates(2, { isReplay: true }) as [QueuedDelivery, QueuedDelivery]
  lanes.add(first, true, 0)
  lanes.add(second, true, 0)
  const flight = next(lanes)
  lanes.answered(flight, SUCCESS, at(0))
  lanes.settleUnknown(flight, 0)
  assert.deepEqual(calls.tooEarly, [first.id])
  assert.equal(sentBy(next(lanes)).id, second.id)
})

/** Two replays, of which the first was in flight when both left memory. */
function departed() {
  const { lanes, calls } = lanesWith()
  const [first, second] = updates(2, { isReplay: true }) as [QueuedDelivery, QueuedDelivery]
  lanes.add(first, true, 0)
  lanes.add(second, true, 0)
  const flight = next(lanes)
  lanes.removeEndpoint(first.endpointId)
  return { lanes, calls, first, second, flight }
}

test('replays that are read again wait for one that was in flight when its endpoint changed', () => {
  const { lanes, calls, first, second, flight } = departed()
  for (const replay of [first, second]) lanes.add(replay, true, 0)
  assert.equal(lanes.next(at(0), ANY), null)
  deliver(lanes, flight)
  assert.deepEqual(calls.tooEarly, [first.id], 'the database knows whether it is still owed')
  assert.equal(sentBy(next(lanes)).id, second.id)
  assert.equal(lanes.size, 1)
})

test('regression: one that was called off goes in its place, where it was read again in the meantime', () => {
  const { lanes, calls, first, second, flight } = departed()
  for (const replay of [first, second]) lanes.add(replay, true, 0)
  assert.equal(lanes.next(at(0), ANY), null, 'one of a payment at a time')
  lanes.callOff(flight, first, 0)
  for (const replay of [first, second]) {
    const again = next(lanes)
    assert.equal(sentBy(again).id, replay.id)
    deliver(lanes, again)
  }
  assert.deepEqual([calls.tooEarly, calls.refills, lanes.size], [[], [], 0])
})

test('regression: a read under way keeps one that was called off, as its row has not moved', () => {
  const { lanes, first, flight } = departed()
  const watch = lanes.watches.begin()
  lanes.callOff(flight, first, 0)
  assert.equal(watch.isOutdated(first), false)
  watch.end()
})

test('regression: one that was called off and is not in memory is read, also where it is parked', () => {
  const { lanes, calls, first, second, flight } = departed()
  lanes.add(second, true, 0)
  lanes.callOff(flight, first, 0)
  assert.deepEqual(calls.tooEarly, [first.id])
  assert.deepEqual(
    calls.refills.map(({ endpointId }) => endpointId),
    [first.endpointId],
  )
  assert.equal(
    sentBy(next(lanes)).id,
    second.id,
    'which has waited for the flight, and for nothing else',
  )
})

test('one that ended without an attempt is not sent, although it was read again in the meantime', () => {
  const { lanes, first, second, flight } = departed()
  const watch = lanes.watches.begin()
  for (const replay of [first, second]) lanes.add(replay, true, 0)
  lanes.callOff(flight, null, 0)
  assert.ok(watch.isOutdated(first))
  watch.end()
  assert.equal(sentBy(next(lanes)).id, second.id)
  assert.equal(lanes.size, 1)
})
