import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { SAMPLE } from '../../../test/support/payment-sample.ts'
import { isErased } from './erasure.ts'

test('an erased text is known by its second member, and by nothing that a payment can say', () => {
  const id = randomUUID()
  assert.equal(isErased(`{"id":"${id}","erasedAt":"2026-11-15T09:30:00.000Z","status":{}}`), true)
  assert.equal(
    isErased(`{"id":"${id}","status":{"state":"DRAFT","reason":"\\"erasedAt\\":\\""}}`),
    false,
  )
  assert.equal(isErased(JSON.stringify({ ...SAMPLE, id, reference: '"erasedAt":"' })), false)
  assert.equal(isErased('{}'), false)
})
