import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { idOf, queued } from '../../../test/support/engine-parts.ts'
import {
  ANY,
  at,
  deliver,
  FAILURE,
  fail,
  HOUR_MS,
  lanesWith,
  next,
  SUCCESS,
  sentBy,
  updates,
} from '../../../test/support/test-lanes.ts'
import type { QueuedDelivery } from '../../core/delivery/queued-delivery.ts'
import { NIL_UUID } from '../../core/plain/uuid.ts'
import type { Flight, Strand } from './lane.ts'

test('regression: an endpoint with a rate goes on when the clock has gone back by an hour', () => {
  const { lanes } = lanesWith({ policy: { inFlightMax: 4, ratePerSecond: 100 } })
  for (const update of [queued(), queued()]) lanes.add(update, false, HOUR_MS)
  const before = lanes.next({ nowMs: HOUR_MS, monotonicMs: 0 }, ANY) ?? assert.fail()
  lanes.answered(before, SUCCESS, { nowMs: HOUR_MS, monotonicMs: 5 })
  lanes.settle(before, null, HOUR_MS)
  assert.equal(lanes.next({ nowMs: 0, monotonicMs: 6 }, ANY), null, 'one in ten milliseconds')
  assert.equal(lanes.restMs({ nowMs: 0, monotonicMs: 6 }), 4)
  assert.ok(lanes.next({ nowMs: 0, monotonicMs: 10 }, ANY))
})

test('regression: an endpoint that is down is probed in time when the clock has gone back by an hour', () => {
  const { lanes } = lanesWith({ perBrokenLaneMax: 8 })
  for (let n = 0; n < 3; n++) lanes.add(queued(), false, HOUR_MS)
  for (let n = 0; n < 2; n++) {
    const flight = lanes.next({ nowMs: HOUR_MS, monotonicMs: 0 }, ANY) ?? assert.fail()
    lanes.answered(flight, FAILURE, { nowMs: HOUR_MS, monotonicMs: 0 })
  }
  assert.equal(lanes.next({ nowMs: 0, monotonicMs: 4_999 }, ANY), null)
  assert.ok(lanes.next({ nowMs: 0, monotonicMs: 5_000 }, ANY), 'the probe')
})

test('I6: updates of one payment go one at a time, in sequence, each when the last is recorded', () => {
  const { lanes } = lanesWith()
  for (const update of updates(3)) assert.ok(lanes.add(update, false, 0))
  for (const sequence of [1, 2, 3]) {
    const flight = next(lanes)
    assert.equal(sentBy(flight).sequence, sequence)
    assert.equal(lanes.next(at(0), ANY), null)
    lanes.answered(flight, SUCCESS, at(0))
    assert.equal(lanes.next(at(0), ANY), null, 'answered, but not on disk yet')
    lanes.settle(flight, null, 0)
  }
  assert.equal(lanes.size, 0)
})

test('different payments do not wait for each other', () => {
  const { lanes } = lanesWith()
  for (const delivery of [queued(), queued()]) lanes.add(delivery, false, 0)
  assert.notEqual(sentBy(next(lanes)).paymentId, sentBy(next(lanes)).paymentId)
})

test('a delivery whose elders are unknown is not taken: the database has to be asked first', () => {
  const { lanes } = lanesWith()
  const [first, second, third] = updates(3) as [QueuedDelivery, QueuedDelivery, QueuedDelivery]
  assert.equal(lanes.add(second, true, 0), false)
  assert.equal(lanes.add(first, false, 0), true)
  assert.equal(lanes.add(third, true, 0), false, 'the second lies between')
  assert.equal(lanes.add(second, true, 0), true)
  assert.equal(lanes.add(third, true, 0), true)
  assert.equal(lanes.size, 3)
})

test('adding twice is adding once', () => {
  const { lanes } = lanesWith()
  const delivery = queued()
  for (let n = 0; n < 3; n++) assert.ok(lanes.add(delivery, false, 0))
  assert.equal(lanes.size, 1)
  deliver(lanes, next(lanes))
  assert.equal(lanes.next(at(0), ANY), null)
})

test('a replay waits for no update, and none for it', () => {
  const { lanes } = lanesWith()
  const [first, second] = updates(2) as [QueuedDelivery, QueuedDelivery]
  lanes.add(first, false, 0)
  assert.ok(lanes.add({ ...second, isReplay: true }, true, 0))
  next(lanes)
  assert.equal(sentBy(next(lanes)).isReplay, true)
})

test('a failing update holds the later ones back, until patience ends', () => {
  const { lanes } = lanesWith({ keepMsMax: 10 * HOUR_MS })
  const [first, second] = updates(2) as [QueuedDelivery, QueuedDelivery]
  lanes.putStrand([first, second], true, 0)
  fail(lanes, next(lanes), 2 * HOUR_MS)
  assert.equal(lanes.next(at(HOUR_MS - 1), ANY), null)
  assert.equal(lanes.restMs(at(0)), HOUR_MS)
  const ahead = next(lanes, HOUR_MS)
  assert.equal(sentBy(ahead).sequence, 2)
  lanes.answered(ahead, SUCCESS, at(HOUR_MS))
  lanes.dropElders(ahead)
  lanes.settle(ahead, null, HOUR_MS)
  assert.equal(lanes.size, 0)
  assert.equal(lanes.next(at(3 * HOUR_MS), ANY), null, 'the superseded one never goes')
})

