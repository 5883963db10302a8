import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { heapGrowthOf } from '../../../test/support/heap.ts'
import { BoundedMap } from './bounded-map.ts'

type Step =
  | { kind: 'set'; key: number; value: number }
  | { kind: 'get'; key: number }
  | { kind: 'delete'; key: number }

const key = fc.nat(20)
const steps = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant('set' as const), key, value: fc.integer({ min: 1, max: 9 }) }),
    fc.record({ kind: fc.constant('get' as const), key }),
    fc.record({ kind: fc.constant('delete' as const), key }),
  ),
  { maxLength: 200 },
)

type Pairs = readonly (readonly [number, number])[]

/** Takes the steps, and checks each answer. `check` gets what an unbounded map would hold, oldest first. */
function follow(
  map: BoundedMap<number, number>,
  run: readonly Step[],
  check: (known: Pairs) => void,
) {
  let known: Pairs = []
  for (const step of run) {
    const value = known.find(([at]) => at === step.key)?.[1]
    if (step.kind === 'get') assert.equal(map.get(step.key), value)
    else known = known.filter(([at]) => at !== step.key)
    if (step.kind === 'delete') assert.equal(map.delete(step.key), value !== undefined)
    if (step.kind === 'set') {
      map.set(step.key, step.value)
      known = [...known, [step.key, step.value]]
    }
    check(known)
    // What it has forgotten are the oldest: the rest is all there.
    known = known.slice(known.length - map.size)
    for (const [at, one] of known) assert.equal(map.get(at), one)
  }
}

test('it holds as many as there are, up to the limit: those set longest ago have gone', () => {
  fc.assert(
    fc.property(steps, fc.integer({ min: 1, max: 12 }), (run, limit) => {
      const map = new BoundedMap<number, number>(limit)
      follow(map, run, (known) => assert.equal(map.size, Math.min(known.length, limit)))
    }),
  )
})

test('with weights, it holds as many of the newest as weigh no more than the limit', () => {
  fc.assert(
    fc.property(steps, fc.integer({ min: 1, max: 40 }), (run, limit) => {
      const map = new BoundedMap<number, number>(limit, (value) => value)
      follow(map, run, (known) => {
        const weights = known.map((_, at) => sum(known.slice(at).map(([, value]) => value)))
        assert.equal(map.size, weights.filter((weight) => weight <= limit).length)
      })
    }),
  )
})

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0)
}

test('a large map forgets some at once, and none before it is full', () => {
  const map = new BoundedMap<number, string>(10_240)
  for (let at = 0; at < 10_240; at++) map.set(at, 'x')
  assert.equal(map.size, 10_240)
  map.set(0, 'set again, so no longer the oldest')
  assert.equal(map.size, 10_240)
  map.set(10_240, 'x')
  assert.equal(map.size, 10_160)
  assert.ok(map.has(0))
  assert.equal(map.has(81), false)
  assert.ok(map.has(82))
})

test('a value that alone is too heavy is not kept', () => {
  const map = new BoundedMap<string, string>(10, (text) => text.length)
  map.set('a', 'short')
  map.set('b', 'longer than that')
  assert.equal(map.size, 0)
})

test('memory does not grow with what has come and gone', () => {
  const map = new BoundedMap<number, object>(1_000)
  let at = 0
  const grown = heapGrowthOf(() => {
    for (const end = at + 100_000; at < end; at++) {
      map.set(at, { at })
      if (at % 3 > 0) map.delete(at)
    }
  })
  assert.ok(grown < 2_000_000, `${grown} bytes`)
})
