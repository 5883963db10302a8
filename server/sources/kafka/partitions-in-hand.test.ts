import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PartitionsInHand } from './partitions-in-hand.ts'

const LIMITS = { messagesMax: 8, bytesMax: 800 }
const ALL = [0, 1, 2, 3, 4]

test('a partition has a quarter of the room, and what it has beyond takes none of the others’', () => {
  const inHand = new PartitionsInHand(5, LIMITS)
  assert.deepEqual(inHand.withRoom(ALL), ALL)
  inHand.hold(0, 1)
  assert.deepEqual(inHand.withRoom(ALL), ALL)
  for (let n = 0; n < 100; n++) inHand.hold(0, 1)
  assert.deepEqual(inHand.withRoom(ALL), [1, 2, 3, 4])
  inHand.hold(1, 200)
  assert.deepEqual(inHand.withRoom(ALL), [2, 3, 4], 'by its bytes')
  for (let n = 0; n < 99; n++) inHand.settle(0, 1)
  inHand.settle(1, 200)
  assert.deepEqual(inHand.withRoom([0, 1]), [1])
  inHand.settle(0, 1)
  assert.deepEqual(inHand.withRoom([0, 1]), [0, 1])
})

test('when all of it is used, none may be read', () => {
  const byNumber = new PartitionsInHand(5, LIMITS)
  for (const partition of [0, 1, 2, 3]) for (let n = 0; n < 2; n++) byNumber.hold(partition, 1)
  assert.deepEqual(byNumber.withRoom(ALL), [])
  const byBytes = new PartitionsInHand(5, LIMITS)
  for (const partition of [0, 1, 2, 3]) byBytes.hold(partition, 10_000)
  assert.deepEqual(byBytes.withRoom(ALL), [])
  byBytes.settle(2, 10_000)
  assert.deepEqual(byBytes.withRoom(ALL), [2, 4])
})

test('a single partition has all of it', () => {
  const inHand = new PartitionsInHand(1, LIMITS)
  for (let n = 0; n < 7; n++) inHand.hold(0, 1)
  assert.deepEqual(inHand.withRoom([0]), [0])
  inHand.hold(0, 1)
  assert.deepEqual(inHand.withRoom([0]), [])
})
