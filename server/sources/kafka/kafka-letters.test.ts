import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encode, fetched } from '../../../test/support/kafka-batches.ts'
import { PAYMENT_BODY_BYTES_MAX } from '../../core/payments/payment.ts'
import { ServiceError } from '../../core/plain/errors.ts'
import { readBatches } from '../batches/record-batches.ts'
import { toLetters } from './kafka-letters.ts'

const PROBLEM = new ServiceError('malformed-json', 'Not JSON.')

/** What its letters say, from the whole one on. */
async function letters(
  key: string | null,
  value: string | Buffer | null,
  headers: Record<string, string> | Map<Buffer, Buffer> = {},
) {
  const own =
    headers instanceof Map
      ? headers
      : new Map(
          Object.entries(headers).map(([name, text]) => [Buffer.from(name), Buffer.from(text)]),
        )
  const content = { key: key === null ? null : Buffer.from(key), value, headers: own }
  const [one] = await Array.fromAsync(readBatches(fetched(2, [encode(7n, [content])]), 7n))
  assert.ok(one?.kind === 'record')
  return toLetters({ topic: 'payments', partition: 2 }, one, PROBLEM).map((letter) => ({
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

test('a letter that is too large loses its value first, where that is larger, and says so', async () => {
  const [whole, smaller, smallest, ...others] = await letters('key', 'a long value', {
    trace: 'short',
  })
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

test('it loses its headers first, where they are larger', async () => {
  const [, smaller] = await letters('key', 'short', { trace: 'a long trace' })
  const headers = { ...SAID, 'Paybell-Headers': 'left-out' }
  assert.deepEqual(smaller, { key: 'key', value: 'short', headers })
})

test('of a long key it keeps the beginning, and says so', async () => {
  for (const letter of await letters('k'.repeat(257), 'value')) {
    assert.equal(letter.key, 'k'.repeat(256))
    assert.equal(letter.headers['Paybell-Key'], 'cut')
  }
  const [whole] = await letters('k'.repeat(256), 'value')
  assert.equal(whole?.headers['Paybell-Key'], undefined)
})

test('headers of an earlier letter do not pass for those of this one', async () => {
  const [whole] = await letters(null, 'value', {
    'Paybell-Code': 'another',
    'Paybell-Body': 'left-out',
  })
  assert.deepEqual(whole, { key: null, value: 'value', headers: SAID })
})

test('regression: a value that was never a payment is not sent, however much a broker would take', async () => {
  const value = Buffer.alloc(PAYMENT_BODY_BYTES_MAX + 2 * 1_024 * 1_024, 'x')
  const all = await letters('key', value, { trace: 'short' })
  assert.deepEqual(
    all.map((letter) => [letter.value, letter.headers['Paybell-Body']]),
    [
      [null, 'left-out'],
      [null, 'left-out'],
    ],
  )
  assert.equal(all[0]?.headers.trace, 'short')
  const [whole] = await letters('key', value.subarray(0, PAYMENT_BODY_BYTES_MAX))
  assert.equal(whole?.value?.length, PAYMENT_BODY_BYTES_MAX)
})

test('regression: of a record with a million headers none is kept, and no object is made of them', async () => {
  const many = new Map(Array.from({ length: 1_001 }, () => [Buffer.from('h'), Buffer.alloc(0)]))
  for (const letter of await letters('key', 'value', many)) {
    assert.equal(letter.headers['Paybell-Headers'], 'left-out')
    assert.equal(letter.headers.h, undefined)
  }
})

test('the letter of a batch that was not read names its offsets, its codec and the reason', () => {
  const problem = new ServiceError('unreadable-batch', 'Too large.')
  const refused = { kind: 'refused', offset: 7n, last: 19n, codec: 'zstd', problem } as const
  const [letter, ...others] = toLetters({ topic: 'payments', partition: 2 }, refused, problem)
  assert.deepEqual(others, [])
  assert.deepEqual([letter?.key, letter?.value], [null, null])
  const said = [...(letter?.headers ?? [])].map(([name, text]) => [String(name), String(text)])
  assert.deepEqual(Object.fromEntries(said), {
    ...ORIGIN,
    'Paybell-Code': 'unreadable-batch',
    'Paybell-Problem': '{"code":"unreadable-batch","detail":"Too large."}',
    'Paybell-Last-Offset': '19',
    'Paybell-Codec': 'zstd',
    'Paybell-Body': 'left-out',
  })
})
