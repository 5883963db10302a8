import assert from 'node:assert/strict'
import { test } from 'node:test'
import { idOf, queued } from '../../../test/support/engine-parts.ts'
import { circuitPolicy } from '../../core/delivery/circuit.ts'
import type { QueuedDelivery } from '../../core/delivery/queued-delivery.ts'
import { Lane, Strand } from './lane.ts'
import { BACKLOG_PER_SECOND, BYTES_PER_TURN, type LanePolicy } from './lane-pace.ts'

const POLICY: LanePolicy = {
  inFlightMax: 8,
  ratePerSecond: null,
}

const CIRCUIT = { ...circuitPolicy(), failuresToOpen: 2, failingMsToOpen: 0 }
const NEVER = Number.POSITIVE_INFINITY

function makeLane(): Lane {
  return new Lane({ clientKey: 1, endpointId: idOf(1), shard: 1 })
}

function attempt(lane: Lane, isSuccess: boolean, nowMs: number, policy = POLICY): void {
  lane.started(policy, nowMs, lane.parked.areParked)
  lane.answered({ isSuccess, durationMs: 1, bodyBytes: 10 }, policy, CIRCUIT, nowMs)
}

/** A lane whose circuit has opened at time 0: its probe may go at 5 s. */
function brokenLane(): Lane {
  const lane = makeLane()
  for (let n = 0; n < 2; n++) attempt(lane, false, 0)
  assert.equal(lane.circuit.state, 'OPEN')
  return lane
}

test('a new endpoint may have two in flight; each success makes room for one more, up to the limit', () => {
  const lane = makeLane()
  const begin = () => {
    let begun = 0
    for (; lane.startsAtMs(0) === 0; begun++) lane.started(POLICY, 0)
    return begun
  }
  assert.equal(begin(), 2)
  assert.equal(lane.startsAtMs(0), NEVER, 'only one that ends makes room')
  for (let n = 0; n < 20; n++) {
    lane.answered({ isSuccess: true, durationMs: 1, bodyBytes: 0 }, POLICY, CIRCUIT, 0)
    begin()
  }
  assert.equal(lane.inFlight, 8)
})

test('while its circuit is open it waits for the probe, and for the probe alone', () => {
  const lane = brokenLane()
  assert.equal(lane.startsAtMs(1_000), 5_000)
  assert.equal(lane.startsAtMs(5_000), 5_000)
  lane.started(POLICY, 5_000)
  assert.equal(lane.circuit.state, 'HALF_OPEN')
  assert.equal(lane.startsAtMs(6_000), NEVER)
})

test('a probe that was called off may go again at once: nothing was learnt', () => {
  const lane = brokenLane()
  lane.started(POLICY, 5_000)
  lane.calledOff()
  assert.equal(lane.circuit.state, 'OPEN')
  assert.equal(lane.startsAtMs(5_001), 5_001)
  assert.equal(lane.circuit.pauseMs, 5_000)
})

test('an endpoint that comes back is met by one, then two, then more', () => {
  const lane = brokenLane()
  attempt(lane, true, 5_000)
  assert.equal(lane.circuit.state, 'CLOSED')
  lane.started(POLICY, 5_000)
  assert.equal(lane.startsAtMs(5_000), NEVER)
  lane.answered({ isSuccess: true, durationMs: 1, bodyBytes: 0 }, POLICY, CIRCUIT, 5_000)
  lane.started(POLICY, 5_000)
  assert.equal(lane.startsAtMs(5_000), 5_000)
})

test('a rate limit spaces attempts out, and does not save up what was not used', () => {
  const policy = { ...POLICY, ratePerSecond: 10 }
  const lane = makeLane()
  attempt(lane, true, 1_000, policy)
  assert.equal(lane.startsAtMs(1_000), 1_100)
  attempt(lane, true, 9_000, policy)
  assert.equal(lane.startsAtMs(9_000), 9_100)
})

test('large bodies are paid for with turns', () => {
  const lane = makeLane()
  lane.started(POLICY, 0)
  lane.answered(
    { isSuccess: true, durationMs: 1, bodyBytes: 3.5 * BYTES_PER_TURN },
    POLICY,
    CIRCUIT,
    0,
  )
  assert.equal(lane.debt, 3)
})

