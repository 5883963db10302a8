import assert from 'node:assert/strict'
import { test } from 'node:test'
import { paintFor } from '../basics/terminal.ts'
import type { Forwarded } from './forward.ts'
import {
  answeredLine,
  arrivedLine,
  bodyLines,
  hintFor,
  type ShownCallback,
} from './listen-lines.ts'

const PLAIN = paintFor(false)
const URL_TEXT = 'http://localhost:3000/hook'
const CALLBACK: ShownCallback = {
  at: new Date('2026-03-02T14:32:15.400Z'),
  offerId: 'o',
  deliveryId: '019c1f6e-7a52-7c1e-9d0b-3f6a1c2b4d5e',
  eventId: 'e',
  event: 'payment.paid',
  sequence: 3,
  attempt: 1,
  isReplay: false,
  isTest: false,
  signature: 'ok',
}

function answered(status: number, body = ''): Forwarded {
  return { status, error: null, durationMs: 23, body: Buffer.from(body), retryAfter: null }
}

test('a callback is a line when it comes, and one when it is answered', () => {
  assert.equal(
    arrivedLine(CALLBACK, PLAIN),
    '14:32:15Z --> payment.paid [019c1f6e-7a52-7c1e-9d0b-3f6a1c2b4d5e] seq 3 attempt 1 signature ok',
  )
  const to = { at: CALLBACK.at, url: URL_TEXT, paint: PLAIN }
  assert.equal(
    answeredLine(CALLBACK, answered(200), to),
    '14:32:15Z <-- [200] POST http://localhost:3000/hook (23 ms) [019c1f6e-7a52-7c1e-9d0b-3f6a1c2b4d5e]',
  )
  const test = { ...CALLBACK, deliveryId: null, isTest: true, signature: 'wrong-key' }
  assert.match(arrivedLine(test, PLAIN), /\[test\] seq 3 attempt 1 test signature wrong-key$/)
})

test('every answer but 200 that has a usual reason comes with a hint', () => {
  assert.equal(hintFor(answered(200), URL_TEXT), null)
  assert.match(hintFor(answered(204), URL_TEXT) ?? '', /answer exactly 200, not 204/)
  assert.match(hintFor(answered(301), URL_TEXT) ?? '', /never followed/)
  assert.match(hintFor(answered(401), URL_TEXT) ?? '', /raw body/)
  assert.match(hintFor(answered(404), URL_TEXT) ?? '', /nothing at \/hook/)
  assert.equal(hintFor(answered(500), URL_TEXT), null)
  for (const error of ['connect-error', 'dns-error', 'tls-error', 'timeout'] as const) {
    assert.ok(hintFor({ status: null, error, durationMs: 1 }, URL_TEXT), error)
  }
})

test('of a body the first lines are shown, and nothing that moves the cursor', () => {
  assert.equal(bodyLines(Buffer.from(' \n')), '')
  assert.equal(bodyLines(Buffer.from('one\r\ntwo\u001b[2J')), '    one\n    two\\u001b[2J')
  const lines = bodyLines(Buffer.from('x\n'.repeat(100))).split('\n')
  assert.deepEqual([lines.length, lines.at(-1)], [7, '    …'])
  assert.ok(bodyLines(Buffer.from('y'.repeat(4_000))).length < 300)
})
