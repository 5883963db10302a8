import assert from 'node:assert/strict'
import { createPublicKey, sign, verify } from 'node:crypto'
import { test } from 'node:test'
import { calculateJwkThumbprint } from 'jose'
import { ASSERTION_KEY_BYTES, toAssertionKey } from './assertion-key.ts'

const ORDER = 'ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551'

test('the same bytes make the same key, other bytes another, and what it signs verifies under its public half', async () => {
  const bytes = Buffer.alloc(ASSERTION_KEY_BYTES, 7)
  const { kid, key, jwk } = toAssertionKey(bytes)
  assert.deepEqual(toAssertionKey(bytes).jwk, jwk)
  assert.notEqual(toAssertionKey(Buffer.alloc(ASSERTION_KEY_BYTES, 8)).kid, kid)
  assert.equal(kid, await calculateJwkThumbprint(jwk))
  const text = Buffer.from('signed')
  const publicKey = createPublicKey({ key: { ...jwk }, format: 'jwk' })
  assert.ok(verify('sha256', text, publicKey, sign('sha256', text, key)))
})

test('every number of bytes makes a key: none, the order of the curve, one less, the greatest', () => {
  const orderLess = (less: number) =>
    Buffer.from(ORDER, 'hex').map((byte, i) => byte - (i === 31 ? less : 0))
  const numbers = [
    Buffer.alloc(ASSERTION_KEY_BYTES),
    Buffer.concat([Buffer.alloc(16), orderLess(0)]),
    Buffer.concat([Buffer.alloc(16), orderLess(1)]),
    Buffer.concat([Buffer.alloc(16), orderLess(2)]),
    Buffer.alloc(ASSERTION_KEY_BYTES, 0xff),
  ]
  const kids = numbers.map((bytes) => toAssertionKey(bytes).kid)
  // Nothing and the order less one are the same remainder, as the order and one would be.
  assert.equal(kids[0], kids[2])
  assert.equal(new Set(kids).size, 4)
})
