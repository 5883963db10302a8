import assert from 'node:assert/strict'
import { test } from 'node:test'
import { idOf, queued } from '../../../test/support/engine-parts.ts'
import { CLOSED_CIRCUIT } from '../../core/delivery/circuit.ts'
import { Lane, type Strand } from './lane.ts'
import { LaneRoom } from './lane-room.ts'

const LIMITS = { perLaneMax: 10, perBrokenLaneMax: 2, unprovenMax: 12 }
let made = 0

/** A lane that holds this many strands of one delivery each. */
function laneIn(room: LaneRoom, count: number, kind: 'proven' | 'slow' | 'broken' = 'slow'): Lane {
  const lane = new Lane({ clientKey: 1, endpointId: idOf(++made), shard: 1 })
  lane.isSlow = kind === 'slow'
  if (kind === 'broken') lane.circuit = { ...CLOSED_CIRCUIT, state: 'OPEN' }
  for (let n = 0; n < count; n++) put(room, lane, 1)
  return lane
}

function put(room: LaneRoom, lane: Lane, updates: number): Strand {
  const { paymentId } = queued()
  const owed = Array.from({ length: updates }, (_, n) => queued({ paymentId, sequence: n + 1 }))
  return room.open(lane, owed, true)
}

test('what is held is counted once, and counted out once', () => {
  const room = new LaneRoom(LIMITS)
  const lane = laneIn(room, 3)
  assert.deepEqual([room.size, lane.count], [3, 3])
  const [strand] = lane.strands.values()
  const [delivery] = strand?.owed ?? []
  if (strand === undefined || delivery === undefined) assert.fail()
  assert.ok(room.holds(delivery))
  for (let n = 0; n < 2; n++) room.forget(lane, delivery)
  assert.deepEqual([room.size, lane.count, room.holds(delivery)], [2, 2, false])
})

test('a broken lane has room for its probes, any other for its full share', () => {
  const room = new LaneRoom(LIMITS)
  assert.equal(room.of(laneIn(room, 0, 'proven')), 10)
  assert.equal(room.of(laneIn(room, 0, 'slow')), 10)
  assert.equal(room.of(laneIn(room, 0, 'broken')), 2)
  assert.ok(!room.isFull(laneIn(room, 9, 'proven')))
  assert.ok(room.isFull(laneIn(room, 10, 'proven')))
})

test('once memory is short slow and broken lanes share a part of it, until half of that is free', () => {
  const room = new LaneRoom(LIMITS)
  const lanes = [laneIn(room, 9), laneIn(room, 2, 'broken'), laneIn(room, 1), laneIn(room, 0)]
  const proven = laneIn(room, 0, 'proven')
  assert.deepEqual(room.shareOut([...lanes, proven]), [], 'as much as they may hold')
  put(room, proven, 1)
  assert.deepEqual(room.shareOut([...lanes, proven]), lanes.slice(0, 3), 'those that hold anything')
  assert.deepEqual(
    lanes.map((lane) => room.of(lane)),
    [4, 2, 4, 4],
  )
  assert.equal(room.of(proven), 10)
  const [first] = lanes as [Lane]
  for (const strand of [...first.strands.values()].slice(0, 6)) room.drop(strand)
  assert.equal(room.size, 7)
  assert.equal(room.shareOut(lanes).length, 3, 'still shared')
  for (const strand of [...first.strands.values()].slice(0, 1)) room.drop(strand)
  assert.deepEqual(room.shareOut(lanes), [])
  assert.equal(room.of(first), 10)
})

test('a lane sheds what it has no room for, but neither what flies nor its only strand', () => {
  const room = new LaneRoom({ ...LIMITS, perLaneMax: 2 })
  const lane = laneIn(room, 5, 'proven')
  const [flying] = lane.strands.values()
  flying?.getReady()
  flying?.takeOff(queued(), 'send', 0)
  for (const strand of room.surplusOf(lane)) room.drop(strand)
  assert.equal(lane.count, 2)
  assert.equal(lane.strands.get(flying?.key ?? ''), flying)
  const large = new Lane({ clientKey: 1, endpointId: idOf(++made), shard: 1 })
  put(room, large, 4)
  assert.deepEqual([...room.surplusOf(large)], [], 'it would only come back')
})

test('a strand that leaves with a flight is remembered by its lane until the flight lands', () => {
  const room = new LaneRoom(LIMITS)
  const lane = laneIn(room, 2)
  const [strand, other] = lane.strands.values()
  strand?.getReady()
  const flight = strand?.takeOff(strand.owed[0] ?? assert.fail(), 'send', 0)
  for (const one of [strand, other]) room.drop(one ?? assert.fail())
  assert.deepEqual([...(lane.departed?.values() ?? [])], [flight])
  assert.deepEqual([room.size, lane.count, lane.strands.size], [0, 0, 0])
  assert.ok(strand?.isGone && other?.isGone)
})
