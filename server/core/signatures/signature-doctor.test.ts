import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { callbackHeaders, type SigningKeys } from './callback-headers.ts'
import { toSigningKey } from './signature.ts'
import { diagnose } from './signature-doctor.ts'
import type { FindingCode } from './signature-findings.ts'

const NOW_MS = Date.parse('2026-11-15T09:30:00Z')
const KEY = 'only-we-two-know-this'
const OLD_KEY = 'the-one-from-before'
const EVENT_ID = '01a1de8b-3a40-7000-83de-2166a587a47e'
const BODY =
  '{"id":"7c0d0a5e-54c8-4b56-9f0e-2a4f5d1c9b11","status":{"state":"DUE"},"complete":false,"createdAt":"2026-11-15T09:30:00.000Z","externalId":"INV-2026-0042","quoteId":"0f7f2a61-9d0c-4f5e-8a3f-6d1b8a2c7e90","amount":{"amount":1250.50,"currency":"EUR"},"reference":"Invoice 42 / Zürich <&>","purposeOfPayment":"COMPUTER_SERVICES","beneficiaryId":"c1f0a3de-8a1b-4b7c-9d2e-5f6a7b8c9d0e"}'

const KEYS: SigningKeys = {
  current: toSigningKey(KEY),
  previous: { key: toSigningKey(OLD_KEY), untilMs: NOW_MS + 3_600_000 },
}
const ONE_KEY: SigningKeys = { ...KEYS, previous: null }

/** The headers of a callback, as they are sent. */
function sent(body = BODY, keys = ONE_KEY, atMs = NOW_MS): Record<string, string> {
  const flat = callbackHeaders(
    {
      eventId: EVENT_ID,
      kind: 'payment.due',
      sequence: 1,
      attempt: 1,
      atMs,
      mark: null,
      traceparent: '00',
      extraHeader: null,
    },
    keys,
    [Buffer.from(body)],
  )
  const headers: Record<string, string> = {}
  for (let at = 0; at < flat.length; at += 2) headers[flat[at] as string] = flat[at + 1] as string
  return headers
}

function without(name: string): Record<string, string> {
  return Object.fromEntries(Object.entries(sent()).filter(([given]) => given !== name))
}

interface Case {
  headers?: Record<string, string>
  body?: string
  keys?: SigningKeys
  event?: string | null
  nowMs?: number
}

function ask({ headers = sent(), body = BODY, keys = ONE_KEY, event = null, nowMs }: Case) {
  const { valid, findings } = diagnose({
    headers,
    body: Buffer.from(body),
    keys,
    nowMs: nowMs ?? NOW_MS,
    eventBody: event === null ? null : Buffer.from(event),
  })
  for (const { detail } of findings) {
    assert.ok(!detail.includes(KEY) && !detail.includes(OLD_KEY), 'a key is shown')
  }
  return { valid, codes: findings.map(({ code }) => code) }
}

function hmac(body: string, key = KEY): string {
  return createHmac('sha256', key).update(body).digest('hex')
}

test('a callback as it was sent is valid, with nothing to find', () => {
  assert.deepEqual(ask({}), { valid: true, codes: [] })
  assert.deepEqual(ask({ headers: sent(BODY, KEYS), keys: KEYS }), { valid: true, codes: [] })
  assert.deepEqual(ask({ event: BODY }), { valid: true, codes: [] })
  const { 'X-Paybell-Hmac': value } = sent()
  assert.deepEqual(ask({ headers: { 'x-paybell-hmac': value as string } }), {
    valid: true,
    codes: [],
  })
})

test('a receiver that checks webhook-signature alone gives those headers, and nothing is missing', () => {
  const headers = Object.fromEntries(
    Object.entries(sent()).filter(([name]) => name.startsWith('webhook-')),
  )
  assert.deepEqual(ask({ headers }), { valid: true, codes: [] })
})