/** Two updates, of which the second has gone ahead of the first and failed. */
function overtaken() {
  const { lanes } = lanesWith({ keepMsMax: 1e12 })
  const [first, second] = updates(2) as [QueuedDelivery, QueuedDelivery]
  lanes.putStrand([first, second], true, 0)
  fail(lanes, next(lanes), 2 * HOUR_MS)
  const ahead = next(lanes, HOUR_MS)
  assert.equal(sentBy(ahead).sequence, 2)
  return { lanes, ahead }
}

test('under latest the newest of a strand goes; one in flight is not called off', () => {
  const { lanes } = lanesWith()
  const [first, second, third] = updates(3) as [QueuedDelivery, QueuedDelivery, QueuedDelivery]
  lanes.putStrand([first, second], true, 0, 'latest')
  const flight = next(lanes)
  assert.equal(sentBy(flight).sequence, 2)
  assert.equal(lanes.add(third, true, 0), true)
  assert.equal(lanes.next(at(0), ANY), null, 'one at a time')
  lanes.dropElders(flight)
  lanes.answered(flight, FAILURE, at(0))
  lanes.settle(flight, { ...second, attempts: 1, nextAttemptAtMs: HOUR_MS }, 0)
  assert.equal(sentBy(next(lanes)).sequence, 3, 'without patience')
})

test('what an endpoint asked for is found out before a second update joins the first', () => {
  let known: 'every' | 'latest' | undefined
  const { lanes } = lanesWith({ endpoints: { deliverOf: () => known } })
  const [first, second] = updates(2) as [QueuedDelivery, QueuedDelivery]
  assert.equal(lanes.add(first, false, 0), true)
  assert.equal(lanes.add(second, true, 0), false, 'the database has to be asked')
  known = 'latest'
  assert.equal(lanes.add(second, true, 0), true)
  assert.equal(sentBy(next(lanes)).sequence, 2)
})

test('under latest an update for which there is no room has its strand read again, not an older one sent', () => {
  const { lanes, calls } = lanesWith({ perLaneMax: 1, endpoints: { deliverOf: () => 'latest' } })
  const [first, second] = updates(2) as [QueuedDelivery, QueuedDelivery]
  lanes.add({ ...first, nextAttemptAtMs: 5_000 }, false, 0)
  assert.equal(lanes.add(second, true, 0), false)
  lanes.leaveOut(second)
  assert.equal(calls.reloads.length, 1)
  assert.equal(lanes.next(at(6_000), ANY), null)
})

test('regression: under latest, what is in flight is overtaken by an update that memory has no room for', () => {
  const { lanes, calls } = lanesWith({ endpoints: { deliverOf: () => 'latest' } })
  const [first, second] = updates(2) as [QueuedDelivery, QueuedDelivery]
  lanes.add(first, false, 0)
  const flight = next(lanes)
  lanes.leaveOut(first)
  assert.equal(flight.isOvertaken, false, 'not by itself')
  lanes.leaveOut(second)
  assert.equal(flight.isOvertaken, true, 'what has not been sent yet is called off')
  lanes.callOff(flight, first, 0)
  assert.deepEqual([lanes.next(at(0), ANY), calls.reloads], [null, [flight.strand.key]])
})

test('regression: under latest, a strand of which a newer update was left out is read again, delivered or not', () => {
  const { lanes, calls } = lanesWith({ perLaneMax: 2, endpoints: { deliverOf: () => 'latest' } })
  const [first, second, third] = updates(3) as [QueuedDelivery, QueuedDelivery, QueuedDelivery]
  lanes.add(first, false, 0)
  const flight = next(lanes)
  lanes.add(second, true, 0)
  assert.equal(flight.isOvertaken, true, 'what has not been sent yet is called off')
  lanes.add(third, true, 0)
  lanes.answered(flight, SUCCESS, at(0))
  lanes.settle(flight, null, 0)
  assert.equal(lanes.next(at(0), ANY), null, 'the second is not the newest')
  assert.deepEqual(calls.reloads, [flight.strand.key])
})

test('regression: an older update is not sent while a newer one waits for its retry', () => {
  const { lanes, ahead } = overtaken()
  // The receiver may have taken it in: its answer was late, or lost.
  fail(lanes, ahead, 3 * HOUR_MS, HOUR_MS)
  assert.equal(lanes.next(at(2 * HOUR_MS), ANY), null, 'the first is due')
  assert.equal(lanes.restMs(at(0)), 3 * HOUR_MS)
  assert.equal(sentBy(next(lanes, 3 * HOUR_MS)).sequence, 2)
})

test('regression: an older update that is due leaves memory until the newer one is', () => {
  const { lanes, calls } = lanesWith()
  const failing = { attempts: 1, firstFailedAtMs: 0 }
  const [first, second] = updates(2, failing) as [QueuedDelivery, QueuedDelivery]
  lanes.putStrand([first, { ...second, nextAttemptAtMs: 5 * HOUR_MS }], true, 4 * HOUR_MS)
  assert.equal(lanes.size, 0)
  assert.deepEqual(calls.postponed, [{ id: first.id, untilMs: 5 * HOUR_MS }])
})

test('an older update goes on when the newer one has ended otherwise than by a 200', () => {
  const { lanes, ahead } = overtaken()
  lanes.answered(ahead, FAILURE, at(HOUR_MS))
  lanes.settle(ahead, null, HOUR_MS)
  assert.equal(lanes.next(at(2 * HOUR_MS - 1), ANY), null)
  const flight = next(lanes, 2 * HOUR_MS)
  assert.deepEqual([sentBy(flight).sequence, flight.purpose], [1, 'send'])
})

