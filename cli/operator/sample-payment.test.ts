import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toExactJson } from '../../sdk/src/plain/money.ts'
import { MOVES, PAYMENT_STATES } from '../../server/core/payments/payment.ts'
import { parsePayment } from '../../server/core/payments/payment-fields.ts'
import { parseJson } from '../../server/core/plain/exact-json.ts'
import { override, pathTo, samplePayment } from './sample-payment.ts'

test('a sample conforms', () => {
  for (let i = 0; i < 50; i++) {
    const { value, amountText } = parseJson(Buffer.from(toExactJson(samplePayment())))
    parsePayment(value, amountText)
  }
})

for (const amount of ['100.00', '9007199254740993', '0.1', '1e2', '0']) {
  test(`an override keeps ${amount} digit for digit`, () => {
    const payment = samplePayment()
    override(payment, `amount.amount=${amount}`)
    const text = toExactJson(payment)
    assert.ok(text.includes(`"amount":{"amount":${amount},`), text)
    const { value, amountText } = parseJson(Buffer.from(text))
    assert.equal(parsePayment(value, amountText).amount.amount, amount)
  })
}

test('overrides set any field, as text', () => {
  const payment = samplePayment()
  override(payment, 'reference=a=b, 12')
  override(payment, 'amount.currency=JPY')
  override(payment, 'version=7')
  override(payment, 'status.reason=checked')
  const { reference, amount, version, status } = JSON.parse(JSON.stringify(payment))
  assert.deepEqual(
    [reference, amount.currency, version, status],
    ['a=b, 12', 'JPY', 7, { reason: 'checked' }],
  )
})

for (const text of [
  'amount.amount=1,5',
  'amount.amount=',
  'amount.amount=01',
  'colour=red',
  'x',
  'status.state=PAID',
]) {
  test(`the override "${text}" is refused`, () => {
    assert.throws(() => override(samplePayment(), text))
  })
}

for (const state of PAYMENT_STATES) {
  test(`the way to ${state} is one that the moves allow`, () => {
    const way = pathTo(state)
    assert.equal(way.at(-1), state)
    for (const [index, next] of way.slice(1).entries()) {
      const from = way[index]
      assert.ok(from && MOVES[from].includes(next), `${from} to ${next}`)
    }
  })
}
