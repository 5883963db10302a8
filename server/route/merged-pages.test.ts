import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { toCursor } from '../core/asking/opaque-cursors.ts'
import { uuidAt } from '../core/plain/uuid.ts'
import { parseAnswer } from './exact-answer.ts'
import {
  byId,
  type CursorAnswer,
  clientOrder,
  eachClientOnce,
  type Item,
  interleave,
  mergeById,
  parseCellsCursor,
  toCellsCursor,
} from './merged-pages.ts'

const idAt = (ms: number, cell: number): string =>
  uuidAt(1_800_000_000_000 + ms, 0, Buffer.alloc(8, cell), cell)

/** A cell that lists by id, newest first, and at times ends a page early, as scans for rare matches do. */
function askCell(cell: number, ids: readonly string[], after: string | null, limit: number) {
  const left = ids
    .toSorted()
    .toReversed()
    .filter((id) => after === null || id < after)
  const items = left.slice(0, limit).map((id) => ({ id }))
  const last = items.at(-1)?.id
  const next = left.length > limit && last !== undefined ? toCursor(last) : null
  return { cell, items, next } satisfies CursorAnswer
}

test('a list by id is read whole, each item once, newest first, however the cells share it', () => {
  const times = fc.array(fc.nat(200), { maxLength: 40 })
  fc.assert(
    fc.property(times, times, fc.integer({ min: 1, max: 7 }), (first, second, limit) => {
      const cells = [first, second].map((ms, cell) => [...new Set(ms)].map((at) => idAt(at, cell)))
      const seen: string[] = []
      let after: string | null = null
      for (let page = 0; page <= 100; page++) {
        const answers = cells.map((ids, cell) => askCell(cell, ids, after, limit))
        const { items, next } = mergeById(answers, limit)
        assert.ok(items.length <= limit)
        seen.push(...items.map(({ id }) => String(id)))
        if (next === null) break
        after = JSON.parse(Buffer.from(next, 'base64url').toString())[0]
      }
      assert.deepEqual(seen, cells.flat().toSorted().toReversed())
    }),
  )
})

test('a cell that ended its page early holds back what others have below it', () => {
  const [a, b, c] = [idAt(30, 0), idAt(20, 7), idAt(10, 0)] as const
  const short = { cell: 7, items: [], next: toCursor(b) }
  const full = { cell: 0, items: [{ id: a }, { id: c }], next: null }
  assert.deepEqual(mergeById([full, short], 50), { items: [{ id: a, cell: 0 }], next: toCursor(b) })
})

test('items keep the order of their own cell, and say which it is', () => {
  const lists = [
    { cell: 0, items: [{ id: 'b' }, { id: 'a' }] },
    { cell: 7, items: [{ id: 'c' }] },
  ]
  assert.deepEqual(interleave(lists, byId, 9), [
    { id: 'b', cell: 0 },
    { id: 'a', cell: 0 },
    { id: 'c', cell: 7 },
  ])
  assert.equal(interleave(lists, byId, 2).length, 2)
})

test('clients are in the order that was asked for', () => {
  const items: Item[] = [
    { clientId: '1', name: 'B', createdAt: '2026-01-02T00:00:00.000Z' },
    { clientId: '2', name: 'A', createdAt: '2026-01-03T00:00:00.000Z' },
  ]
  const names = (sort: string | null) => items.toSorted(clientOrder(sort)).map(({ name }) => name)
  assert.deepEqual(names(null), ['B', 'A'])
  assert.deepEqual(names('-createdAt'), ['A', 'B'])
  assert.deepEqual(names('name'), ['A', 'B'])
  assert.deepEqual(names('-name'), ['B', 'A'])
})

test('a cursor over several cells comes back as it was, and a made-up one is refused', () => {
  const cursors = new Map([
    [0, 'x'],
    [7, null],
  ])
  assert.deepEqual(parseCellsCursor(toCellsCursor(cursors) as string), cursors)
  assert.equal(toCellsCursor(new Map()), null)
  for (const text of [
    '',
    'x',
    toCursor('x'),
    toCursor('cells', '[["0"]]'),
    toCursor('cells', '[['),
  ]) {
    assert.throws(() => parseCellsCursor(text), /One parameter of the query is invalid/, text)
  }
})

test('numbers of an answer stay as they were written', () => {
  const text = '{"amount":{"amount":100.00},"n":9007199254740993,"e":1E2,"ok":12.5,"t":"1.00"}'
  assert.equal(JSON.stringify(parseAnswer(text)), text)
})

test('regression: a client that one cell lists is listed, wherever the directory still has it', () => {
  const lists = [
    { cell: 0, items: [], total: 0 },
    { cell: 7, items: [{ clientId: 'moved' }], total: 1 },
  ]
  assert.deepEqual(
    eachClientOnce(lists, () => 0),
    lists,
  )
})

test('a client that two cells list is listed once, by the one that the directory names', () => {
  const both = [{ clientId: 'a' }, { clientId: 'b' }]
  const lists = [0, 3, 7].map((cell) => ({
    cell,
    items: cell === 0 ? [] : both,
    total: both.length,
  }))
  const clientsOf = (cellOf: (id: string) => number) =>
    eachClientOnce(lists, cellOf).map(({ cell, items, total }) => [
      cell,
      items.map(({ clientId }) => clientId),
      total,
    ])
  assert.deepEqual(
    clientsOf((id) => (id === 'a' ? 3 : 7)),
    [
      [0, [], 2],
      [3, ['a'], 1],
      [7, ['b'], 1],
    ],
  )
  // The directory names neither: any of them, and once.
  assert.deepEqual(
    clientsOf(() => 0),
    [
      [0, [], 2],
      [3, ['a', 'b'], 2],
      [7, [], 0],
    ],
  )
})