test('an older update whose time is over while it waits has a turn to end, not to be sent', () => {
  const { lanes } = lanesWith({ keepMsMax: 1e12 })
  const [first, second] = updates(2, {
    attempts: 1,
    firstFailedAtMs: 0,
    deadlineAtMs: 5 * HOUR_MS,
  }) as [QueuedDelivery, QueuedDelivery]
  const waiting = { ...second, nextAttemptAtMs: 9 * HOUR_MS, deadlineAtMs: 20 * HOUR_MS }
  lanes.putStrand([first, waiting], true, 4 * HOUR_MS)
  assert.equal(lanes.restMs(at(0)), 5 * HOUR_MS)
  const flight = next(lanes, 5 * HOUR_MS)
  assert.deepEqual([sentBy(flight).sequence, flight.purpose], [1, 'end'])
  lanes.callOff(flight, null, 5 * HOUR_MS)
  assert.equal(lanes.next(at(5 * HOUR_MS), ANY), null)
  const ahead = next(lanes, 9 * HOUR_MS)
  assert.deepEqual([sentBy(ahead).sequence, ahead.purpose], [2, 'send'])
})

test('a long strand of which some were not read is read again when the one ahead has ended', () => {
  const { lanes, calls } = lanesWith({ keepMsMax: 1e12 })
  const failing = { attempts: 1, firstFailedAtMs: 0 }
  const [first, , third] = updates(3, failing) as [QueuedDelivery, QueuedDelivery, QueuedDelivery]
  lanes.putStrand([first, third], false, HOUR_MS)
  const ahead = next(lanes, HOUR_MS)
  assert.equal(sentBy(ahead).sequence, 3)
  lanes.answered(ahead, FAILURE, at(HOUR_MS))
  lanes.settle(ahead, null, HOUR_MS)
  assert.deepEqual(calls.reloads, [ahead.strand.key], 'the second may go before the first')
  assert.equal(lanes.size, 0)
})

test('what waits for long leaves memory, and the database learns when it may move', () => {
  const { lanes, calls } = lanesWith()
  const [first, second] = updates(2) as [QueuedDelivery, QueuedDelivery]
  lanes.putStrand([first, second], true, 0)
  fail(lanes, next(lanes), 2 * HOUR_MS)
  assert.equal(lanes.size, 0)
  assert.deepEqual(calls.postponed, [{ id: second.id, untilMs: HOUR_MS }])
})

test('a strand that was read in part is read again when it has nothing left in memory', () => {
  const { lanes, calls } = lanesWith()
  const [first, second] = updates(2) as [QueuedDelivery, QueuedDelivery]
  lanes.putStrand([first], false, 0)
  assert.ok(lanes.add(second, true, 0), 'it will be read with the others')
  assert.equal(lanes.size, 1)
  const flight = next(lanes)
  deliver(lanes, flight)
  assert.deepEqual(calls.reloads, [flight.strand.key])
})

test('one handed off while its strand was read is not lost: the strand counts as read in part', () => {
  const { lanes, calls } = lanesWith()
  const [first, second] = updates(2) as [QueuedDelivery, QueuedDelivery]
  lanes.putStrand([first, second], true, 0)
  lanes.putStrand([first], true, 0)
  const flight = next(lanes)
  deliver(lanes, flight)
  assert.deepEqual(calls.reloads, [flight.strand.key])
})

test('a strand read while its attempt is under way keeps its slot, and is read again after it', () => {
  const { lanes, calls } = lanesWith()
  const owed = updates(2)
  lanes.putStrand(owed, true, 0)
  const flight = next(lanes)
  lanes.putStrand(owed, true, 0)
  assert.equal(lanes.next(at(0), ANY), null)
  assert.equal(lanes.size, 2)
  deliver(lanes, flight)
  deliver(lanes, next(lanes))
  assert.deepEqual(calls.reloads, [flight.strand.key])
  assert.equal(lanes.size, 0)
})

test('I6: dropped and read again while an attempt is under way, a payment still has one in flight', () => {
  const { lanes, calls } = lanesWith()
  const owed = updates(2)
  lanes.putStrand(owed, true, 0)
  const flight = next(lanes)
  lanes.removeEndpoint(flight.lane.endpointId)
  assert.equal(lanes.size, 0)
  lanes.putStrand(owed, true, 0)
  assert.equal(lanes.next(at(0), ANY), null)
  lanes.answered(flight, SUCCESS, at(0))
  assert.equal(lanes.next(at(0), ANY), null)
  lanes.settle(flight, null, 0)
  assert.equal(lanes.next(at(0), ANY), null, 'what was read knows nothing of the 200')
  assert.deepEqual(calls.reloads, [flight.strand.key])
  assert.equal(lanes.size, 0)
  lanes.putStrand(owed.slice(1), true, 0)
  assert.equal(sentBy(next(lanes)).sequence, 2)
})

test('an outcome that could not be recorded makes the strand be read again', () => {
  const { lanes, calls } = lanesWith()
  lanes.putStrand(updates(2), true, 0)
  const flight = next(lanes)
  lanes.answered(flight, SUCCESS, at(0))
  lanes.settleUnknown(flight, 0)
  assert.deepEqual(calls.reloads, [flight.strand.key])
  assert.equal(lanes.size, 0)
  assert.equal(lanes.inFlight, 0)
})

