import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Chain, Link } from './chain.ts'

function itemsOf<T>(chain: Chain<T>): T[] {
  const items: T[] = []
  for (let link = chain.first; link !== null; link = link.next) items.push(link.item)
  return items
}

test('whatever is added and removed, it holds what a Set would, in the same order', () => {
  const step = fc.record({ isAdding: fc.boolean(), at: fc.nat(7) })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const links = Array.from({ length: 8 }, (_, number) => new Link(number))
      const chain = new Chain<number>()
      const expected = new Set<number>()
      for (const { isAdding, at } of steps) {
        const link = links[at] as Link<number>
        if (isAdding && !link.isIn) {
          chain.add(link)
          expected.add(at)
        } else if (!isAdding) {
          assert.equal(chain.remove(link), expected.delete(at))
          assert.deepEqual([link.previous, link.next], [null, null])
        }
        assert.deepEqual(itemsOf(chain), [...expected])
        assert.equal(chain.isEmpty, expected.size === 0)
      }
    }),
  )
})
