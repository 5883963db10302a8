import assert from 'node:assert/strict'
import { createPublicKey, generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import { signAsymmetricNow, signedContent } from './asymmetric-signature.ts'
import { callbackHeaders } from './callback-headers.ts'
import { toSigningKey } from './signature.ts'
import { diagnose } from './signature-doctor.ts'

const NOW_MS = Date.parse('2026-11-15T09:30:00Z')
const ID = '01a1de8b-3a40-7000-83de-2166a587a47e'
const BODY = '{"id":"7c0d0a5e","amount":{"amount":1250.50,"currency":"EUR"}}'
const KEYS = { current: toSigningKey('only-we-two-know-this'), previous: null }

const pair = (kid: string) => ({ kid, key: generateKeyPairSync('ed25519').privateKey })
const [NEWEST, BEFORE, RETIRED, STRANGE] = ['newest', 'before', 'retired', 'strange'].map(pair) as [
  ReturnType<typeof pair>,
  ReturnType<typeof pair>,
  ReturnType<typeof pair>,
  ReturnType<typeof pair>,
]
const SERVICE_KEYS = (
  [
    [NEWEST, 'newest'],
    [BEFORE, 'overlap'],
    [RETIRED, 'retired'],
  ] as const
).map(([{ kid, key }, state]) => ({ kid, key: createPublicKey(key), state }))

/** The headers of a callback that these keys of the service have signed. */
function sent(...signers: (typeof NEWEST)[]): Record<string, string> {
  const body = [Buffer.from(BODY)]
  const head = {
    eventId: ID,
    kind: 'payment.due',
    sequence: 1,
    attempt: 1,
    atMs: NOW_MS,
    mark: null,
    traceparent: '00',
    extraHeader: null,
  }
  const content = signedContent(ID, NOW_MS / 1_000, body)
  const ours = signers.length === 0 ? null : signAsymmetricNow(signers, content)
  const flat = callbackHeaders(head, KEYS, body, ours)
  return Object.fromEntries(
    flat.flatMap((name, at) => (at % 2 === 0 ? [[name, flat[at + 1] as string]] : [])),
  )
}

const entriesOf = (headers: Record<string, string>) =>
  (headers['webhook-signature'] as string).split(' ')

/** The three headers of Standard Webhooks, with another signature. */
function standard(headers: Record<string, string>, signature: string): Record<string, string> {
  const { 'webhook-id': id = '', 'webhook-timestamp': timestamp = '' } = headers
  const keyId = headers['X-Paybell-Key-Id'] ?? ''
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signature,
    'X-Paybell-Key-Id': keyId,
  }
}

function ask(headers: Record<string, string>, body = BODY, hasKeys = true) {
  const { valid, findings } = diagnose({
    headers,
    body: Buffer.from(body),
    keys: KEYS,
    ...(hasKeys ? { serviceKeys: SERVICE_KEYS } : {}),
    nowMs: NOW_MS,
    eventBody: null,
  })
  return { valid, codes: findings.map(({ code }) => code) }
}

test('a callback with v1a is valid, with nothing to find; so is one in the overlap', () => {
  assert.deepEqual(ask(sent(NEWEST)), { valid: true, codes: [] })
  assert.deepEqual(ask(sent(NEWEST, BEFORE)), { valid: true, codes: [] })
  assert.deepEqual(ask(sent()), { valid: true, codes: [] })
  assert.deepEqual(ask(sent(NEWEST), BODY, false), { valid: true, codes: [] }, 'keys unknown')
})

test('v1a-not-v1: the value that is compared with an HMAC is an Ed25519 signature', () => {
  const headers = sent(NEWEST)
  const v1a = (entriesOf(headers)[1] as string).slice(4)
  assert.deepEqual(ask(standard(headers, `v1,${v1a}`)), { valid: false, codes: ['v1a-not-v1'] })
  assert.deepEqual(ask({ 'X-Paybell-Hmac': v1a }), { valid: false, codes: ['v1a-not-v1'] })
})

test('v1a-not-v1: a header with v1a alone is valid, and it is said what v1 needs', () => {
  const headers = sent(NEWEST)
  const alone = standard(headers, entriesOf(headers)[1] as string)
  assert.deepEqual(ask(alone), { valid: true, codes: ['v1a-not-v1'] })
  assert.deepEqual(ask(alone, BODY, false), { valid: false, codes: ['v1a-not-v1'] })
})

test('v1-not-v1a: what is called v1a is an HMAC', () => {
  const headers = sent()
  const v1 = (entriesOf(headers)[0] as string).slice(3)
  const codes = ['v1a-not-v1', 'v1-not-v1a']
  assert.deepEqual(ask(standard(headers, `v1a,${v1}`)), { valid: false, codes })
})

test('wrong-key-id: of a key that never was, and of another one of ours', () => {
  const unknown = { ...sent(NEWEST), 'X-Paybell-Key-Id': 'never-was' }
  assert.deepEqual(ask(unknown), { valid: true, codes: ['wrong-key-id'] })
  const other = { ...sent(NEWEST), 'X-Paybell-Key-Id': 'before' }
  assert.deepEqual(ask(other), { valid: true, codes: ['wrong-key-id'] })
  assert.deepEqual(ask(sent(STRANGE)), { valid: false, codes: ['wrong-key-id'] })
})

test('old-public-key: good in the overlap, and not after it', () => {
  assert.deepEqual(ask(sent(BEFORE)), { valid: true, codes: ['old-public-key'] })
  assert.deepEqual(ask(sent(RETIRED)), { valid: false, codes: ['old-public-key'] })
})

test('wrong-public-key: the HMACs hold, and v1a does not', () => {
  const headers = { ...sent(STRANGE), 'X-Paybell-Key-Id': 'newest' }
  assert.deepEqual(ask(headers), { valid: false, codes: ['wrong-public-key'] })
})

test('mistakes with the body are named by v1a alone, too', () => {
  const headers = sent(NEWEST)
  const alone = standard(headers, entriesOf(headers)[1] as string)
  const codes = (body: string) => ask(alone, body).codes.filter((code) => code !== 'v1a-not-v1')
  assert.deepEqual(codes(`${BODY}\n`), ['trailing-newline'])
  assert.deepEqual(codes(BODY.replaceAll('":', '": ').replaceAll(',"', ', "')).length, 1)
  assert.deepEqual(codes(BODY.replace('1250', '9250')), ['wrong-public-key'])
  assert.deepEqual(ask(headers, `${BODY}\n`).codes, ['trailing-newline'])
})

test('a v1a that is cut off or no base64 is malformed', () => {
  const headers = sent(NEWEST)
  const [v1, v1a = ''] = entriesOf(headers)
  for (const text of [v1a.slice(0, -4), 'v1a,', 'v1a,%%%%']) {
    const { valid, codes } = ask(standard(headers, `${v1} ${text}`))
    assert.deepEqual({ valid, codes }, { valid: false, codes: ['malformed-header'] }, text)
  }
})
