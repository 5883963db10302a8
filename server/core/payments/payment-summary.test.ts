import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NIL_UUID } from '../plain/uuid.ts'
import { moneyText, summaryOf } from './payment-summary.ts'
import { specimenPayment, toPaymentText } from './payment-text.ts'

test('the digits of an amount stay as they were written, whatever stands around them', () => {
  for (const amount of ['100.00', '9007199254740993', '1e-7', '0']) {
    const text = toPaymentText({
      id: NIL_UUID,
      status: {
        state: 'DUE',
        reason: 'said ,"amount":{"amount":1,"currency":"EUR"} and "externalId":"X"',
      },
      createdAt: '2026-03-02T09:30:00.000Z',
      completedAt: null,
      externalId: 'a "quoted" one',
      quoteId: NIL_UUID,
      amount: { amount, currency: 'CHF' },
      reference: 'r',
      purposeOfPayment: 'OTHER',
      beneficiaryId: NIL_UUID,
      documentReference: null,
      document: null,
    })
    const summary = summaryOf(text) ?? assert.fail('none')
    assert.deepEqual(summary.amount, { amount, currency: 'CHF' })
    assert.equal(moneyText(summary.amount), `{"amount":${amount},"currency":"CHF"}`)
    assert.equal(summary.externalId, 'a "quoted" one')
    assert.equal(summary.status.state, 'DUE')
  }
  assert.equal(summaryOf(specimenPayment(0))?.externalId, 'SPECIMEN')
})

test('an erased payment has no summary', () => {
  assert.equal(summaryOf(`{"id":"${NIL_UUID}","erasedAt":"2026-03-02T09:30:00Z"}`), null)
})
