import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { PartitionProgress } from './partition-progress.ts'

test('the floor is the first offset that is not settled, whatever the order', () => {
  const progress = new PartitionProgress(10n)
  for (const offset of [10n, 11n, 13n]) progress.take(offset)
  progress.next = 15n
  assert.equal(progress.committable, null)
  progress.settle(13n)
  progress.settle(11n)
  assert.equal(progress.floor, 10n)
  assert.equal(progress.ahead, 3)
  progress.settle(10n)
  assert.equal(progress.committable, 15n, 'with what has no record after them')
  progress.commit(15n)
  assert.equal(progress.committable, null)
  assert.ok(progress.isCommitted(14n) && !progress.isCommitted(15n))
})

test('the lag counts what is not settled up to the end of the partition', () => {
  const progress = new PartitionProgress(5n)
  assert.equal(progress.lag, 0)
  progress.end = 9n
  progress.take(5n)
  progress.take(6n)
  assert.equal(progress.lag, 4)
  progress.settle(5n)
  assert.equal(progress.lag, 3)
})

test('nothing that is not settled is ever committed, and in the end everything is', () => {
  const gaps = fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 3_000 })
  fc.assert(
    fc.property(gaps, fc.infiniteStream(fc.nat()), (steps, dice) => {
      const progress = new PartitionProgress(0n)
      const open: bigint[] = []
      let offset = -1n
      const settleOne = () => {
        const [settled] = open.splice(Number(dice.next().value) % open.length, 1)
        progress.settle(settled as bigint)
      }
      for (const step of steps) {
        offset += BigInt(step)
        progress.take(offset)
        open.push(offset)
        if (Number(dice.next().value) % 3 > 0) settleOne()
        const least = open.reduce((one, other) => (other < one ? other : one), offset + 1n)
        assert.equal(progress.floor, least)
      }
      while (open.length > 0) settleOne()
      assert.equal(progress.floor, offset + 1n)
    }),
    { numRuns: 20 },
  )
})
