import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import {
  type CallbackHead,
  callbackHeaders,
  type SigningKeys,
  traceparentOf,
} from './callback-headers.ts'
import { toSigningKey } from './signature.ts'

const BODY = [Buffer.from('{"a":'), Buffer.from('1}')]
const AT_MS = 1_772_443_800_999
const HEAD: CallbackHead = {
  eventId: '019c0b8e-3c00-7000-8000-000000000001',
  kind: 'payment.paid',
  sequence: 3,
  attempt: 2,
  atMs: AT_MS,
  mark: null,
  traceparent: '00-019c0b8e3c0070008000000000000001-8000000000000001-01',
  extraHeader: null,
}
const KEYS: SigningKeys = { current: toSigningKey('new'), previous: null }

function headersOf(head: Partial<CallbackHead> = {}, keys: Partial<SigningKeys> = {}) {
  const flat = callbackHeaders({ ...HEAD, ...head }, { ...KEYS, ...keys }, BODY)
  assert.equal(flat.length % 2, 0)
  const entries = Array.from({ length: flat.length / 2 }, (_, index) => [
    String(flat[2 * index]).toLowerCase(),
    String(flat[2 * index + 1]),
  ])
  assert.equal(new Set(entries.map(([name]) => name)).size, entries.length, 'each name once')
  return Object.fromEntries(entries) as Record<string, string>
}

function hmac(key: string, encoding: 'hex' | 'base64', prefix = ''): string {
  return createHmac('sha256', key).update(`${prefix}{"a":1}`).digest(encoding)
}

const SIGNED_PREFIX = `${HEAD.eventId}.1772443800.`

test('the headers of an attempt, exactly', () => {
  assert.deepEqual(headersOf(), {
    'content-type': 'application/json',
    'user-agent': 'Paybell/1',
    'x-paybell-hmac': hmac('new', 'hex'),
    'webhook-id': HEAD.eventId,
    'webhook-timestamp': '1772443800',
    'webhook-signature': `v1,${hmac('new', 'base64', SIGNED_PREFIX)}`,
    'x-paybell-event': 'payment.paid',
    'x-paybell-sequence': '3',
    'x-paybell-attempt': '2',
    traceparent: HEAD.traceparent,
  })
})

test('G4: the previous key signs beside the new one until its end, and not from then on', () => {
  const key = toSigningKey('old')
  const during = headersOf({}, { previous: { key, untilMs: AT_MS + 1 } })
  assert.equal(during['x-paybell-hmac'], hmac('new', 'hex'))
  assert.equal(during['x-paybell-hmac-previous'], hmac('old', 'hex'))
  const signatures = ['new', 'old'].map((each) => `v1,${hmac(each, 'base64', SIGNED_PREFIX)}`)
  assert.equal(during['webhook-signature'], signatures.join(' '))
  for (const untilMs of [AT_MS, AT_MS - 1, 0]) {
    assert.deepEqual(headersOf({}, { previous: { key, untilMs } }), headersOf())
  }
})

test('test sends and replays say so, and a subscription’s header comes along', () => {
  assert.equal(headersOf({ mark: 'test' })['x-paybell-test'], 'true')
  assert.equal(headersOf({ mark: 'replay' })['x-paybell-replay'], 'true')
  assert.equal(headersOf({ mark: 'replay' })['x-paybell-test'], undefined)
  assert.equal(headersOf({ extraHeader: ['Authorization', 'Basic x'] }).authorization, 'Basic x')
})

test('the trace is the event and the span the last 64 bits of the delivery', () => {
  assert.equal(
    traceparentOf('019c0b8e-3c00-7000-8000-0000000000ab', '019c0b8e-3c01-7abc-9def-0123456789ab'),
    '00-019c0b8e3c00700080000000000000ab-9def0123456789ab-01',
  )
})
