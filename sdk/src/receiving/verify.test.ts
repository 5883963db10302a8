import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import vectors from '../../../test/vectors/signatures.json' with { type: 'json' }
import { SignatureError, type SignatureErrorCode } from '../plain/errors.ts'
import { hmacSha256, toHex } from '../plain/hmac.ts'
import { signForTest } from './sign-for-test.ts'
import { type VerifyOptions, verify, verifySignature } from './verify.ts'

const KEY = 'a key with spaces, "quotes" and é'

function refuses(code: SignatureErrorCode, promise: Promise<unknown>): Promise<void> {
  return assert.rejects(promise, (error) => error instanceof SignatureError && error.code === code)
}

function without(headers: Record<string, string>, ...names: string[]): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !names.includes(name)))
}

for (const { name, keyHex, dataHex, hmac } of vectors.rfc4231) {
  test(name, async () => {
    const bytes = (hex: string) =>
      Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number(`0x${byte}`))
    assert.equal(toHex(await hmacSha256(bytes(keyHex), bytes(dataHex))), hmac)
  })
}

for (const vector of vectors.callbacks) {
  const { sharedKey, body } = vector
  const now = new Date(vector.webhookTimestamp * 1_000)

  test(`the shared vectors hold in both dialects: ${vector.name}`, async () => {
    const standard = {
      'webhook-id': vector.webhookId,
      'webhook-timestamp': String(vector.webhookTimestamp),
      'webhook-signature': vector.webhookSignature,
    }
    const hmac = { 'x-paybell-hmac': vector.hmac }
    const { id } = await verifySignature(body, { ...standard, ...hmac }, sharedKey, { now })
    assert.equal(id, vector.webhookId)
    await verifySignature(body, standard, sharedKey, { now })
    await verifySignature(body, hmac, sharedKey, { dialect: 'hmac' })
    await refuses('signature-mismatch', verifySignature(body, standard, `${sharedKey} `, { now }))
    await refuses('signature-mismatch', verifySignature(`${body}\n`, standard, sharedKey, { now }))
  })

  test(`what is signed for tests is what the vectors say: ${vector.name}`, async () => {
    const signed = await signForTest({ sharedKey, body, id: vector.webhookId, at: now })
    assert.equal(signed.headers['x-paybell-hmac'], vector.hmac)
    assert.equal(signed.headers['webhook-signature'], vector.webhookSignature)
  })
}

test('a callback is opened: what the headers say, and the payment with its exact amount', async () => {
  const at = new Date('2026-11-15T09:30:00Z')
  const { body, headers } = await signForTest({
    sharedKey: KEY,
    id: 'event-1',
    event: 'payment.paid',
    sequence: 3,
    attempt: 2,
    at,
    isReplay: true,
    payment: { amount: { amount: '9007199254740993.10', currency: 'EUR' } },
  })
  const callback = await verify(body, headers, KEY, { now: at })
  const { payment, ...rest } = callback
  assert.deepEqual(rest, {
    id: 'event-1',
    event: 'payment.paid',
    sequence: 3,
    attempt: 2,
    sentAt: at,
    isTest: false,
    isReplay: true,
  })
  assert.equal(payment.amount.amount, '9007199254740993.10')
})

test('the raw body may be text, bytes, a buffer or an ArrayBuffer; a parsed one is refused', async () => {
  const { body, headers } = await signForTest({ sharedKey: KEY })
  const text = new TextDecoder().decode(body)
  for (const raw of [text, body, Buffer.from(body), body.buffer]) await verify(raw, headers, KEY)
  await assert.rejects(verify(JSON.parse(text), headers, KEY), /TypeError: Give the raw body/)
  // The commonest mistake: 1250.50 is written as 1250.5.
  await refuses('signature-mismatch', verify(JSON.stringify(JSON.parse(text)), headers, KEY))
})

test('headers may be Headers, a plain object in any case, or lists as in Node', async () => {
  const { body, headers } = await signForTest({ sharedKey: KEY, sequence: 4 })
  const inCapitals = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]),
  )
  const inLists = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, [value]]),
  )
  for (const each of [new Headers(headers), headers, inCapitals, inLists]) {
    assert.equal((await verify(body, each, KEY)).sequence, 4)
  }
  await refuses('signature-mismatch', verify(body, { ...headers, 'Webhook-Id': 'another' }, KEY))
})

