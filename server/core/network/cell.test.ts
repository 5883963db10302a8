import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { UuidMaker, uuidAt, uuidTimeMs } from '../plain/uuid.ts'
import { CELL_MAX, cellOfId, homeOfId, parseCell, schemaOfCell } from './cell.ts'

const cells = fc.integer({ min: 0, max: CELL_MAX })
const times = fc.integer({ min: 0, max: 2 ** 47 })

test('every id says the cell that made it, and its time, whatever the dice say', () => {
  fc.assert(
    fc.property(cells, times, fc.uint8Array({ minLength: 8, maxLength: 8 }), (cell, ms, dice) => {
      const maker = new UuidMaker(
        () => ms,
        () => Buffer.concat(Array.from({ length: 512 }, () => dice)),
        cell,
      )
      const [first, second] = [maker.next(), maker.next()]
      assert.equal(cellOfId(first), cell)
      assert.equal(cellOfId(second.toUpperCase()), cell)
      assert.equal(uuidTimeMs(first), Math.max(ms, 0))
      assert.ok(second > first)
    }),
  )
})

test('ids of two cells never meet, even with the same time, count and dice', () => {
  fc.assert(
    fc.property(cells, cells, (one, other) => {
      const idOf = (cell: number) =>
        new UuidMaker(
          () => 1e12,
          () => Buffer.alloc(4_096),
          cell,
        ).next()
      assert.equal(idOf(one) === idOf(other), one === other)
    }),
  )
})

test('a person reads the cell: the last three digits of the fourth group', () => {
  const id = new UuidMaker(() => 1_772_443_800_000, randomBytes, 7).next()
  assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab]007-[0-9a-f]{12}$/)
})

test('an id of before there were several cells is the first one’s, whatever its digits say', () => {
  const sinceMs = 1_772_443_800_000
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1e9 }), (ms) => {
      const old = uuidAt(sinceMs - ms, 0, randomBytes(8))
      assert.equal(homeOfId(old, sinceMs), 0)
    }),
  )
  const made = new UuidMaker(() => sinceMs, randomBytes, 9).next()
  assert.equal(homeOfId(made, sinceMs), 9)
})

test('what no cell has made says none', () => {
  for (const id of [randomUUID(), '', 'x', '00000000-0000-0000-0000-000000000000']) {
    assert.equal(cellOfId(id), null)
    assert.equal(homeOfId(id, 1e15), null)
  }
  assert.equal(cellOfId('019ca0d0-0000-7000-8400-000000000000'), null)
})

test('a cell has a number, and a schema of its own', () => {
  assert.deepEqual(['0', '7', '1023'].map(parseCell), [0, 7, 1023])
  for (const text of ['', '-1', '1024', '07', '1.5', ' 1', 'seven', '99999']) {
    assert.equal(parseCell(text), undefined, text)
  }
  const schemas = Array.from({ length: CELL_MAX + 1 }, (_, cell) => schemaOfCell(cell))
  assert.equal(new Set(schemas).size, CELL_MAX + 1)
  assert.deepEqual([schemas[0], schemas[7]], ['paybell', 'paybell_7'])
})
