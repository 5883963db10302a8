import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { idOf } from '../../../test/support/engine-parts.ts'
import { circuitPolicy } from '../../core/delivery/circuit.ts'
import { Lane, type Strand } from './lane.ts'
import { BYTES_PER_TURN, type LanePolicy } from './lane-pace.ts'
import { Turns } from './turns.ts'

const POLICY: LanePolicy = {
  inFlightMax: 1_000,
  ratePerSecond: null,
}
const CIRCUIT = circuitPolicy()
const ANY = () => true
let made = 0

/** A lane with so much to send; what is in `ready` does not matter here, only that it is there. */
function laneWith(count: number, kind: 'slow' | 'proven' = 'proven', inFlightMax = 1_000): Lane {
  const lane = new Lane({ clientKey: 1, endpointId: idOf(++made), shard: 1 })
  lane.isSlow = kind === 'slow'
  const warmUp = { ...POLICY, inFlightMax }
  // Successes until its window is as wide as it gets.
  for (let n = 2; n < inFlightMax; n++) {
    lane.started(warmUp, 0)
    lane.answered({ isSuccess: true, durationMs: 1, bodyBytes: 0 }, warmUp, CIRCUIT, 0)
  }
  for (let n = 0; n < count; n++) lane.ready.push({} as Strand)
  return lane
}

/** What the lanes do with a turn. */
function start(turns: Turns, nowMs = 0, maySend: (lane: Lane) => boolean = ANY): Lane | null {
  const lane = turns.next(nowMs, maySend)
  if (lane === null) return null
  lane.ready.shift()
  turns.started(lane)
  lane.started(POLICY, nowMs)
  return lane
}

function end(turns: Turns, lane: Lane, bodyBytes = 0): void {
  turns.ended(lane)
  lane.answered({ isSuccess: true, durationMs: 1, bodyBytes }, POLICY, CIRCUIT, 0)
  turns.join(lane)
}

function startAll(turns: Turns, nowMs = 0): Lane[] {
  const started: Lane[] = []
  for (let lane = start(turns, nowMs); lane; lane = start(turns, nowMs)) started.push(lane)
  return started
}

test('I9: slow lanes that hang take half of the slots at most, and proven ones keep theirs', () => {
  const turns = new Turns(10)
  const slow = [1, 2, 3].map(() => laneWith(100, 'slow'))
  for (const lane of slow) turns.join(lane)
  assert.equal(startAll(turns).length, 5)
  assert.equal(turns.inFlight, 5)
  const proven = laneWith(100)
  turns.join(proven)
  assert.equal(startAll(turns).length, 10)
  assert.equal(turns.inFlight, 15)
})

test('a lane that turns slow gives its slots back to the proven', () => {
  const turns = new Turns(10)
  const hanging = laneWith(100)
  turns.join(hanging)
  assert.equal(startAll(turns).length, 10)
  const other = laneWith(100)
  turns.join(other)
  assert.equal(start(turns), null)
  turns.setSlow(hanging, true)
  turns.setSlow(hanging, true)
  assert.equal(turns.inFlight, 10)
  assert.deepEqual(new Set(startAll(turns)), new Set([other]))
  assert.equal(turns.inFlight, 20)
})

test('a lane that has proven itself moves to the other ring, with what it has in flight', () => {
  const turns = new Turns(10)
  const lane = laneWith(100, 'slow')
  turns.join(lane)
  assert.equal(startAll(turns).length, 5)
  turns.setSlow(lane, false)
  assert.equal(turns.inFlight, 5)
  turns.join(lane)
  assert.equal(startAll(turns).length, 5)
  assert.equal(turns.inFlight, 10)
})

test('regression: a lane that has changed its kind is found at once, whichever ring is looked at first', () => {
  for (const isLookedAtFirst of [false, true]) {
    for (const kind of ['slow', 'proven'] as const) {
      const turns = new Turns(10)
      if (isLookedAtFirst) assert.equal(turns.next(0, ANY), null)
      const lane = laneWith(1, kind)
      turns.join(lane)
      turns.setSlow(lane, kind === 'proven')
      assert.equal(start(turns), lane)
    }
  }
})

