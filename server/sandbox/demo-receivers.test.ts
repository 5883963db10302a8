import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hmacHex, toSigningKey } from '../core/signatures/signature.ts'
import {
  DEFAULT_SCRIPT,
  DemoReceivers,
  RECEIVED_BODY_BYTES_MAX,
  RECEIVED_MAX,
  RECEIVERS_MAX,
} from './demo-receivers.ts'

const request = (body = '{}', headers = {}) => ({ headers, body: Buffer.from(body) })

test('a script goes status by status, and its last one repeats', () => {
  const receivers = new DemoReceivers()
  receivers.write('a', { ...DEFAULT_SCRIPT, script: [500, 503, 200] })
  const statuses = Array.from({ length: 5 }, () => receivers.receive('a', request(), 0).status)
  assert.deepEqual(statuses, [500, 503, 200, 200, 200])
  assert.equal(receivers.receive('another', request(), 0).status, 200)
  receivers.write('a', { ...DEFAULT_SCRIPT, script: [500, 200] })
  assert.equal(receivers.receive('a', request(), 0).status, 500)
})

test('a signature is judged over the exact bytes, with the key that was given', () => {
  const receivers = new DemoReceivers()
  const signature = hmacHex(toSigningKey('key'), [Buffer.from('{"a":1}')])
  receivers.receive('a', request('{"a":1}', { 'x-paybell-hmac': signature }), 0)
  receivers.write('a', { ...DEFAULT_SCRIPT, sharedKey: 'key' })
  receivers.receive('a', request('{"a":1}', { 'x-paybell-hmac': signature }), 0)
  receivers.receive('a', request('{"a": 1}', { 'x-paybell-hmac': signature }), 0)
  receivers.receive('a', request('{"a":1}'), 0)
  assert.deepEqual(
    receivers.view('a').received.map(({ signatureValid }) => signatureValid),
    [false, false, true, null],
  )
  assert.equal('sharedKey' in receivers.view('a'), false)
})

test('everything is bounded, and what may be a secret is not kept', () => {
  const receivers = new DemoReceivers()
  const long = 'x'.repeat(RECEIVED_BODY_BYTES_MAX + 1)
  for (let n = 0; n <= RECEIVED_MAX; n++) {
    receivers.receive('a', request(long, { authorization: 'Bearer x', 'webhook-id': `${n}` }), 0)
  }
  const { received, count } = receivers.view('a')
  assert.equal(count, RECEIVED_MAX + 1)
  assert.equal(received.length, RECEIVED_MAX)
  assert.deepEqual(received[0]?.headers, { 'webhook-id': `${RECEIVED_MAX}` })
  assert.equal(received[0]?.body.length, RECEIVED_BODY_BYTES_MAX)
  assert.equal(received[0]?.bodyBytes, long.length)
  for (let n = 0; n < RECEIVERS_MAX; n++) receivers.receive(`other-${n}`, request(), 0)
  assert.equal(receivers.view('a').count, 0)
  assert.equal(receivers.view('other-0').count, 1)
  receivers.reset('other-0')
  assert.equal(receivers.view('other-0').count, 0)
})
