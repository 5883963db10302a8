import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { DueHeap } from './due-heap.ts'

test('law: what is due comes out in order of its time, and nothing else comes out', () => {
  const times = fc.array(fc.nat(1_000), { maxLength: 200 })
  fc.assert(
    fc.property(times, fc.nat(1_000), (dueAtMs, nowMs) => {
      const heap = new DueHeap<number>()
      for (const ms of dueAtMs) heap.push(ms, ms)
      assert.equal(heap.nextDueAtMs, Math.min(Number.POSITIVE_INFINITY, ...dueAtMs))
      const taken: number[] = []
      for (let ms = heap.take(nowMs); ms !== undefined; ms = heap.take(nowMs)) taken.push(ms)
      const sorted = dueAtMs.toSorted((one, other) => one - other)
      assert.deepEqual(
        taken,
        sorted.filter((ms) => ms <= nowMs),
      )
      const left = sorted.filter((ms) => ms > nowMs)
      assert.equal(heap.nextDueAtMs, left[0] ?? Number.POSITIVE_INFINITY)
    }),
  )
})

test('pushing between takes keeps the order', () => {
  const heap = new DueHeap<string>()
  heap.push(5, 'five')
  heap.push(3, 'three')
  assert.equal(heap.take(10), 'three')
  heap.push(1, 'one')
  heap.push(9, 'nine')
  assert.equal(heap.take(10), 'one')
  assert.equal(heap.take(10), 'five')
  assert.equal(heap.take(8), undefined)
  assert.equal(heap.take(9), 'nine')
})