test('a read that was under way when a delivery moved on is out of date for it, and for it alone', () => {
  const { lanes } = lanesWith()
  const [one, other] = [queued(), queued()]
  lanes.add(one, false, 0)
  lanes.add(other, false, 0)
  const flight = next(lanes)
  const watch = lanes.watches.begin()
  deliver(lanes, flight)
  const moved = flight.update.paymentId === one.paymentId ? one : other
  assert.ok(watch.isOutdated(moved))
  assert.ok(!watch.isOutdated(moved === one ? other : one))
  watch.end()
  assert.ok(!lanes.watches.begin().isOutdated(moved))
})

test('a read that was under way when its endpoint changed is out of date for all of it', () => {
  const { lanes } = lanesWith()
  const [ofIt, ofAnother] = [queued({ endpointId: idOf(7) }), queued({ endpointId: idOf(8) })]
  const watch = lanes.watches.begin()
  assert.ok(!watch.isOutdated(ofIt))
  lanes.watches.note(idOf(7))
  assert.ok(watch.isOutdated(ofIt))
  assert.ok(!watch.isOutdated(ofAnother))
  assert.ok(!lanes.watches.begin().isOutdated(ofIt), 'a read that begins now sees the change')
})

test('deliveries that are delivered or superseded are over; those to be tried again are not', () => {
  const { lanes, calls } = lanesWith()
  const owed = updates(3, { firstFailedAtMs: 0, attempts: 1 })
  lanes.putStrand(owed, true, HOUR_MS)
  const ahead = next(lanes, HOUR_MS)
  lanes.answered(ahead, SUCCESS, at(HOUR_MS))
  lanes.dropElders(ahead)
  lanes.settle(ahead, null, HOUR_MS)
  assert.deepEqual(
    calls.ended,
    owed.map(({ id }) => id),
  )
  const [failing, gone] = [queued(), queued()]
  lanes.add(failing, false, HOUR_MS)
  fail(lanes, next(lanes, HOUR_MS), 2 * HOUR_MS, HOUR_MS)
  lanes.add(gone, false, HOUR_MS)
  lanes.removeEndpoint(gone.endpointId)
  assert.equal(calls.ended.length, 3)
})

test('a lane that is full parks what is due; others are let in', () => {
  const { lanes, calls } = lanesWith()
  const deliveries = Array.from({ length: 10 }, () => queued())
  for (const delivery of deliveries) assert.ok(lanes.add(delivery, false, 0))
  assert.equal(lanes.size, 8)
  assert.deepEqual(
    calls.parked,
    deliveries.slice(8).map(({ id }) => id),
  )
  lanes.add(queued({ endpointId: idOf(7) }), false, 0)
  assert.equal(lanes.size, 9)
})

test('regression: one that is in flight is not parked when a retry has it read again by a full lane', () => {
  const { lanes, calls } = lanesWith({ perLaneMax: 1 })
  const { endpointId } = queued()
  const [inFlight, other] = [queued({ endpointId }), queued({ endpointId })]
  lanes.add(inFlight, false, 0)
  const flight = next(lanes)
  lanes.removeEndpoint(endpointId)
  lanes.add(other, false, 1)
  lanes.add(inFlight, false, 1)
  lanes.putStrand([inFlight], true, 1)
  assert.deepEqual(calls.parked, [])
  lanes.answered(flight, FAILURE, at(2))
  lanes.settle(flight, { ...inFlight, attempts: 1 }, 2)
  assert.deepEqual(calls.reloads, [inFlight.paymentId])
})

test('what was read ahead is not parked by a full lane: it would count as due at once', () => {
  const { lanes, calls } = lanesWith({ perLaneMax: 1 })
  const early = queued({ nextAttemptAtMs: 1_000 })
  lanes.add(queued(), false, 0)
  lanes.add(early, false, 0)
  assert.deepEqual(calls.parked, [])
  assert.deepEqual(calls.tooEarly, [early.id])
})

test('the next update of a full lane is parked, and its strand knows that it is not whole', () => {
  const { lanes, calls } = lanesWith({ perLaneMax: 1 })
  const [first, second] = updates(2) as [QueuedDelivery, QueuedDelivery]
  lanes.add(first, false, 0)
  lanes.add(second, true, 0)
  assert.deepEqual(calls.parked, [second.id])
  deliver(lanes, next(lanes))
  assert.equal(calls.reloads.length, 1)
})

/** A lane whose circuit has opened at time 0, with what was left of it in memory. */
function broken(count: number) {
  const { lanes, calls } = lanesWith()
  for (let n = 0; n < count; n++) lanes.add(queued(), false, 0)
  for (let n = 0; n < 2; n++) fail(lanes, next(lanes), 5_000)
  assert.equal(lanes.directory.circuitOf(idOf(2_000_000)).state, 'OPEN')
  return { lanes, calls }
}

test('a broken lane keeps a handful in memory and parks what is due of the rest', () => {
  const { lanes, calls } = broken(8)
  assert.equal(lanes.size, 2)
  assert.ok(calls.parked.length >= 5)
  assert.equal(lanes.directory.broken.length, 1)
})

