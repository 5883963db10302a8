import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ServiceError } from '../plain/errors.ts'
import { parseCursor, toCursor, toCursorPage } from './opaque-cursors.ts'

const NUMBER = /^\d{1,15}$/
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

test('a cursor comes back as the parts it was made of', () => {
  fc.assert(
    fc.property(fc.nat(), fc.uuid(), (ms, id) => {
      const cursor = toCursor(ms, id)
      assert.match(cursor, /^[A-Za-z0-9_-]+$/, 'safe in a query')
      assert.deepEqual(parseCursor(cursor, NUMBER, UUID), [String(ms), id])
    }),
  )
})

test('a cursor that we did not make is the caller’s mistake, whatever it is', () => {
  const made = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const id = '5d0c63c4-9a6e-4a0e-8f0c-0d7c4d6b1a01'
  const odd = ['', 'x', '!!', 'null', made(null), made({}), made([]), made([1]), made([1, id, 2])]
  odd.push(made([-1, id]), made(['1; drop', id]), made([[1], [id], []]), made([1e21, id]))
  odd.push(made([1, { toString: 1 }]), made('1'), made([1, `${id}\n`]))
  for (const cursor of odd) {
    assert.throws(
      () => parseCursor(cursor, NUMBER, UUID),
      (error) =>
        error instanceof ServiceError &&
        error.code === 'invalid-query' &&
        error.errors?.[0]?.pointer === '/after',
      cursor,
    )
  }
})

test('no text makes parsing throw anything but the caller’s mistake', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.json().map((json) => Buffer.from(json).toString('base64url')),
  )
  fc.assert(
    fc.property(text, (cursor) => {
      try {
        parseCursor(cursor, NUMBER, UUID)
      } catch (error) {
        assert.ok(error instanceof ServiceError)
      }
    }),
  )
})

test('one row more than was asked for means that there is a next page, and is not shown', () => {
  const cursorOf = (row: number) => toCursor(row)
  assert.deepEqual(toCursorPage([1, 2, 3], 2, cursorOf), { items: [1, 2], next: toCursor(2) })
  assert.deepEqual(toCursorPage([1, 2], 2, cursorOf), { items: [1, 2], next: null })
  assert.deepEqual(toCursorPage([], 2, cursorOf), { items: [], next: null })
})
