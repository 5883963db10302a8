import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Queue } from './queue.ts'

test('law: it behaves as an array does, whatever is pushed and shifted', () => {
  const step = fc.oneof(
    { weight: 60, arbitrary: fc.constant('push' as const) },
    { weight: 50, arbitrary: fc.constant('shift' as const) },
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 2_000, size: 'max' }), (steps) => {
      const queue = new Queue<number>()
      const model: number[] = []
      for (const [index, what] of steps.entries()) {
        if (what === 'push') {
          queue.push(index)
          model.push(index)
        } else {
          assert.equal(queue.shift(), model.shift())
        }
        assert.equal(queue.length, model.length)
      }
    }),
    { numRuns: 30 },
  )
})

test('an empty one gives nothing, again and again', () => {
  const queue = new Queue<number>()
  for (let n = 0; n < 200; n++) assert.equal(queue.shift(), undefined)
  assert.equal(queue.length, 0)
})