test('an attempt that is under way when the circuit opens keeps its slot', () => {
  const { lanes, calls } = lanesWith({ perBrokenLaneMax: 0 })
  const deliveries = Array.from({ length: 3 }, () => queued())
  for (const delivery of deliveries) lanes.add(delivery, false, 0)
  const [one, other] = [next(lanes), next(lanes)]
  fail(lanes, one, 5_000)
  lanes.answered(other, FAILURE, at(0))
  assert.equal(lanes.directory.circuitOf(idOf(2_000_000)).state, 'OPEN')
  assert.equal(other.strand.state.is, 'flying')
  assert.equal(other.state, 'answered')
  lanes.settle(other, null, 0)
  assert.deepEqual(calls.reloads, [])
})

test('what is superseded while its strand was read again is counted out once', () => {
  const { lanes } = lanesWith({ keepMsMax: 10 * HOUR_MS })
  const owed = updates(2, { firstFailedAtMs: 0 })
  lanes.putStrand(owed, true, HOUR_MS)
  const ahead = next(lanes, HOUR_MS)
  assert.equal(sentBy(ahead).sequence, 2)
  lanes.removeEndpoint(ahead.lane.endpointId)
  lanes.putStrand(owed, true, HOUR_MS)
  lanes.answered(ahead, SUCCESS, at(HOUR_MS))
  lanes.dropElders(ahead)
  lanes.settle(ahead, null, HOUR_MS)
  assert.equal(lanes.size, 0)
  assert.equal(ahead.lane.count, 0)
})

test('while a circuit is open one probe goes when its pause is over, and its 200 opens the way', () => {
  const { lanes } = broken(4)
  assert.equal(lanes.next(at(4_999), ANY), null)
  const probe = next(lanes, 5_000)
  assert.equal(lanes.next(at(5_000), ANY), null)
  deliver(lanes, probe, 5_000)
  assert.equal(lanes.directory.circuitOf(idOf(2_000_000)).state, 'CLOSED')
  assert.ok(lanes.next(at(5_000), ANY))
})

test('a lane that runs low asks for what is parked, once at a time', () => {
  const { lanes, calls } = lanesWith()
  const lane = { clientKey: 1, endpointId: idOf(5), shard: 1 }
  lanes.feeder.noteParked(lane)
  lanes.feeder.noteParked(lane)
  assert.deepEqual(calls.refills, [{ endpointId: idOf(5), room: 8 }])
})

/** A lane that has asked for parked work, and the lane itself. */
function awaitingRefill() {
  const { lanes, calls } = lanesWith()
  const delivery = queued()
  lanes.add(delivery, false, 0)
  const flight = next(lanes)
  lanes.feeder.noteParked(flight.lane)
  assert.equal(calls.refills.length, 1)
  return { lanes, calls, lane: flight.lane, flight }
}

test('a refill goes on after what it has read, until there is no more', () => {
  const { lanes, calls, lane } = awaitingRefill()
  lanes.feeder.refilled(lane, idOf(50))
  assert.deepEqual(lane.parked.state, { is: 'refilling', after: idOf(50), startsOver: false })
  assert.equal(calls.refills.length, 2)
  lanes.feeder.refilled(lane, null)
  assert.equal(calls.refills.length, 2)
  assert.equal(lane.parked.state.is, 'none')
})

test('regression: what was parked while the last refill was reading is asked for at once', () => {
  const { lanes, calls, lane } = awaitingRefill()
  lanes.feeder.noteParked(lane)
  lanes.feeder.refilled(lane, null)
  assert.equal(calls.refills.length, 2)
  lanes.feeder.refilled(lane, null)
  assert.equal(calls.refills.length, 2, 'and then there is no more')
})

test('a probe or turn that is called off is given back, and goes again', () => {
  const { lanes } = lanesWith()
  const delivery = queued()
  lanes.add(delivery, false, 0)
  const flight = next(lanes)
  assert.equal(lanes.inFlight, 1)
  lanes.callOff(flight, delivery, 0)
  assert.equal(lanes.inFlight, 0)
  assert.equal(sentBy(next(lanes)).id, delivery.id)
})

test('regression: calling off twice gives one turn back, not two', () => {
  const { lanes } = lanesWith()
  const delivery = queued()
  lanes.add(delivery, false, 0)
  const flight = next(lanes)
  lanes.callOff(flight, null, 0)
  lanes.callOff(flight, delivery, 0)
  assert.equal(lanes.inFlight, 0)
  assert.equal(flight.lane.inFlight, 0)
})

test('regression: an attempt called off after its answer does not free its slot twice', () => {
  const { lanes } = lanesWith()
  const delivery = queued()
  lanes.add(delivery, false, 0)
  const flight = next(lanes)
  lanes.answered(flight, SUCCESS, at(0))
  lanes.callOff(flight, delivery, 0)
  assert.deepEqual([lanes.inFlight, flight.lane.inFlight, flight.state], [0, 0, 'landed'])
  assert.equal(sentBy(next(lanes)).id, delivery.id)
})

test('regression: an endpoint that is not active leaves memory and is not read straight back', () => {
  const { lanes, calls } = lanesWith()
  const owed = updates(2)
  const other = queued()
  lanes.putStrand(owed, true, 0)
  lanes.add(other, false, 0)
  const flight = next(lanes)
  assert.deepEqual(
    new Set(lanes.abandon(flight).map(({ id }) => id)),
    new Set([...owed, other].map(({ id }) => id)),
  )
  assert.deepEqual(calls.reloads, [])
  assert.equal(lanes.size, 0)
  assert.equal(lanes.inFlight, 0)
  assert.equal(lanes.unsettledOf(1), 0)
  assert.deepEqual(lanes.abandon(flight), [])
  lanes.putStrand(owed, true, 0)
  assert.ok(lanes.next(at(0), ANY), 'active again')
})

