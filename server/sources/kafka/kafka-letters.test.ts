import assert from 'node:assert/strict'
import { test } from 'node:test'
import { batch } from '../../../test/support/kafka-batches.ts'
import { ServiceError } from '../../core/plain/errors.ts'
import { toLetters } from './kafka-letters.ts'

const PROBLEM = new ServiceError('malformed-json', 'Not JSON.')

/** What its letters say, from the whole one on. */
function letters(key: string | null, value: string | null, headers: Record<string, string> = {}) {
  const [record] = batch(7n, [value]).records
  assert.ok(record)
  const own = Object.entries(headers).map(
    ([name, text]) => [Buffer.from(name), Buffer.from(text)] as [Buffer, Buffer],
  )
  const fetched = {
    offset: 7n,
    record: { ...record, key: key === null ? null : Buffer.from(key), headers: own },
  }
  return toLetters({ topic: 'payments', partition: 2 }, fetched, PROBLEM).map((letter) => ({
    key: letter.key?.toString() ?? null,
    value: letter.value?.toString() ?? null,
    headers: Object.fromEntries([...letter.headers].map(([name, text]) => [`${name}`, `${text}`])),
  }))
}

const ORIGIN = { 'Paybell-Topic': 'payments', 'Paybell-Partition': '2', 'Paybell-Offset': '7' }
const SAID = {
  ...ORIGIN,
  'Paybell-Code': 'malformed-json',
  'Paybell-Problem': '{"code":"malformed-json","detail":"Not JSON."}',
}

test('a letter that is too large loses its value first, where that is larger, and says so', () => {
  const [whole, smaller, smallest, ...others] = letters('key', 'a long value', { trace: 'short' })
  assert.deepEqual(whole, {
    key: 'key',
    value: 'a long value',
    headers: { trace: 'short', ...SAID },
  })
  const leftOut = { 'Paybell-Body': 'left-out' }
  assert.deepEqual(smaller, {
    key: 'key',
    value: null,
    headers: { trace: 'short', ...SAID, ...leftOut },
  })
  const both = { ...leftOut, 'Paybell-Headers': 'left-out' }
  assert.deepEqual(smallest, { key: 'key', value: null, headers: { ...SAID, ...both } })
  assert.deepEqual(others, [])
})

test('it loses its headers first, where they are larger', () => {
  const [, smaller] = letters('key', 'short', { trace: 'a long trace' })
  const headers = { ...SAID, 'Paybell-Headers': 'left-out' }
  assert.deepEqual(smaller, { key: 'key', value: 'short', headers })
})

test('of a long key it keeps the beginning, and says so', () => {
  for (const letter of letters('k'.repeat(257), 'value')) {
    assert.equal(letter.key, 'k'.repeat(256))
    assert.equal(letter.headers['Paybell-Key'], 'cut')
  }
  const [whole] = letters('k'.repeat(256), 'value')
  assert.equal(whole?.headers['Paybell-Key'], undefined)
})

test('headers of an earlier letter do not pass for those of this one', () => {
  const [whole] = letters(null, 'value', { 'Paybell-Code': 'another', 'Paybell-Body': 'left-out' })
  assert.deepEqual(whole, { key: null, value: 'value', headers: SAID })
})
