import assert from 'node:assert/strict'
import { createHmac, randomBytes, randomUUID } from 'node:crypto'
import { request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { before, test } from 'node:test'
import type { Pool } from 'pg'
import { cloneDatabase } from '../../../../test/support/database.ts'
import {
  addEndpoint,
  call,
  SUBSCRIPTIONS,
  WEBHOOKS,
} from '../../../../test/support/injected-calls.ts'
import {
  assertProblem,
  onboard,
  serveHttp,
  type TestClient,
  type TestServer,
} from '../../../../test/support/injected-server.ts'
import { isTooLong, longestHoldMs } from '../../../../test/support/longest-hold.ts'
import { sampleWrite } from '../../../../test/support/payment-sample.ts'
import { until } from '../../../../test/support/until.ts'
import { signAsymmetric, signedContent } from '../../../core/signatures/asymmetric-signature.ts'
import { recordingOn } from '../../../operations/accepting/postgres-payment-store.ts'
import { recordPayments } from '../../../operations/accepting/record-payments.ts'
import { AccountDirectory } from '../../../operations/access/account-directory.ts'
import { rotateWebhookKey } from '../../../operations/access/webhook-keys.ts'

const KEY = 'canary-key-that-nobody-may-see'
const NEW_KEY = 'canary-key-number-two'
let pool: Pool

before(async () => {
  pool = (await cloneDatabase()).pool
})

async function verify(server: TestServer, client: TestClient, id: string, payload: object) {
  const url = `${WEBHOOKS.path}/${id}/verify`
  const answer = await call(server, client.headers, 'POST', url, payload)
  assert.ok(!answer.body.includes('canary'), 'a key is in the answer')
  return answer
}

function hmac(body: string | Buffer, key = KEY): string {
  return createHmac('sha256', key).update(body).digest('hex')
}

test('the doctor knows the real bytes of the event, its file included, and no key is shown', async (t) => {
  const server = await serveHttp(t, pool)
  const client = await onboard(server)
  const { id } = await addEndpoint(server, client, { sharedKey: KEY })
  const write = sampleWrite({ id: randomUUID() })
  const change = { accountId: client.accountId, write }
  const recording = recordingOn(server.deps, new AccountDirectory(pool))
  const { results } = await recordPayments(recording, [change])
  const [result] = results
  assert.ok(result && 'event' in result && result.event)
  const eventId = result.event.id
  const body = await call(server, client.bearer, 'GET', `/v1/events/${eventId}`)
  const headers = { 'X-PAYBELL-HMAC': hmac(body.body), 'Webhook-Id': eventId }

  const right = await verify(server, client, id, { headers, body: body.body })
  assert.deepEqual(right.json(), { valid: true, findings: [] })
  const bodyBase64 = Buffer.from(body.body).toString('base64')
  assert.equal((await verify(server, client, id, { headers, bodyBase64 })).json().valid, true)

  const rewritten = JSON.stringify(JSON.parse(body.body), null, 2)
  const answer = (await verify(server, client, id, { headers, body: rewritten })).json()
  assert.equal(answer.valid, false)
  assert.deepEqual(
    answer.findings.map(({ code }: { code: string }) => code),
    ['body-reserialised'],
  )
  assert.deepEqual(Object.keys(answer.findings[0]), ['code', 'detail'])
  assert.ok(!server.log.join('').includes('canary'), 'a key is in the log')
})

test('after a rotation the old key is named, for a day', async (t) => {
  const server = await serveHttp(t, pool)
  const client = await onboard(server)
  await addEndpoint(server, client, { sharedKey: KEY })
  const { id } = await addEndpoint(server, client, { sharedKey: NEW_KEY })
  const body = '{"a":1}'
  const old = { headers: { 'x-paybell-hmac': [hmac(body)] }, body }
  const within = (await verify(server, client, id, old)).json()
  assert.equal(within.valid, true)
  assert.equal(within.findings[0].code, 'previous-key')
  server.clock.advance(24 * 3_600 + 1)
  const payload = { clientId: client.clientId, clientSecret: client.clientSecret }
  const token = await server.app.inject({ method: 'POST', url: '/auth/token', payload })
  const headers = { ...client.headers, authorization: `Bearer ${token.json().access_token}` }
  const later = (await verify(server, { ...client, headers }, id, old)).json()
  assert.equal(later.valid, false)
  assert.equal(later.findings[0].code, 'previous-key')
})

test('faults of the request itself are reported as such', async (t) => {
  const server = await serveHttp(t, pool)
  const client = await onboard(server)
  const other = await onboard(server, 'Other')
  const { id } = await addEndpoint(server, client, { sharedKey: KEY })
  const headers = {}
  for (const payload of [
    { body: '' },
    { headers },
    { headers, body: '', bodyBase64: '' },
    { headers, bodyBase64: '%%%' },
    { headers, bodyBase64: 'AAA%' },
    { headers, bodyBase64: 'AA-_' },
    { headers, bodyBase64: 'AB==' },
    { headers, bodyBase64: 'AA==AA==' },
    { headers, bodyBase64: 'A' },
    { headers: { a: 'x'.repeat(65_537) }, body: '' },
    { headers: { a: Array.from({ length: 20 }, () => 'x'.repeat(4_000)) }, body: '' },
    { headers: { a: 1 }, body: '' },
    { headers: 'x', body: '' },
  ]) {
    const answer = await verify(server, client, id, payload)
    assertProblem(answer, 400, 'invalid-fields')
  }
  const right = { headers, body: '' }
  assertProblem(await verify(server, other, id, right), 404, 'not-found')
  assertProblem(await verify(server, client, randomUUID(), right), 404, 'not-found')
  const plain = await call(
    server,
    { ...client.headers, 'content-type': 'text/plain' },
    'POST',
    `${WEBHOOKS.path}/${id}/verify`,
    'x',
  )
  assertProblem(plain, 415, 'unsupported-media-type')
})

test('subscriptions have a doctor, too; and large bodies are limited to two a second', async (t) => {
  const server = await serveHttp(t, pool)
  const client = await onboard(server)
  const { id } = await addEndpoint(server, client, { sharedKey: KEY }, SUBSCRIPTIONS)
  const url = `${SUBSCRIPTIONS.path}/${id}/verify`
  const ask = (text = 'a') => {
    const body = { headers: { 'x-paybell-hmac': hmac(text) }, body: `${text}\n` }
    return call(server, client.headers, 'POST', url, body)
  }
  const answer = (await ask()).json()
  assert.equal(answer.findings[0].code, 'trailing-newline')
  const large = 'a'.repeat(100_000)
  for (let n = 0; n < 20; n++) assert.equal((await ask(large)).statusCode, 200)
  const refused = await ask(large)
  assertProblem(refused, 429, 'too-many-requests')
  assert.ok(Number(refused.headers['retry-after']) >= 1)
  for (let n = 0; n < 40; n++) assert.equal((await ask()).statusCode, 200)
})

test('v1a is judged by the service’s own keys: of now, of before, and of another service', async (t) => {
  const { pool: own } = await cloneDatabase()
  const server = await serveHttp(t, own)
  const client = await onboard(server)
  const { id } = await addEndpoint(server, client, { sharedKey: KEY })
  const body = '{"a":1}'
  const at = Math.floor(server.clock.nowMs() / 1_000)
  const content = signedContent('event', at, [Buffer.from(body)])
  const [signer] = await server.deps.webhookKeys.signers()
  const { keyId, entries } = await signAsymmetric([signer ?? assert.fail()], content)
  const headers = {
    'webhook-id': 'event',
    'webhook-timestamp': String(at),
    'webhook-signature': entries,
    'x-paybell-key-id': keyId,
  }
  const codes = async (changes: object) => {
    const answer = await verify(server, client, id, { headers: { ...headers, ...changes }, body })
    const { valid, findings } = answer.json()
    return [valid, ...findings.map(({ code }: { code: string }) => code)]
  }
  assert.deepEqual(await codes({}), [true, 'v1a-not-v1'])
  assert.deepEqual(await codes({ 'x-paybell-key-id': 'x' }), [true, 'v1a-not-v1', 'wrong-key-id'])
  await rotateWebhookKey(server.deps)
  server.clock.advance(61)
  assert.deepEqual(await codes({}), [true, 'v1a-not-v1', 'old-public-key'])
})

test('regression: large bodies that do not arrive take no more than the bytes of two of the largest', async (t) => {
  const server = await serveHttp(t, pool)
  const [client, other] = [await onboard(server), await onboard(server, 'Other')]
  const { id } = await addEndpoint(server, client, { sharedKey: KEY })
  const { id: othersId } = await addEndpoint(server, other, { sharedKey: KEY })
  await server.app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = server.app.server.address() as AddressInfo
  const path = `${WEBHOOKS.path}/${id}/verify`
  const answered: number[] = []
  // Each says that it sends 18 MiB, and sends nothing.
  const uploads = Array.from({ length: 6 }, () => {
    const headers = {
      ...client.headers,
      'content-type': 'application/json',
      'content-length': 18 * 1_024 * 1_024,
    }
    const upload = request({ host: '127.0.0.1', port, method: 'POST', path, headers })
    upload
      .on('error', () => {})
      .on('response', (answer) => {
        answered.push(answer.statusCode ?? 0)
        answer.resume()
      })
    upload.flushHeaders()
    return upload
  })
  try {
    await until('four are refused at once', () => answered.length === 4)
    const large = { headers: {}, body: 'a'.repeat(100_000) }
    assert.equal((await verify(server, other, othersId, large)).statusCode, 200)
    const small = { headers: {}, body: 'a' }
    assert.equal((await verify(server, client, id, small)).statusCode, 200)
    assertProblem(await verify(server, client, id, large), 429, 'too-many-requests')
    assert.deepEqual(answered, [429, 429, 429, 429])
  } finally {
    for (const upload of uploads) upload.destroy()
  }
  await until('what they took is given back', async () => {
    const answer = await verify(server, client, id, { headers: {}, body: 'a'.repeat(100_000) })
    return answer.statusCode === 200
  })
})

test('regression: made-up signatures, however many, hold the loop for less than 50 ms', async (t) => {
  const server = await serveHttp(t, pool)
  const client = await onboard(server)
  const { id } = await addEndpoint(server, client, { sharedKey: KEY })
  const body = JSON.stringify(Array.from({ length: 2_500 }, () => ({ a: 1 })))
  const made = (label: string, bytes: number) =>
    Array.from({ length: 60 }, () => `${label},${randomBytes(bytes).toString('base64')}`)
  for (const entries of [made('v1', 32), [...made('v1', 32), ...made('v1a', 64)]]) {
    const headers = {
      'x-paybell-hmac': hmac('another'),
      'webhook-id': 'event',
      'webhook-timestamp': String(Math.floor(server.clock.nowMs() / 1_000)),
      'webhook-signature': entries.join(' '),
    }
    const longestMs = await longestHoldMs(async () => {
      const answer = await verify(server, client, id, { headers, body })
      assert.deepEqual(
        [answer.json().valid, answer.json().findings.at(-1).code],
        [false, 'wrong-key'],
      )
    })
    assert.ok(!isTooLong(longestMs), `${longestMs} ms`)
  }
})