test('regression: a lane whose endpoint is not active does not go on reading what is parked', () => {
  const { lanes, calls } = lanesWith()
  const delivery = queued()
  lanes.add(delivery, false, 0)
  const flight = next(lanes)
  const { lane } = flight
  lanes.feeder.noteParked(lane)
  assert.deepEqual([lane.parked.state.is, calls.refills.length], ['refilling', 1])
  lanes.abandon(flight)
  lanes.feeder.refilled(lane, delivery.id)
  assert.deepEqual([lane.parked.state.is, calls.refills.length], ['none', 1])
  lanes.feeder.noteParked(lane)
  assert.equal(calls.refills.length, 2, 'active again')
})

test('regression: what a changed endpoint had of its parked rows is read again before the others', () => {
  const { lanes, calls } = lanesWith()
  const delivery = queued()
  lanes.add(delivery, false, 0)
  const lane = lanes.directory.find(delivery.endpointId) ?? assert.fail()
  lanes.feeder.noteParked(lane)
  assert.equal(calls.refills.length, 1)
  for (const upTo of [idOf(40), idOf(50)]) {
    lanes.feeder.refilled(lane, upTo)
    assert.deepEqual([lane.parked.after, calls.refills.length], [upTo, upTo === idOf(40) ? 2 : 3])
  }
  lanes.removeEndpoint(delivery.endpointId)
  lanes.feeder.noteParked(lane)
  lanes.feeder.refilled(lane, idOf(60))
  assert.deepEqual([lane.parked.after, calls.refills.length], [NIL_UUID, 4])
})

test('attempts that take long make their lane a slow one while they are under way', () => {
  const { lanes } = lanesWith({ slots: 2 })
  const proven = queued({ endpointId: idOf(11) })
  lanes.add(proven, false, 0)
  deliver(lanes, next(lanes))
  for (let n = 0; n < 2; n++) lanes.add(queued({ endpointId: idOf(11) }), false, 0)
  const hanging = [next(lanes), next(lanes)]
  assert.ok(hanging.every(({ lane }) => !lane.isSlow))
  lanes.noticeSlow(at(999))
  assert.ok(!hanging[0]?.lane.isSlow)
  lanes.noticeSlow(at(1_000))
  assert.ok(hanging[0]?.lane.isSlow)
})

test('a shard that is lost leaves memory; what is under way still counts as its', () => {
  const { lanes } = lanesWith()
  lanes.add(queued({ shard: 3, endpointId: idOf(3) }), false, 0)
  lanes.add(queued({ shard: 3, endpointId: idOf(3) }), false, 0)
  lanes.add(queued({ shard: 4, endpointId: idOf(4) }), false, 0)
  const flight = [next(lanes), next(lanes)].find(({ lane }) => lane.shard === 3)
  lanes.removeShard(3)
  assert.equal(lanes.size, 1)
  assert.equal(lanes.unsettledOf(3), 1)
  lanes.settleUnknown(flight ?? assert.fail(), 0)
  assert.equal(lanes.unsettledOf(3), 0)
})

test('lanes are forgotten when there are too many, but not those that would be missed', () => {
  const { lanes } = lanesWith({ lanesMax: 2 })
  for (let n = 0; n < 2; n++) {
    lanes.add(queued({ endpointId: idOf(900) }), false, 0)
    fail(lanes, next(lanes), 5_000)
  }
  for (let n = 901; n < 910; n++) {
    lanes.add(queued({ endpointId: idOf(n) }), false, 0)
    deliver(lanes, next(lanes))
  }
  assert.equal(lanes.directory.circuitOf(idOf(900)).state, 'OPEN')
})

test('a lane is not forgotten before the attempts of strands that have left it are recorded', () => {
  const { lanes } = lanesWith({ lanesMax: 1 })
  const owed = updates(2, { endpointId: idOf(900) })
  lanes.putStrand(owed, true, 0)
  const flight = next(lanes)
  lanes.answered(flight, SUCCESS, at(0))
  lanes.removeEndpoint(idOf(900))
  lanes.add(queued({ endpointId: idOf(901) }), false, 0)
  deliver(lanes, next(lanes))
  lanes.putStrand(owed, true, 0)
  assert.equal(lanes.next(at(0), ANY), null, 'its 200 is not on disk yet')
  lanes.settle(flight, null, 0)
  lanes.putStrand(owed.slice(1), true, 0)
  assert.equal(sentBy(next(lanes)).sequence, 2)
})

// Random histories of a small world: three endpoints in two shards, with four payments each, of
// which the database knows all and the lanes some.

type EndingStep =
  | { do: 'answer'; at: number; isSuccess: boolean }
  | { do: 'settle' | 'settleUnknown' | 'callOff' | 'abandon'; at: number }

type Step =
  | { do: 'handOff'; endpoint: number; payment: number }
  | { do: 'put'; endpoint: number; payment: number }
  | EndingStep
  | { do: 'removeEndpoint'; endpoint: number }
  | { do: 'removeShard'; shard: number }
  | { do: 'refill'; endpoint: number }
  | { do: 'send' }
  | { do: 'wait'; ms: number }

