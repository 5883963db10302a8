import assert from 'node:assert/strict'
import test from 'node:test'
import { pageCount, pageOffset, toPageRequest } from './numbered-pages.ts'

test('page 0 of 20 is the default', () => {
  assert.deepEqual(toPageRequest({}), { number: 0, size: 20 })
})

test('a size over 100 is taken as 100', () => {
  assert.deepEqual(toPageRequest({ page: 3, size: 101 }), { number: 3, size: 100 })
  assert.deepEqual(toPageRequest({ size: 100 }), { number: 0, size: 100 })
})

test('pages are counted up, and nothing makes no page', () => {
  assert.equal(pageCount(0, 20), 0)
  assert.equal(pageCount(20, 20), 1)
  assert.equal(pageCount(21, 20), 2)
  assert.equal(pageOffset({ number: 2, size: 20 }), 40)
})
