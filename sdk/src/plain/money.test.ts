import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { SPECIMEN } from '../receiving/sign-for-test.ts'
import { parseExact, toExactJson, toMinorUnits } from './money.ts'

test('an amount is its own text, digit for digit', () => {
  for (const text of [
    '100.00',
    '9007199254740993',
    '0',
    '1e-7',
    '1.10E+2',
    '0.1000000000000000000001',
  ]) {
    const parsed = parseExact(`{"amount" : { "currency":"EUR", "amount":\n ${text} },"sequence":7}`)
    assert.deepEqual(parsed, { amount: { currency: 'EUR', amount: text }, sequence: 7 })
  }
})

test('amounts are found wherever they are, also under an escaped name', () => {
  assert.deepEqual(
    parseExact('[{"payment":{"amount":{"\\u0061mount":1.0}}},{"amount":{"amount":2.00}}]'),
    [{ payment: { amount: { amount: '1.0' } } }, { amount: { amount: '2.00' } }],
  )
})

test('what only looks like an amount is left alone', () => {
  for (const value of [
    { reference: '"amount": 1.00', other: '\\"amount\\":1.00' },
    { amounts: 1, Amount: 2, 'amount\\': 3 },
    { amount: ['amount', 1] },
    { a: '\\', amount: null },
  ]) {
    assert.deepEqual(parseExact(JSON.stringify(value)), value)
  }
})

test('what JSON.parse refuses is refused', () => {
  for (const text of [
    '',
    '{',
    '{"amount":01}',
    '{"amount":1.}',
    '{"amount":-}',
    '"\\',
    '{"amount":1 2}',
  ]) {
    assert.throws(() => parseExact(text), SyntaxError, text)
  }
})

test('law: with amounts set aside it is JSON.parse', () => {
  fc.assert(
    fc.property(fc.json(), fc.jsonValue(), (text, value) => {
      // Names that spell `amount` are the ones that differ on purpose.
      fc.pre(!/amount/.test(text))
      assert.deepEqual(parseExact(text), JSON.parse(text))
      const around = JSON.stringify({ before: value, amount: { amount: 1 }, after: value })
      assert.deepEqual(parseExact(around), { ...JSON.parse(around), amount: { amount: '1' } })
    }),
  )
})

test('law: a payment survives being written and read', () => {
  const digits = fc.stringMatching(/^(0|[1-9]\d{0,25})(\.\d{1,12})?$/)
  fc.assert(
    fc.property(digits, fc.string(), (amount, reference) => {
      const payment = { ...SPECIMEN, amount: { amount, currency: 'EUR' }, reference }
      const json = toExactJson(payment)
      assert.ok(json.includes(`"amount":${amount},`))
      assert.deepEqual(parseExact(json), payment)
    }),
  )
})

test('writing leaves out what is undefined, and refuses an amount that is none', () => {
  assert.equal(
    toExactJson({ a: undefined, amount: { amount: '1.50' } }),
    '{"amount":{"amount":1.50}}',
  )
  for (const amount of ['', '1,5', '01', '1.', 'NaN', '1}', ' 1']) {
    assert.throws(() => toExactJson({ amount: { amount } }), RangeError, amount)
  }
})

test('minor units are exact, and never rounded', () => {
  const cases: [string, number, bigint][] = [
    ['1250.50', 2, 125050n],
    ['1250.5', 2, 125050n],
    ['1250', 0, 1250n],
    ['9007199254740993.01', 2, 900719925474099301n],
    ['0.05', 2, 5n],
    ['1.50e3', 2, 150000n],
    ['150E-2', 2, 150n],
    ['5e-30', 30, 5n],
    ['1.500', 2, 150n],
    ['0.000', 0, 0n],
    ['-0.10', 2, -10n],
  ]
  for (const [amount, decimals, units] of cases) assert.equal(toMinorUnits(amount, decimals), units)
  assert.throws(() => toMinorUnits('0.005', 2), /more than 2 decimals/)
  assert.throws(() => toMinorUnits('1e-30', 2), /more than 2 decimals/)
  assert.throws(() => toMinorUnits('12,50', 2), /not a decimal number/)
})