const target = { endpoint: fc.nat(2), payment: fc.nat(3) }
const which = fc.nat(50)
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('handOff' as const), ...target }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('put' as const), ...target }) },
  { weight: 8, arbitrary: fc.record({ do: fc.constant('send' as const) }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('answer' as const),
      at: which,
      isSuccess: fc.boolean(),
    }),
  },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('settle' as const), at: which }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constantFrom('settleUnknown' as const, 'callOff' as const, 'abandon' as const),
      at: which,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('removeEndpoint' as const), endpoint: fc.nat(2) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('removeShard' as const), shard: fc.nat(1) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('refill' as const), endpoint: fc.nat(2) }) },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.nat(HOUR_MS / 2) }),
  },
)

class SmallWorld {
  readonly lanes = lanesWith().lanes
  readonly owed = new Map<string, QueuedDelivery[]>()
  readonly flying: { flight: Flight; isAnswered: boolean; isSuccess: boolean }[] = []
  readonly accepted = new Map<string, number>()
  /** The newest update that was attempted, on record or not. */
  readonly newest = new Map<string, number>()
  readonly sequences = new Map<string, number>()
  readonly seenLanes = new Set<Flight['lane']>()
  nowMs = 0

  run(step: Step): void {
    if (step.do === 'wait') this.nowMs += step.ms
    else if (step.do === 'send') this.#send()
    else if (step.do === 'handOff') this.#handOff(step.endpoint, step.payment)
    else if (step.do === 'put') this.#put(`${step.endpoint}/${step.payment}`)
    else if (step.do === 'removeEndpoint') this.lanes.removeEndpoint(idOf(step.endpoint + 1))
    else if (step.do === 'removeShard') this.lanes.removeShard(step.shard)
    else if (step.do === 'refill') this.#refill(step.endpoint)
    else this.#end(step)
  }

  #handOff(endpoint: number, payment: number): void {
    const key = `${endpoint}/${payment}`
    const sequence = (this.sequences.get(key) ?? 0) + 1
    this.sequences.set(key, sequence)
    const owed = this.owed.get(key) ?? []
    const delivery = queued({
      endpointId: idOf(endpoint + 1),
      paymentId: idOf(100 + endpoint * 10 + payment),
      shard: endpoint % 2,
      sequence,
      nextAttemptAtMs: this.nowMs,
    })
    const hasElders = owed.length > 0
    this.owed.set(key, [...owed, delivery])
    if (!this.lanes.add(delivery, hasElders, this.nowMs)) this.#put(key)
  }

  #put(key: string): void {
    this.lanes.putStrand(this.owed.get(key) ?? [], true, this.nowMs)
  }

  #refill(endpoint: number): void {
    const key = { clientKey: 1, endpointId: idOf(endpoint + 1), shard: endpoint % 2 }
    this.lanes.feeder.noteParked(key)
    for (const payment of [0, 1, 2, 3]) this.#put(`${endpoint}/${payment}`)
  }

  #keyOf(delivery: QueuedDelivery): string {
    const payment = Number.parseInt(delivery.paymentId.slice(-4), 16) - 100
    return `${Math.floor(payment / 10)}/${payment % 10}`
  }

  #send(): void {
    const flight = this.lanes.next(at(this.nowMs), ANY)
    if (flight === null) return
    const sent = sentBy(flight)
    const key = this.#keyOf(sent)
    this.seenLanes.add(flight.lane)
    assert.ok(
      this.flying.every((other) => this.#keyOf(sentBy(other.flight)) !== key),
      'one in flight for each payment and endpoint',
    )
    assert.ok(sent.sequence > (this.accepted.get(key) ?? 0), 'nothing older after a 200')
    assert.ok(sent.sequence >= (this.newest.get(key) ?? 0), 'nothing older after an attempt')
    assert.ok(sent.nextAttemptAtMs <= this.nowMs, 'nothing goes before its time')
    this.flying.push({ flight, isAnswered: false, isSuccess: false })
  }

  #end(step: EndingStep): void {
    const flying = this.flying[step.at % Math.max(1, this.flying.length)]
    if (flying === undefined) return
    const { flight } = flying
    if (step.do === 'answer') {
      if (flying.isAnswered) return
      const durationMs = step.at * 100
      flying.isAnswered = true
      this.newest.set(this.#keyOf(sentBy(flight)), sentBy(flight).sequence)
      flying.isSuccess = step.isSuccess
      this.lanes.answered(
        flight,
        { ...SUCCESS, isSuccess: step.isSuccess, durationMs },
        at(this.nowMs),
      )
      return
    }
    const isSettling = step.do === 'settle' || step.do === 'settleUnknown'
    if (isSettling !== flying.isAnswered) return
    const sent = sentBy(flight)
    this.flying.splice(this.flying.indexOf(flying), 1)
    if (step.do === 'callOff') this.lanes.callOff(flight, sent, this.nowMs)
    else if (step.do === 'abandon') this.lanes.abandon(flight)
    else if (step.do === 'settleUnknown') this.lanes.settleUnknown(flight, this.nowMs)
    else this.#settle(flight, sent, flying.isSuccess)
  }

  #settle(flight: Flight, sent: QueuedDelivery, isSuccess: boolean): void {
    const key = this.#keyOf(sent)
    const owed = this.owed.get(key) ?? []
    const after = {
      ...sent,
      attempts: sent.attempts + 1,
      nextAttemptAtMs: this.nowMs + 20_000,
      firstFailedAtMs: sent.firstFailedAtMs ?? this.nowMs,
    }
    if (isSuccess) {
      this.accepted.set(key, sent.sequence)
      this.owed.set(
        key,
        owed.filter(({ sequence }) => sequence > sent.sequence),
      )
      this.lanes.dropElders(flight)
    } else {
      this.owed.set(
        key,
        owed.map((other) => (other.id === sent.id ? after : other)),
      )
    }
    this.lanes.settle(flight, isSuccess ? null : after, this.nowMs)
  }

  check(): void {
    const underWay = this.flying.filter(({ isAnswered }) => !isAnswered).length
    assert.equal(this.lanes.inFlight, underWay)
    assert.ok(this.lanes.size >= 0)
    for (const lane of this.seenLanes) {
      assert.ok(lane.count >= 0 && lane.inFlight >= 0)
      for (const strand of lane.strands.values()) this.#checkState(strand)
      for (const [key, flight] of lane.departed ?? []) {
        assert.deepEqual([flight.strand.key, flight.strand.state.is], [key, 'gone'])
        assert.notEqual(flight.state, 'landed')
      }
    }
    const unsettled = this.lanes.unsettledOf(0) + this.lanes.unsettledOf(1)
    assert.equal(unsettled, this.flying.length)
  }

  /** Where a strand is kept is what its state says. */
  #checkState(strand: Strand): void {
    const { lane, state } = strand
    assert.notEqual(state.is, 'gone')
    assert.equal(lane.waiting?.has(strand) ?? false, state.is === 'waiting')
    if (state.is === 'resting')
      assert.ok(lane.departed?.has(strand.key), 'it rests for a flight only')
    if (state.is === 'ready') assert.ok(lane.ready.length > 0)
    if (state.is === 'flying') {
      assert.ok(strand.owed.some(({ id }) => id === state.flight.update.id))
      assert.ok(this.flying.some(({ flight }) => flight === state.flight))
    }
  }

  /** Everything that is under way ends; then all of it leaves. */
  empty(): void {
    while (this.flying.length > 0) {
      if (!this.flying[0]?.isAnswered) this.#end({ do: 'answer', at: 0, isSuccess: true })
      this.#end({ do: 'settle', at: 0 })
    }
    for (const n of [1, 2, 3]) this.lanes.removeEndpoint(idOf(n))
    for (const lane of this.seenLanes) assert.equal(lane.count + lane.inFlight, 0)
    assert.equal(this.lanes.size, 0)
    assert.equal(this.lanes.inFlight, 0)
    assert.equal(this.lanes.next(at(Number.MAX_SAFE_INTEGER), ANY), null)
  }

  /** Read from the database again, everything that is owed goes in the end. */
  drain(): void {
    this.nowMs += 10 * HOUR_MS
    for (let round = 0; round < 500 && [...this.owed.values()].flat().length > 0; round++) {
      for (const key of this.owed.keys()) this.#put(key)
      this.#send()
      if (this.flying.length > 0) {
        this.#end({ do: 'answer', at: 0, isSuccess: true })
        this.#end({ do: 'settle', at: 0 })
      }
      this.nowMs += 300_000
    }
    assert.deepEqual([...this.owed.values()].flat(), [])
  }
}

