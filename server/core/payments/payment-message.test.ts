import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SAMPLE, sampleBody } from '../../../test/support/payment-sample.ts'
import { ServiceError } from '../plain/errors.ts'
import { PAYMENT_BODY_BYTES_MAX } from './payment.ts'
import { isPoison, readPaymentMessage, readPaymentRecord } from './payment-message.ts'

const ACCOUNT = '0197a000-0000-7000-8000-00000000000a'
const SUBJECT = `paybell.payments.${ACCOUNT}`
const KEY = Buffer.from(SAMPLE.id)

test('the account is the last token of the subject, in any case', () => {
  const read = readPaymentMessage(`a.b.${ACCOUNT.toUpperCase()}`, sampleBody())
  assert.equal(read.error, null)
  assert.equal(read.change?.accountId, ACCOUNT)
  assert.equal(read.change?.write.id, SAMPLE.id)
  assert.equal(read.change?.write.amount.amount, '12345.67')
})

test('a message may repeat its account, and no other', () => {
  assert.equal(readPaymentMessage(SUBJECT, sampleBody({ accountId: ACCOUNT })).error, null)
  const { error, change, paymentId } = readPaymentMessage(
    SUBJECT,
    sampleBody({ accountId: SAMPLE.id }),
  )
  assert.equal(change, null)
  assert.equal(paymentId, SAMPLE.id)
  assert.deepEqual(
    error?.errors?.map(({ pointer, code }) => [pointer, code]),
    [['/accountId', 'id-mismatch']],
  )
})

test('what cannot be read is a value with its code, never an exception', () => {
  const cases: readonly [string, Uint8Array, string][] = [
    ['paybell.payments.nobody', sampleBody(), 'account-required'],
    [SUBJECT, Buffer.from('{'), 'malformed-json'],
    [SUBJECT, Buffer.from([0xff]), 'malformed-json'],
    [SUBJECT, Buffer.alloc(PAYMENT_BODY_BYTES_MAX + 1, 0x20), 'body-too-large'],
    [SUBJECT, Buffer.from('[]'), 'invalid-fields'],
    [SUBJECT, sampleBody({ quoteId: 1 }), 'invalid-fields'],
  ]
  for (const [subject, bytes, code] of cases) {
    const { error, change } = readPaymentMessage(subject, bytes)
    assert.equal(error?.code, code)
    assert.equal(change, null)
  }
})

test('a record names its account itself, and may have members that are not known', () => {
  const read = readPaymentRecord(KEY, sampleBody({ accountId: ACCOUNT, unheardOf: 1 }))
  assert.equal(read.error, null)
  assert.equal(read.change?.accountId, ACCOUNT)
  assert.equal(read.accountId, ACCOUNT)
  assert.equal(read.change?.write.amount.amount, '12345.67')
})

test('a record that cannot be read says why, a tombstone too', () => {
  const { error, paymentId } = readPaymentRecord(KEY, sampleBody())
  assert.equal(paymentId, SAMPLE.id)
  assert.deepEqual(
    error?.errors?.map(({ pointer, code }) => [pointer, code]),
    [['/accountId', 'missing']],
  )
  const tombstone = readPaymentRecord(KEY, null)
  assert.equal(tombstone.error?.code, 'malformed-json')
  assert.match(tombstone.error?.message ?? '', /tombstone/)
  assert.equal(readPaymentRecord(KEY, Buffer.from('{')).error?.code, 'malformed-json')
  const long = Buffer.alloc(PAYMENT_BODY_BYTES_MAX + 1, 0x20)
  assert.equal(readPaymentRecord(KEY, long).error?.code, 'body-too-large')
})

test('regression: a record whose key is not the id of its payment is refused, one without a key, too', () => {
  const body = sampleBody({ accountId: ACCOUNT })
  for (const key of [SAMPLE.id, SAMPLE.id.toUpperCase()]) {
    assert.equal(readPaymentRecord(Buffer.from(key), body).error, null, key)
  }
  const capitals = sampleBody({ accountId: ACCOUNT, id: SAMPLE.id.toUpperCase() })
  assert.equal(readPaymentRecord(KEY, capitals).change?.write.id, SAMPLE.id)
  const wrong = ['', ACCOUNT, `${SAMPLE.id} `, `"${SAMPLE.id}"`, SAMPLE.id.replaceAll('-', '')]
  for (const key of [null, ...wrong.map((text) => Buffer.from(text))]) {
    const { error, change, paymentId } = readPaymentRecord(key, body)
    assert.equal(error?.code, 'key-mismatch', String(key))
    assert.equal(change, null)
    assert.equal(paymentId, SAMPLE.id, 'it keeps its place among the changes of the payment')
    assert.doesNotMatch(error.message, /0197a/)
  }
})

test('what is wrong with a payment comes before what is wrong with its key', () => {
  const { error } = readPaymentRecord(null, sampleBody({ accountId: ACCOUNT, quoteId: 1 }))
  assert.equal(error?.code, 'invalid-fields')
})

test('what may pass is tried again, what cannot is put aside', () => {
  const poison = (code: ConstructorParameters<typeof ServiceError>[0], isItsOwn = false) =>
    isPoison(new ServiceError(code, ''), isItsOwn)
  assert.deepEqual(
    ['database-away', 'overloaded'].map((code) => poison(code as 'overloaded', true)),
    [false, false],
  )
  assert.deepEqual([poison('internal'), poison('internal', true)], [false, true])
  for (const code of [
    'invalid-fields',
    'forbidden-move',
    'unknown-account',
    'malformed-json',
  ] as const) {
    assert.equal(poison(code), true)
  }
})