test('it may be forgotten only when nothing about it would be missed', () => {
  const lane = makeLane()
  assert.ok(lane.isForgettable)
  lane.started(POLICY, 0)
  assert.ok(!lane.isForgettable)
  lane.answered({ isSuccess: false, durationMs: 1, bodyBytes: 0 }, POLICY, CIRCUIT, 0)
  assert.ok(!lane.isForgettable, 'it counts failures')
  attempt(lane, true, 0)
  assert.ok(lane.isForgettable)
  lane.parked.note()
  assert.ok(!lane.isForgettable)
})

function makeStrand(lane = makeLane()): Strand {
  return new Strand(lane, [queued()], true)
}

function readyStrand(): Strand {
  const strand = makeStrand()
  strand.getReady()
  return strand
}

test('a strand goes from rest to ready or waiting, flies, rests again, and leaves for good', () => {
  const strand = makeStrand()
  strand.wait()
  assert.equal(strand.state.is, 'waiting')
  strand.rest()
  strand.getReady()
  assert.equal(strand.state.is, 'ready')
  const flight = strand.takeOff(strand.owed[0] as QueuedDelivery, 'send', 7)
  assert.deepEqual(strand.state, { is: 'flying', flight })
  assert.deepEqual([flight.state, flight.startedAtMs, flight.lane], ['under-way', 7, strand.lane])
  flight.answer()
  assert.equal(flight.state, 'answered')
  flight.land()
  assert.deepEqual([flight.state, strand.state.is], ['landed', 'resting'])
  strand.leave()
  assert.deepEqual([strand.state.is, strand.isGone, strand.flight], ['gone', true, null])
})

test('a flight outlives its strand, and does not bring it back', () => {
  const strand = readyStrand()
  const flight = strand.takeOff(strand.owed[0] as QueuedDelivery, 'send', 0)
  strand.leave()
  assert.equal(flight.state, 'under-way')
  flight.answer()
  flight.land()
  assert.equal(strand.state.is, 'gone')
})

const update = queued()
const WRONG_MOVES: Record<string, () => void> = {
  'takes off without being ready': () => makeStrand().takeOff(update, 'send', 0),
  'waits while it is ready': () => readyStrand().wait(),
  'gets ready twice': () => readyStrand().getReady(),
  'takes off twice': () => {
    const strand = readyStrand()
    strand.takeOff(update, 'send', 0)
    strand.takeOff(update, 'send', 0)
  },
  'leaves twice': () => {
    const strand = makeStrand()
    strand.leave()
    strand.leave()
  },
  'rests after it left': () => {
    const strand = makeStrand()
    strand.leave()
    strand.rest()
  },
  'is answered twice': () => {
    const flight = readyStrand().takeOff(update, 'send', 0)
    flight.answer()
    flight.answer()
  },
  'is answered after it landed': () => {
    const flight = readyStrand().takeOff(update, 'send', 0)
    flight.land()
    flight.answer()
  },
  'lands twice': () => {
    const flight = readyStrand().takeOff(update, 'send', 0)
    flight.land()
    flight.land()
  },
}

for (const [move, make] of Object.entries(WRONG_MOVES)) {
  test(`a strand or flight that ${move} is a mistake of ours, and throws`, () => {
    assert.throws(make, Error)
  })
}

test('a lane that works off a backlog keeps its pace, a few milliseconds ahead at most', () => {
  const lane = makeLane()
  // Wide open, so that nothing but the pace holds it.
  for (let n = 0; n < 8; n++) attempt(lane, true, 0)
  lane.parked.note()
  let sent = 0
  for (let nowMs = 1_000; nowMs < 2_000; nowMs++) {
    while (lane.startsAtMs(nowMs) <= nowMs) {
      attempt(lane, true, nowMs)
      sent++
    }
  }
  assert.ok(Math.abs(sent - BACKLOG_PER_SECOND) <= 11, `${sent} in a second`)
  lane.parked.release()
  attempt(lane, true, 2_100)
  assert.equal(lane.startsAtMs(2_100), 2_100, 'without a backlog it goes at once')
})
