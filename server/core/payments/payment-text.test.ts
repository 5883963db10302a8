import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sampleWrite } from '../../../test/support/payment-sample.ts'
import { parseJson } from '../plain/exact-json.ts'
import { PAYMENT_STATES } from './payment.ts'
import { parsePayment } from './payment-fields.ts'
import { specimenPayment, toPaymentText } from './payment-text.ts'

const payment = (changes: Record<string, unknown> = {}) => {
  const write = sampleWrite(changes)
  const status = write.status ?? { state: 'DRAFT' as const, reason: null }
  return { ...write, status, createdAt: write.createdAt ?? '2026-01-31T09:30:00Z' }
}

test('the fields are in the order of the interface, document last, and without the file', () => {
  assert.equal(
    toPaymentText(payment({ completedAt: '2026-02-01T00:00:00Z' })),
    '{"id":"5d0c63c4-9a6e-4a0e-8f0c-0d7c4d6b1a01"' +
      ',"status":{"state":"DUE","reason":"approved by two people"},"complete":false' +
      ',"createdAt":"2026-01-31T09:30:00Z","completedAt":"2026-02-01T00:00:00Z"' +
      ',"externalId":"EXT-2026-000123","quoteId":"5d0c63c4-9a6e-4a0e-8f0c-0d7c4d6b1a02"' +
      ',"amount":{"amount":12345.67,"currency":"EUR"},"reference":"Invoice 2026/17"' +
      ',"purposeOfPayment":"COMPUTER_SERVICES"' +
      ',"beneficiaryId":"5d0c63c4-9a6e-4a0e-8f0c-0d7c4d6b1a03","documentReference":"DOC-17"' +
      ',"document":{"mediaType":"application/pdf","name":"receipt.pdf"}}',
  )
})

test('optional fields that are not there are left out, and an empty text is there', () => {
  const bare = toPaymentText(
    payment({ status: undefined, documentReference: null, document: null }),
  )
  for (const name of ['reason', 'completedAt', 'documentReference', 'document', 'version']) {
    assert.ok(!bare.includes(`"${name}"`), name)
  }
  assert.match(toPaymentText(payment({ documentReference: '' })), /"documentReference":""/)
})

test('complete is true exactly in a final state', () => {
  for (const state of PAYMENT_STATES) {
    const { complete } = JSON.parse(toPaymentText(payment({ status: { state } })))
    assert.equal(complete, state === 'PAID' || state === 'CANCELLED', state)
  }
})

test('texts with quotes, line breaks and anything else come out as they went in', () => {
  const odd = '"}}\\\r\n\u2028\u0001😀,"amount":{"amount":1}'
  const document = { mediaType: 'text/plain;x="y"', name: odd, base64EncodedFile: 'TQ==' }
  const text = toPaymentText(
    payment({
      status: { state: 'DUE', reason: odd },
      externalId: odd,
      reference: odd,
      documentReference: odd,
      document,
    }),
  )
  const { value, amountText } = parseJson(Buffer.from(text))
  const read = value as Record<string, Record<string, unknown>>
  assert.equal(amountText, '12345.67')
  const kept = [
    read.externalId,
    read.reference,
    read.documentReference,
    read.document?.name,
    read.status?.reason,
  ]
  assert.deepEqual(new Set(kept), new Set([odd]))
})

test('the specimen is a valid payment: DRAFT, SPECIMEN, and no real one', () => {
  const text = specimenPayment(Date.UTC(2026, 0, 31))
  const { value, amountText } = parseJson(Buffer.from(text))
  const write = parsePayment(value, amountText)
  const nil = '00000000-0000-0000-0000-000000000000'
  assert.deepEqual([write.id, write.quoteId, write.beneficiaryId], [nil, nil, nil])
  assert.deepEqual([write.externalId, write.reference], ['SPECIMEN', 'SPECIMEN'])
  assert.deepEqual([write.status?.state, write.createdAt], ['DRAFT', '2026-01-31T00:00:00.000Z'])
})
