import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { nextTick } from '../../../test/support/engine-parts.ts'
import { ByteBudget } from './byte-budget.ts'

/** Asks for each and notes who was let in, with the function that gives it back. */
function ask(budget: ByteBudget, sizes: readonly number[]) {
  const inside = new Map<number, () => void>()
  const order: number[] = []
  for (const [who, bytes] of sizes.entries()) {
    void budget.take(bytes).then((release) => {
      inside.set(who, release)
      order.push(who)
    })
  }
  return { inside, order }
}

test('they enter in the order of asking: a small one does not overtake a large one', async () => {
  const { inside, order } = ask(new ByteBudget(10), [6, 6, 1])
  await nextTick()
  assert.deepEqual(order, [0])
  inside.get(0)?.()
  await nextTick()
  assert.deepEqual(order, [0, 1, 2])
})

test('one that is larger than the whole budget is let in when it is alone', async () => {
  const { inside, order } = ask(new ByteBudget(10), [4, 100, 4])
  await nextTick()
  assert.deepEqual(order, [0])
  inside.get(0)?.()
  await nextTick()
  assert.deepEqual(order, [0, 1])
  inside.get(1)?.()
  await nextTick()
  assert.deepEqual(order, [0, 1, 2])
})

test('giving back twice gives back once', async () => {
  const { inside, order } = ask(new ByteBudget(10), [8, 2, 8, 2])
  await nextTick()
  assert.deepEqual(order, [0, 1])
  inside.get(1)?.()
  inside.get(1)?.()
  inside.get(1)?.()
  await nextTick()
  assert.deepEqual(order, [0, 1])
})

test('law: never more inside than the budget, unless alone; and all get in at last', async () => {
  const sizes = fc.array(fc.nat(20), { minLength: 1, maxLength: 30 })
  await fc.assert(
    fc.asyncProperty(sizes, fc.infiniteStream(fc.nat()), async (bytes, dice) => {
      const { inside, order } = ask(new ByteBudget(10), bytes)
      for (;;) {
        await nextTick()
        const now = [...inside.keys()].filter((who) => (bytes[who] ?? 0) > 0)
        const sum = now.reduce((total, who) => total + (bytes[who] ?? 0), 0)
        assert.ok(sum <= 10 || now.length === 1, `${sum} bytes of ${now.length}`)
        const who = [...inside.keys()][dice.next().value % Math.max(1, inside.size)]
        if (who === undefined) break
        inside.get(who)?.()
        inside.delete(who)
      }
      assert.deepEqual(order, [...bytes.keys()])
    }),
    { numRuns: 50 },
  )
})