test('law: no lane that can move waits more than one round', () => {
  const counts = fc.array(fc.integer({ min: 1, max: 8 }), { minLength: 2, maxLength: 12 })
  fc.assert(
    fc.property(counts, (readyCounts) => {
      const turns = new Turns(1_000)
      const lanes = readyCounts.map((count) => laneWith(count, 'proven', 20))
      for (const lane of lanes) turns.join(lane)
      const sinceTurn = new Map<Lane, number>()
      for (let lane = start(turns); lane; lane = start(turns)) {
        sinceTurn.set(lane, 0)
        for (const other of lanes) {
          if (other === lane || other.ready.length === 0) continue
          const waited = (sinceTurn.get(other) ?? 0) + 1
          assert.ok(waited < lanes.length)
          sinceTurn.set(other, waited)
        }
      }
      assert.ok(lanes.every((lane) => lane.ready.length === 0))
    }),
    { numRuns: 50 },
  )
})

test('slow and proven lanes alternate while both have slots', () => {
  const turns = new Turns(10)
  turns.join(laneWith(3))
  turns.join(laneWith(3, 'slow'))
  const kinds = startAll(turns).map((lane) => lane.isSlow)
  assert.equal(kinds.length, 6)
  for (const [at, isSlow] of kinds.entries()) if (at > 0) assert.notEqual(isSlow, kinds[at - 1])
})

test('large bodies pay later: the others go first as often as the body had pieces', () => {
  const turns = new Turns(100)
  const large = laneWith(5)
  const small = laneWith(20)
  turns.join(large)
  const first = start(turns)
  assert.equal(first, large)
  end(turns, large, 4.5 * BYTES_PER_TURN)
  turns.join(small)
  const order = Array.from({ length: 6 }, () => start(turns))
  assert.deepEqual(
    order.map((lane) => (lane === large ? 'large' : 'small')),
    ['small', 'small', 'small', 'small', 'large', 'small'],
  )
})

test('a lone lane never starves on what it has to pay', () => {
  const turns = new Turns(10)
  const lane = laneWith(2)
  turns.join(lane)
  assert.equal(start(turns), lane)
  end(turns, lane, 10_000 * BYTES_PER_TURN)
  assert.equal(start(turns), lane)
})

test('a lane that may not send keeps its turn for later, and none waits for it', () => {
  const turns = new Turns(10)
  const [barred, free] = [laneWith(2), laneWith(2)]
  turns.join(barred)
  turns.join(free)
  const maySend = (lane: Lane) => lane !== barred
  assert.equal(start(turns, 0, maySend), free)
  assert.equal(start(turns, 0, maySend), free)
  assert.equal(start(turns, 0, maySend), null)
  assert.deepEqual(startAll(turns), [barred, barred])
})

test('a lane under a rate limit comes back when its time has come, not before', () => {
  const turns = new Turns(10)
  const lane = laneWith(3)
  const policy = { ...POLICY, ratePerSecond: 10 }
  turns.join(lane)
  assert.equal(turns.next(0, ANY), lane)
  lane.ready.shift()
  turns.started(lane)
  lane.started(policy, 0)
  assert.equal(turns.next(0, ANY), null)
  assert.equal(turns.nextStartAtMs, 100)
  assert.equal(turns.next(99, ANY), null)
  assert.equal(turns.next(100, ANY), lane)
})

test('a lane whose window is full costs nothing until one of its attempts ends', () => {
  const turns = new Turns(10)
  const lane = laneWith(3, 'proven', 2)
  turns.join(lane)
  assert.equal(startAll(turns).length, 2)
  assert.equal(turns.nextStartAtMs, Number.POSITIVE_INFINITY)
  assert.equal(lane.isTurning, false)
  end(turns, lane)
  assert.equal(start(turns), lane)
})

test('joining without anything to send is not joining', () => {
  const turns = new Turns(10)
  const lane = laneWith(0)
  turns.join(lane)
  assert.equal(lane.isTurning, false)
  assert.equal(start(turns), null)
})
