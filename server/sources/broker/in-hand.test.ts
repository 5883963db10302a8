import assert from 'node:assert/strict'
import { test } from 'node:test'
import { InHand } from './in-hand.ts'

const message = (seq: number, bytes: number) => ({ seq, data: new Uint8Array(bytes) })

test('as many are asked for as fit if each is as large as any may be', () => {
  const inHand = new InHand({ messagesMax: 10, bytesMax: 1_000, messageBytesMax: 300 })
  assert.equal(inHand.room(), 3)
  inHand.hold(message(1, 150))
  assert.equal(inHand.room(), 2)
  inHand.hold(message(2, 700))
  assert.equal(inHand.room(), 1, 'while any byte is free, one')
  inHand.hold(message(3, 300))
  assert.equal(inHand.room(), 0)
  inHand.settle(2)
  assert.equal(inHand.room(), 1)
  inHand.clear()
  assert.equal(inHand.room(), 3)
})

test('small messages are bounded by their number', () => {
  const inHand = new InHand({ messagesMax: 4, bytesMax: 1_000, messageBytesMax: 10 })
  assert.equal(inHand.room(), 4)
  for (const seq of [5, 3, 9]) assert.ok(inHand.hold(message(seq, 1)))
  assert.equal(inHand.room(), 1)
  inHand.hold(message(1, 1))
  assert.equal(inHand.room(), 0)
  assert.deepEqual(
    inHand.inOrder().map(({ seq }) => seq),
    [1, 3, 5, 9],
  )
})

test('a copy of one that is in hand replaces it and is not counted again', () => {
  const inHand = new InHand({ messagesMax: 4, bytesMax: 100, messageBytesMax: 10 })
  const copy = message(1, 100)
  assert.ok(inHand.hold(message(1, 100)))
  assert.ok(!inHand.hold(copy))
  assert.equal(inHand.size, 1)
  assert.equal([...inHand.values()][0], copy)
  inHand.settle(1)
  inHand.settle(1)
  assert.equal(inHand.room(), 4)
})

test('a copy of one that was settled while its pull runs is not held again', () => {
  const inHand = new InHand({ messagesMax: 4, bytesMax: 100, messageBytesMax: 10 })
  inHand.hold(message(1, 10))
  inHand.beginPull()
  inHand.settle(1)
  assert.ok(!inHand.hold(message(1, 10)))
  assert.equal(inHand.size, 0)
  assert.equal(inHand.room(), 4)
  // Only a server that lost the ack sends it with a later pull: then it has to be acknowledged again.
  inHand.beginPull()
  assert.ok(inHand.hold(message(1, 10)))
})