test('law: whatever happens, order holds, counts neither leak nor go below zero, and all drains', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120, size: 'max' }), (steps) => {
      const world = new SmallWorld()
      for (const what of steps) {
        world.run(what)
        world.check()
      }
      world.empty()
      world.drain()
      world.empty()
    }),
    { numRuns: 400 },
  )
})

test('lanes that hardly move share what they may hold, and the others find room', () => {
  const { lanes, calls } = lanesWith({ unprovenMax: 6 })
  const [quick, dead, silent] = ['quick', 'dead', 'silent'].map((name) =>
    queued({ endpointId: `00000000-0000-4000-8000-${name}` }),
  ) as [QueuedDelivery, QueuedDelivery, QueuedDelivery]
  const more = (of: QueuedDelivery) => {
    const { endpointId } = of
    for (let n = 0; n < 8; n++) lanes.add(queued({ endpointId }), false, 0)
  }
  lanes.add(quick, false, 0)
  deliver(lanes, next(lanes))
  more(dead)
  more(silent)
  assert.equal(lanes.size, 16)
  lanes.noticeSlow(at(0))
  assert.equal(lanes.size, 6, 'three each')
  assert.equal(calls.parked.length, 10)
  lanes.add(queued({ endpointId: dead.endpointId }), false, 0)
  assert.equal(lanes.size, 6)
  more(quick)
  assert.equal(lanes.size, 14)

  lanes.removeEndpoint(silent.endpointId)
  lanes.removeEndpoint(quick.endpointId)
  lanes.noticeSlow(at(0))
  assert.equal(lanes.size, 3)
  more(dead)
  assert.equal(lanes.size, 8, 'as much as ever: there is room again')
})

test('what has no room and is not due yet is read again in time', () => {
  const { lanes, calls } = lanesWith({ unprovenMax: 1 })
  const { endpointId } = queued()
  for (const nextAttemptAtMs of [0, 9_000]) {
    lanes.add(queued({ endpointId, nextAttemptAtMs }), false, 0)
  }
  lanes.noticeSlow(at(0))
  assert.equal(lanes.size, 1)
  assert.equal(calls.parked.length + calls.tooEarly.length, 1)
})
