import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { SAMPLE } from '../../test/support/payment-sample.ts'
import { parseJson } from './exact-json.ts'
import { parsePayment, parsePaymentLine } from './payment-fields.ts'
import { readPlainLine, readPlainPayment } from './plain-payment.ts'

const ACCOUNT = '3b1f0a52-7c86-4d1e-9f0a-8e2d5c4b6a70'
const { document: _, ...PLAIN } = SAMPLE
const PLAIN_LINE = { ...PLAIN, accountId: ACCOUNT }

function line(changes: Record<string, unknown> = {}): string {
  return JSON.stringify({ ...PLAIN_LINE, ...changes })
}

function generalLine(bytes: Uint8Array): unknown {
  const { value, amountText } = parseJson(bytes)
  return parsePaymentLine(value, amountText)
}

function generalPayment(bytes: Uint8Array, pathId: string): unknown {
  const { value, amountText } = parseJson(bytes)
  return parsePayment(value, amountText, pathId)
}

/** Whatever is read quickly is what the general way reads; it may refuse what is null here. */
function isRead(text: string): boolean {
  const bytes = Buffer.from(text)
  const read = readPlainLine(bytes)
  if (read !== null) assert.deepEqual(read, generalLine(bytes))
  const write = readPlainPayment(bytes, SAMPLE.id)
  if (write !== null) assert.deepEqual(write, generalPayment(bytes, SAMPLE.id))
  return read !== null || write !== null
}

test('what is written plainly is read, whatever the spaces, the order and what is left out', () => {
  const plain = [
    line(),
    `\t${line()}\r\n`,
    JSON.stringify(PLAIN_LINE, null, 2),
    JSON.stringify(Object.fromEntries(Object.entries(PLAIN_LINE).reverse())),
    line({ status: undefined, createdAt: undefined, documentReference: undefined }),
    line({ status: null, createdAt: null, version: null, complete: null, completedAt: null }),
    line({ status: { state: 'PAID' }, completedAt: '2026-02-28t10:00:00+02:00', complete: true }),
    line({ status: { state: 'DRAFT', reason: null }, documentReference: '', complete: false }),
    line({ version: 0, externalId: 'x', reference: 'x'.repeat(1_024) }),
    line().replace('12345.67', '100.00'),
    line().replace('12345.67', '0'),
    line().replace('12345.67', '9007199254740993'),
  ]
  for (const text of plain) {
    assert.notEqual(readPlainLine(Buffer.from(text)), null, text)
    assert.ok(isRead(text))
  }
  const { id: __, ...withoutId } = PLAIN
  for (const body of [PLAIN, withoutId]) {
    const bytes = Buffer.from(JSON.stringify(body))
    assert.deepEqual(readPlainPayment(bytes, SAMPLE.id), generalPayment(bytes, SAMPLE.id))
  }
  assert.ok(isRead(JSON.stringify(PLAIN)))
  assert.ok(readPlainLine(new Uint8Array(Buffer.from(line()))) !== null)
})

test('of members with one name the last wins, also within amount and status', () => {
  const doubled = [
    line().replace('"reference":', '"reference":"first","reference":'),
    line().replace('"amount":{', '"amount":{"amount":1,"currency":"USD"},"amount":{'),
    line().replace('"amount":12345.67', '"amount":1,"amount":12345.67'),
    line().replace('"status":{', '"status":{"state":"PAID","reason":"x"},"status":{'),
    line({ status: { state: 'DUE' } }).replace('"status":{', '"status":{"reason":"x"},"status":{'),
  ]
  for (const text of doubled) assert.ok(isRead(text), text)
})