test('missing-header: an HMAC under another name is found, and both names are said', () => {
  const { 'X-Paybell-Hmac': value = '', ...rest } = sent()
  const forms: Record<string, string>[] = [
    { 'X-Acme-Signature': value },
    { ...rest, 'x-acme-signature': value },
  ]
  for (const headers of forms) {
    const given = { headers, body: Buffer.from(BODY), keys: ONE_KEY, nowMs: NOW_MS }
    const { valid, findings } = diagnose({ ...given, eventBody: null })
    assert.equal(valid, false)
    assert.deepEqual(
      findings.map(({ code }) => code),
      ['missing-header'],
    )
    assert.match(findings[0]?.detail ?? '', /is right, .* in x-acme-signature .* X-Paybell-Hmac/i)
    const chosen = { ...given, hmacHeaderName: 'X-Acme-Signature', eventBody: null }
    assert.equal(diagnose(chosen).valid, true)
  }
})

test('two spellings of a header name are one header', () => {
  const headers = Object.fromEntries(
    Object.entries(sent()).map(([name, value]) => [name.toUpperCase(), value]),
  )
  assert.deepEqual(ask({ headers }), { valid: true, codes: [] })
})

const REWRITTEN: Record<string, string> = {
  'JavaScript, which drops the zero of 1250.50': JSON.stringify(JSON.parse(BODY)),
  'two spaces of indentation': JSON.stringify(JSON.parse(BODY), null, 2),
  'other spacing, digits kept': BODY.replaceAll('":', '": ').replaceAll(',"', ', "'),
  'other order of members': JSON.stringify(
    Object.fromEntries(Object.entries(JSON.parse(BODY)).reverse()),
  ),
  'escapes in place of umlauts': JSON.stringify(JSON.parse(BODY)).replaceAll('ü', '\\u00fc'),
}

for (const [what, body] of Object.entries(REWRITTEN)) {
  test(`body-reserialised: the body was written again (${what})`, () => {
    const codes: FindingCode[] = ['body-reserialised']
    assert.deepEqual(ask({ body }), { valid: false, codes })
    assert.deepEqual(ask({ body, event: BODY }), { valid: false, codes })
    // The other way round: the receiver computes over what it has written again.
    const plain = { 'X-Paybell-Hmac': hmac(body) }
    if (!what.includes('digits kept') && !what.includes('order')) {
      assert.deepEqual(ask({ headers: plain }), { valid: false, codes })
    }
  })
}

test('body-reserialised: a signature over the rewritten body holds, and the finding says what it is worth', () => {
  const body = JSON.stringify(JSON.parse(BODY), null, 2)
  const headers = { 'X-Paybell-Hmac': hmac(body), 'webhook-id': EVENT_ID }
  assert.deepEqual(ask({ headers, body, event: BODY }), {
    valid: true,
    codes: ['body-reserialised'],
  })
})

const base64 = Buffer.from(hmac(BODY), 'hex').toString('base64')
const { 'webhook-signature': standard = '', ...rest } = sent()
const standardHex = Buffer.from(standard.slice(3), 'base64').toString('hex')

