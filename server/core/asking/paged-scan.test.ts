import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { fillPage } from './paged-scan.ts'

const cursor = {
  ofItem: (item: number) => `i${item}`,
  ofPosition: (position: number) => `p${position}`,
}

/** A list of numbers, highest first, of which those that match are wanted. */
function reader(list: readonly number[], matches: (n: number) => boolean) {
  return async (before: number | null, limit: number, chunk: number) => {
    const rest = list.filter((n) => before === null || n < before)
    const looked = rest.slice(0, chunk)
    const isEnd = looked.length < chunk
    return {
      items: looked.filter(matches).slice(0, limit),
      downTo: isEnd ? null : (looked.at(-1) as number),
    }
  }
}

const numberOf = (next: string | null) => (next === null ? null : Number(next.slice(1)))

test('page by page, every match comes exactly once, whatever the chunks and the time', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(fc.nat(500), { maxLength: 200 }),
      fc.integer({ min: 1, max: 7 }),
      fc.integer({ min: 1, max: 20 }),
      fc.integer({ min: 1, max: 50 }),
      fc.constantFrom(0, 3, 1_000),
      async (numbers, divisor, limit, chunkFirst, budgetMs) => {
        const list = numbers.toSorted((a, b) => b - a)
        const matches = (n: number) => n % divisor === 0
        let clock = 0
        const limits = {
          limit,
          chunkFirst,
          chunkMax: 64,
          budgetMs,
          monotonicMs: () => clock++,
        }
        const seen: number[] = []
        let from: number | null = null
        for (let pages = 0; ; pages++) {
          assert.ok(pages <= numbers.length + 2, 'it goes on for ever')
          const page = await fillPage<number, number>(from, limits, reader(list, matches), cursor)
          assert.ok(page.items.length <= limit)
          seen.push(...page.items)
          if (page.next === null) break
          from = numberOf(page.next)
        }
        assert.deepEqual(seen, list.filter(matches))
      },
    ),
    { numRuns: 200 },
  )
})

test('a rare match is looked for until the time is over; then the page is short and leads on', async () => {
  const list = Array.from({ length: 10_000 }, (_, i) => 10_000 - i)
  let clock = 0
  let steps = 0
  const read = reader(list, (n) => n === 1)
  const page = await fillPage<number, number>(
    null,
    { limit: 10, chunkFirst: 10, chunkMax: 40, budgetMs: 100, monotonicMs: () => clock },
    (...asked) => {
      steps++
      clock += 30
      return read(...asked)
    },
    cursor,
  )
  assert.equal(steps, 4)
  assert.deepEqual(page, { items: [], next: `p${10_000 - 10 - 40 - 40 - 40 + 1}` })
})