test('what is not plain, or wrong, is left to the general way', () => {
  const others = [
    '',
    '{}',
    'null',
    '[]',
    '{',
    line(SAMPLE),
    line({ reference: 'Grüße' }),
    line({ reference: 'a "quoted" word' }),
    line({ unknown: 1 }),
    line({ reference: 5 }),
    line({ complete: 'true' }),
    line({ amount: null }),
    line({ amount: { amount: '1', currency: 'EUR' } }),
    line({ version: -1 }),
    line({ version: 1.5 }),
    line({ status: {} }),
    line({ status: { state: 'LOST' } }),
    line({ createdAt: '2026-02-29T00:00:00Z' }),
    line({ quoteId: 'no' }),
    line({ quoteId: SAMPLE.quoteId.toUpperCase() }),
    line({ beneficiaryId: SAMPLE.quoteId.replace('-', '0') }),
    line({ beneficiaryId: SAMPLE.quoteId.replace('-', '--').slice(0, 36) }),
    line({ reference: '' }),
    line({ reference: 'x'.repeat(1_025) }),
    line().replace('12345.67', '1e2'),
    line().replace('12345.67', '-1'),
    line().replace('12345.67', '01'),
    line().replace('12345.67', '1.'),
    line().replace('12345.67', '.5'),
    line().replace('12345.67', '1'.repeat(41)),
    line().replace(':17', ':017'),
    `${line()},`,
    `${line()}{}`,
    line().slice(0, -1),
    `{"id":"${SAMPLE.id}",${`"id":"${SAMPLE.id}",`.repeat(40)}${line().slice(1)}`,
    line().replace('"DOC-17"', '"null,\t"'),
    line().replace('"DOC-17"', '"null\\u0041"'),
    line().replace('EXT-', 'EXT\u0000'),
    line().replace('EXT-', 'EXT\n'),
  ]
  for (const text of others) assert.equal(isRead(text), false, text)
  const bytes = Buffer.from(JSON.stringify(PLAIN))
  assert.equal(readPlainPayment(bytes, ACCOUNT), null, 'the id of another path')
})

test('law: whatever becomes of a payment on its way, nothing is read that the general way reads otherwise', () => {
  const bit = fc.constantFrom(
    ...['"', '\\', ',', ':', '{', '}', '[', 'null', 'true', '0', '.5', 'e1', '-', ' ', '\t', '\n'],
    ...['"id":null,', '"amount":1,', '"status":null,', '"version":2,', '\u0000', 'ü', '"x":{},'],
  )
  const edit = fc.record({ at: fc.nat(600), cut: fc.integer({ min: 0, max: 3 }), bit })
  const base = fc.constantFrom(line(), JSON.stringify(PLAIN), JSON.stringify(PLAIN_LINE, null, 1))
  fc.assert(
    fc.property(base, fc.array(edit, { minLength: 1, maxLength: 3 }), (text, edits) => {
      let edited = text
      for (const { at, cut, bit } of edits) {
        edited = edited.slice(0, at) + bit + edited.slice(at + cut)
      }
      isRead(edited)
    }),
    { numRuns: 3_000 },
  )
})

test('law: payments of any texts are read alike on both ways', () => {
  const text = fc.oneof(
    { weight: 8, arbitrary: fc.string({ unit: fc.constantFrom(...'aZ09 -/_,:{}'), minLength: 1 }) },
    { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 8 }) },
  )
  const amount = fc.oneof(fc.nat(), fc.double({ noNaN: true }))
  const values = fc.record(
    {
      reference: text,
      externalId: text,
      documentReference: fc.option(text),
      status: fc.option(fc.record({ state: fc.constantFrom('DUE', 'PAID'), reason: text })),
      version: fc.option(fc.oneof(fc.nat(), fc.maxSafeInteger(), fc.double())),
      complete: fc.option(fc.boolean()),
      amount: fc.record({ amount, currency: fc.constantFrom('EUR', 'CHF', 'x') }),
    },
    { requiredKeys: [] },
  )
  let read = 0
  fc.assert(
    fc.property(values, (changes) => {
      if (isRead(line(changes))) read++
    }),
    { numRuns: 2_000 },
  )
  assert.ok(read > 50, `${read} were plain`)
})