const CASES: Record<string, [Case, FindingCode[]]> = {
  'base64-not-hex': [{ headers: { 'X-Paybell-Hmac': base64 } }, ['base64-not-hex']],
  'base64-not-hex, of another key': [
    { headers: { 'X-Paybell-Hmac': Buffer.alloc(32, 1).toString('base64') } },
    ['base64-not-hex', 'wrong-key'],
  ],
  'hex-not-base64': [
    { headers: { ...rest, 'webhook-signature': `v1,${standardHex}` } },
    ['hex-not-base64'],
  ],
  'trailing-newline in the body': [{ body: `${BODY}\n` }, ['trailing-newline']],
  'trailing-newline in what was signed': [
    { headers: { 'X-Paybell-Hmac': hmac(`${BODY}\n`) } },
    ['trailing-newline'],
  ],
  'trailing-newline, known from the event': [
    { body: `${BODY}\r\n`, event: BODY },
    ['trailing-newline'],
  ],
  'wrong-key': [
    { headers: sent(BODY, { ...KEYS, current: toSigningKey('another') }) },
    ['wrong-key'],
  ],
  'wrong-key, for sure': [
    { headers: sent(BODY, { current: toSigningKey('another'), previous: null }), event: BODY },
    ['wrong-key'],
  ],
  'wrong-key: read with its line feed': [
    { headers: { 'X-Paybell-Hmac': hmac(BODY, `${KEY}\n`) } },
    ['wrong-key'],
  ],
  'wrong key and a body written again': [
    {
      headers: { 'X-Paybell-Hmac': hmac('{}', 'another') },
      body: JSON.stringify(JSON.parse(BODY)),
      event: BODY,
    },
    ['body-reserialised', 'wrong-key'],
  ],
  'timestamp-too-old': [{ headers: sent(BODY, ONE_KEY, NOW_MS - 301_000) }, ['timestamp-too-old']],
  'timestamp-in-future': [
    { headers: sent(BODY, ONE_KEY, NOW_MS + 301_000) },
    ['timestamp-in-future'],
  ],
  'timestamp in milliseconds': [
    { headers: { 'X-Paybell-Hmac': hmac(BODY), 'webhook-timestamp': String(NOW_MS) } },
    ['malformed-header'],
  ],
  'missing-header: no signature': [{ headers: { 'webhook-id': EVENT_ID } }, ['missing-header']],
  'missing-header: no headers at all': [{ headers: {} }, ['missing-header']],
  'missing-header: no timestamp': [
    { headers: { 'webhook-signature': standard, 'webhook-id': EVENT_ID } },
    ['missing-header'],
  ],
  'missing-header: the rest of a callback without its HMAC': [
    { headers: without('X-Paybell-Hmac') },
    ['missing-header'],
  ],
  'missing-header: an empty HMAC': [
    { headers: { ...sent(), 'X-Paybell-Hmac': '' } },
    ['missing-header'],
  ],
  'missing-header: one of two signatures cannot be checked': [
    { headers: without('webhook-timestamp') },
    ['missing-header'],
  ],
  'previous-key, when its day is over': [
    { headers: { 'X-Paybell-Hmac': hmac(BODY, OLD_KEY) }, keys: KEYS, nowMs: NOW_MS + 7_200_000 },
    ['previous-key'],
  ],
  'the body says something else': [
    { body: BODY.replace('1250.50', '9250.50'), event: BODY },
    ['body-changed'],
  ],
  'the signature covers the body alone': [
    { headers: { ...rest, 'webhook-signature': `v1,${base64}` } },
    ['signed-content-incomplete'],
  ],
  'another id': [
    { headers: { ...sent(), 'webhook-id': '01a1de8b-3a40-7000-83de-2166a587a47f' } },
    ['id-or-timestamp-changed'],
  ],
  'upper case': [{ headers: { 'X-Paybell-Hmac': hmac(BODY).toUpperCase() } }, ['malformed-header']],
  'no signature at all in the header': [
    { headers: { 'X-Paybell-Hmac': 'ok' } },
    ['malformed-header'],
  ],
}

for (const [what, [given, codes]] of Object.entries(CASES)) {
  test(`${what}: named, and not valid`, () => {
    assert.deepEqual(ask(given), { valid: false, codes })
  })
}

test('previous-key: valid for 24 hours, and reported as such', () => {
  const headers = sent(BODY, { current: toSigningKey(OLD_KEY), previous: null })
  assert.deepEqual(ask({ headers, keys: KEYS }), { valid: true, codes: ['previous-key'] })
  const previous = sent(BODY, KEYS)['X-Paybell-Hmac-Previous'] as string
  assert.deepEqual(ask({ headers: { 'X-Paybell-Hmac-Previous': previous }, keys: KEYS }), {
    valid: true,
    codes: ['previous-key'],
  })
})