test('each reason has a code of its own', async () => {
  const at = new Date('2026-11-15T09:30:00Z')
  const { body, headers } = await signForTest({ sharedKey: KEY, at })
  const check = (changes: Record<string, string>, options: VerifyOptions = {}) =>
    verify(body, { ...headers, ...changes }, KEY, { now: at, ...options })
  for (const name of ['webhook-id', 'webhook-timestamp', 'webhook-signature']) {
    await refuses('missing-header', verify(body, without(headers, name), KEY, { now: at }))
    await refuses('missing-header', check({ [name]: '' }))
  }
  await refuses('malformed-header', check({ 'webhook-timestamp': '2026-11-15T09:30:00Z' }))
  await refuses(
    'signature-mismatch',
    check({ 'webhook-timestamp': String(at.getTime() / 1_000 + 1) }),
  )
  await refuses('signature-mismatch', check({ 'x-paybell-hmac': '0'.repeat(64) }))
  for (const name of ['webhook-signature', 'x-paybell-hmac']) {
    await refuses('signature-mismatch', check({ [name]: `${headers[name]}0` }))
    await refuses('signature-mismatch', check({ [name]: `${headers[name]?.slice(0, -1)}` }))
  }
  await refuses('timestamp-too-old', check({}, { now: new Date(at.getTime() + 301_000) }))
  await refuses('timestamp-too-new', check({}, { now: new Date(at.getTime() - 301_000) }))
  await check({}, { now: new Date(at.getTime() + 300_000) })
  await check({}, { now: new Date(at.getTime() + 3_600_000), toleranceSeconds: 3_600 })
  for (const text of ['', 'null', '[]', '{"id":1}', '{"id":"x"', '\uFEFF{"id":"x"}']) {
    const signed = await signForTest({ sharedKey: KEY, body: text })
    await refuses('malformed-body', verify(signed.body, signed.headers, KEY))
  }
})

test('too old names both times, because the clock of the receiver may be wrong', async () => {
  const { body, headers } = await signForTest({
    sharedKey: KEY,
    at: new Date('2026-11-15T09:30:00Z'),
  })
  await assert.rejects(
    verify(body, headers, KEY, { now: new Date('2026-11-15T10:30:00Z') }),
    /09:30:00.*3600 s ago.*10:30:00/,
  )
})

test('leaving a header out never weakens the check', async () => {
  const { body, headers } = await signForTest({ sharedKey: KEY, at: new Date(0) })
  const stripped = without(headers, 'webhook-signature', 'webhook-timestamp')
  await refuses('missing-header', verify(body, stripped, KEY))
})

test('during a rotation: old and new key on either side', async () => {
  const rotated = await signForTest({ sharedKey: 'new key', previousKey: 'old key' })
  for (const dialect of ['standard', 'hmac'] as const) {
    for (const keys of ['new key', 'old key', ['old key', 'new key']]) {
      await verify(rotated.body, rotated.headers, keys, { dialect })
    }
    const before = await signForTest({ sharedKey: 'old key' })
    await verify(before.body, before.headers, ['new key', 'old key'], { dialect })
    await refuses('signature-mismatch', verify(before.body, before.headers, 'new key', { dialect }))
  }
})

test('a key that is missing is a mistake of the program, not of the sender', async () => {
  const { body, headers } = await signForTest({ sharedKey: KEY })
  for (const keys of [undefined, '', [], ['']]) {
    await assert.rejects(verify(body, headers, keys as string), /TypeError: sharedKey is missing/)
  }
})

test('law: any one bit changed in the body or in what signs it is refused', async () => {
  const signed = ['webhook-id', 'webhook-timestamp', 'webhook-signature', 'x-paybell-hmac'] as const
  const at = new Date('2026-11-15T09:30:00Z')
  await fc.assert(
    fc.asyncProperty(
      fc.string({ minLength: 1 }),
      fc.uint8Array({ minLength: 1, maxLength: 200 }),
      fc.constantFrom('body' as const, ...signed),
      fc.nat(),
      fc.nat(7),
      async (sharedKey, bytes, where, position, bit) => {
        const { body, headers } = await signForTest({ sharedKey, body: bytes, at })
        await verifySignature(body, headers, sharedKey, { now: at })
        const target = where === 'body' ? Uint8Array.from(body) : Buffer.from(headers[where] ?? '')
        const index = position % target.length
        target[index] = (target[index] ?? 0) ^ (1 << bit)
        const changed =
          where === 'body'
            ? verifySignature(target, headers, sharedKey, { now: at })
            : verifySignature(
                body,
                { ...headers, [where]: Buffer.from(target).toString('latin1') },
                sharedKey,
                { now: at, toleranceSeconds: Number.POSITIVE_INFINITY },
              )
        await assert.rejects(changed, SignatureError)
      },
    ),
    { numRuns: 300 },
  )
})