/** The rule of the interface, written once more and otherwise. */
function isRight(headers: Record<string, string>, body: Buffer, keys: readonly string[]): boolean {
  const id = headers['webhook-id'] ?? ''
  const timestamp = headers['webhook-timestamp'] ?? ''
  return keys.some((key) => {
    const plain = createHmac('sha256', key).update(body).digest('hex')
    const whole = Buffer.concat([Buffer.from(`${id}.${timestamp}.`), body])
    const entry = `v1,${createHmac('sha256', key).update(whole).digest('base64')}`
    return (
      headers['X-Paybell-Hmac'] === plain ||
      headers['X-Paybell-Hmac-Previous'] === plain ||
      (headers['webhook-signature'] ?? '').split(' ').includes(entry)
    )
  })
}

test('whatever is given, a signature that does not verify is never called valid', () => {
  const damage = fc.constantFrom<(headers: Record<string, string>, body: Buffer) => Buffer>(
    (_, body) => body,
    (_, body) => Buffer.concat([body, Buffer.from('\n')]),
    (_, body) => body.subarray(0, -1),
    (_, body) => Buffer.from(body.toString().replaceAll(',', ', ')),
    (_, body) => Buffer.from(body.toString().replace(/\d/, '7')),
    (headers, body) => {
      delete headers['X-Paybell-Hmac']
      return body
    },
    (headers, body) => {
      delete headers['webhook-signature']
      return body
    },
    (headers, body) => {
      headers['X-Paybell-Hmac'] = (headers['X-Paybell-Hmac'] ?? '').toUpperCase()
      return body
    },
    (headers, body) => {
      const value = headers['X-Paybell-Hmac'] ?? ''
      headers['X-Paybell-Hmac'] = Buffer.from(value, 'hex').toString('base64')
      return body
    },
    (headers, body) => {
      headers['webhook-timestamp'] = String(Number(headers['webhook-timestamp']) + 1)
      return body
    },
    (headers, body) => {
      headers['webhook-id'] += ' '
      return body
    },
    (headers, body) => {
      headers['webhook-signature'] = `v1,AAAA v1a,b ${headers['webhook-signature']}`
      return body
    },
  )
  const keyText = fc.constantFrom(KEY, OLD_KEY, 'another', `${KEY}\n`, ` ${KEY}`)
  fc.assert(
    fc.property(
      fc.json(),
      keyText,
      fc.array(damage, { maxLength: 3 }),
      fc.integer({ min: -400, max: 400 }),
      fc.boolean(),
      fc.boolean(),
      (json, signer, damages, offsetSeconds, hasPrevious, knowsEvent) => {
        const original = Buffer.from(json)
        const signing = { current: toSigningKey(signer), previous: null }
        const headers = sent(json, signing, NOW_MS + offsetSeconds * 1_000)
        let body: Buffer = original
        for (const apply of damages) body = apply(headers, body)
        const { valid } = diagnose({
          headers,
          body,
          keys: hasPrevious ? KEYS : ONE_KEY,
          nowMs: NOW_MS,
          eventBody: knowsEvent ? original : null,
        })
        if (!valid) return
        const trimmed = { ...headers, 'webhook-id': (headers['webhook-id'] ?? '').trim() }
        assert.ok(isRight(trimmed, body, hasPrevious ? [KEY, OLD_KEY] : [KEY]))
        assert.ok(Math.abs(Number(headers['webhook-timestamp']) * 1_000 - NOW_MS) <= 301_000)
      },
    ),
    { numRuns: 3_000 },
  )
})

test('junk in every header and body neither throws nor passes', () => {
  fc.assert(
    fc.property(
      fc.dictionary(
        fc.constantFrom('X-Paybell-Hmac', 'webhook-signature', 'webhook-id', 'webhook-timestamp'),
        fc.oneof(fc.string(), fc.base64String(), fc.stringMatching(/^[0-9a-f]{64}$/)),
      ),
      fc.uint8Array({ maxLength: 200 }),
      (headers, body) => {
        const eventBody = body.length % 2 === 0 ? null : Buffer.from(BODY)
        assert.equal(diagnose({ headers, body, keys: KEYS, nowMs: NOW_MS, eventBody }).valid, false)
      },
    ),
    { numRuns: 500 },
  )
})
