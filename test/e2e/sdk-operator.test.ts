// The SDK's producer and operator against the real service: every operation of the operator's interface has a
// name in the SDK, and is called by it here.

import assert from 'node:assert/strict'
import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { createOperator, type Operator } from '../../sdk/src/operating/operator-client.ts'
import { createProducer } from '../../sdk/src/operating/producer.ts'
import type { PaymentInput } from '../../sdk/src/operating/put-all.ts'
import { sealAudit } from '../../server/operations/proofs/seal-audit.ts'
import { Caller } from '../support/caller.ts'
import { issue } from '../support/issue-certificate.ts'
import { collectCleanUps } from '../support/owner.ts'
import { type Paybell, startPaybell, until } from '../support/paybell.ts'
import { SAMPLE } from '../support/payment-sample.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'

/** Operations that the SDK has no name for, each with the reason. */
const WITHOUT_NAME: readonly string[] = []

const UUID = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g

let paybell: Paybell
let receiver: Receiver
let operator: Operator
const called = new Set<string>()
const owner = collectCleanUps()
after(() => owner.cleanUp())

const recorded: typeof fetch = (input, init) => {
  const { pathname } = new URL(String(input))
  called.add(`${init?.method} ${pathname.replaceAll(UUID, '{}')}`)
  return fetch(input, init)
}

before(async () => {
  paybell = await startPaybell(owner)
  receiver = await startReceiver(owner)
  await paybell.caller.register(receiver.url(), 'a key of this test')
  operator = createOperator({ ...paybell, fetch: recorded })
})

function paymentOf(changes: Partial<PaymentInput> = {}): PaymentInput {
  const { version: _, ...sample } = SAMPLE
  return {
    ...sample,
    purposeOfPayment: 'COMPUTER_SERVICES',
    id: randomUUID(),
    status: { state: 'DUE' },
    amount: { amount: '9007199254740993.10', currency: 'EUR' },
    ...changes,
  }
}

test('a producer: one payment, and a stream of them, to the digit', async () => {
  const key = await operator.keys.create({ name: 'payments-core', role: 'ingest' })
  const producer = createProducer({ ...paybell, operatorKey: key.key, fetch: recorded })
  const payment = paymentOf()
  const { event, payment: written } = await producer.put(payment)
  assert.equal(event?.type, 'payment.created')
  assert.equal(written.amount.amount, '9007199254740993.10')
  assert.equal((await producer.put(payment)).event, null)

  const stream = Array.from({ length: 50 }, () => paymentOf({ version: 1 }))
  const again = stream.map((one) => ({ ...one, version: 2, status: { state: 'PAID' as const } }))
  const bad = paymentOf({ externalId: '' })
  const results = await Array.fromAsync(
    producer.putAll([...stream, bad, ...again], { linesMax: 70 }),
  )
  assert.deepEqual(
    results.map(({ index }) => index),
    Array.from({ length: 101 }, (_, index) => index),
  )
  assert.deepEqual(
    results.map(({ event, problem }) => event?.type ?? problem?.code),
    [...stream.map(() => 'payment.created'), 'invalid-fields', ...again.map(() => 'payment.paid')],
  )
  const repeated = await Array.fromAsync(producer.putAll([...stream, ...again], { from: 60 }))
  assert.deepEqual(
    repeated.map(({ event, stale }) => [event, stale]),
    repeated.map(() => [null, true]),
  )
  const unknown = { ...paymentOf(), accountId: randomUUID() }
  await assert.rejects(producer.put(unknown), { code: 'unknown-account', status: 404 })
  await operator.keys.revoke(key.id)
  assert.ok((await Array.fromAsync(operator.keys.all())).some(({ id }) => id === key.id))
})

test('clients, secrets and accounts', async () => {
  const made = await operator.clients.create({ name: 'Northwind Traders' })
  const { clientId } = made
  const { secretId } = await operator.clients.addSecret(clientId)
  assert.equal((await operator.clients.get(clientId)).secrets.length, 2)
  await operator.clients.deleteSecret(clientId, secretId)
  const jwk = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' })
  const { kid } = await operator.clients.addKey(clientId, { ...jwk, kid: randomUUID() })
  assert.equal((await operator.clients.listKeys(clientId)).content[0]?.alg, 'EdDSA')
  assert.equal((await operator.clients.setCredentials(clientId, 'keys')).credentials, 'keys')
  assert.equal((await operator.clients.setCredentials(clientId, 'any')).credentials, 'any')
  await operator.clients.deleteKey(clientId, kid)
  assert.match((await operator.clients.createConsoleLink(clientId)).url, /\/console\/sign-in#/)
  assert.equal((await operator.clients.setStatus(clientId, 'DISABLED')).status, 'DISABLED')
  const ids = (await Array.fromAsync(operator.clients.all())).map((client) => client.clientId)
  assert.ok(ids.includes(clientId))
  const account = await operator.accounts.create(clientId, { name: 'Main' })
  assert.deepEqual(await Array.fromAsync(operator.accounts.all(clientId)), [account])
  await assert.rejects(operator.clients.get(randomUUID()), { code: 'not-found' })
})

test('payments, deliveries, endpoints, jobs, the audit and the service', async () => {
  const stop = new AbortController()
  const watched: string[] = []
  const watching = (async () => {
    for await (const one of operator.watch({ signal: stop.signal })) {
      if (one.kind === 'accepted') watched.push(one.accepted.paymentId)
    }
  })().catch((error) => error)
  await until('the stream', () => called.has('GET /operator/v1/stream'))
  const { id } = (await operator.payments.put(paymentOf({ externalId: 'ORDER-7' }))).payment
  const ended = await until('the delivery', async () => {
    const { items } = await operator.deliveries.list({ paymentId: id, state: ['DELIVERED'] })
    return items[0]
  })
  await until('the watched event', async () => {
    // The stream may have begun after the first one.
    if (watched.length === 0) await operator.payments.put(paymentOf())
    return watched.length > 0
  })
  stop.abort()
  assert.equal((await watching).name, 'AbortError')

  assert.equal((await operator.payments.get(id)).amount.amount, '9007199254740993.10')
  const found = await Array.fromAsync(operator.payments.all({ externalId: 'ORDER-7', limit: 1 }))
  assert.deepEqual(
    found.map((payment) => payment.id),
    [id],
  )
  const { items: events } = await operator.payments.events(id)
  assert.equal(events[0]?.deliveries[0]?.id, ended.id)
  const body = new TextDecoder().decode(await operator.events.getBody(ended.eventId))
  assert.match(body, /"amount":9007199254740993\.10/)
  const sent = new TextDecoder().decode(await operator.deliveries.getBody(ended.id))
  assert.equal(sent, body)

  assert.equal((await operator.deliveries.get(ended.id)).request.method, 'POST')
  assert.equal((await operator.deliveries.receipt(ended.id)).split('.').length, 3)
  const filter = { paymentId: id, from: new Date(Date.now() - 3_600_000) }
  assert.equal(await operator.deliveries.countReplayable(filter), 1)
  const { count, jobId } = await operator.deliveries.replayAll(filter)
  assert.equal(count, 1)
  assert.equal((await operator.jobs.untilEnded(jobId, { pollMs: 10 })).state, 'DONE')
  await until('the replay', async () => (await operator.deliveries.get(ended.id)).attempts === 2)

  const [endpoint] = await Array.fromAsync(operator.endpoints.all({ failing: false }))
  assert.ok(endpoint)
  assert.equal((await operator.endpoints.setStatus(endpoint.id, 'PAUSED')).status, 'PAUSED')
  await operator.deliveries.replay(ended.id)
  assert.equal((await operator.deliveries.cancel(ended.id)).state, 'CANCELLED')
  await operator.deliveries.replay(ended.id)
  await assert.rejects(operator.deliveries.retry(ended.id), { code: 'endpoint-not-active' })
  await assert.rejects(operator.endpoints.retry(endpoint.id), { code: 'endpoint-not-active' })
  assert.equal(await operator.deliveries.countRetriable(filter), 0)
  const retried = await operator.deliveries.retryAll(filter)
  assert.equal((await operator.jobs.get(retried.jobId)).kind, 'retry')
  assert.equal(await operator.deliveries.countCancellable(filter), 1)
  const cancelled = await operator.deliveries.cancelAll(filter)
  assert.equal((await operator.jobs.get(cancelled.jobId)).total, 1)
  assert.ok((await Array.fromAsync(operator.jobs.all())).some((job) => job.id === jobId))
  assert.equal((await operator.endpoints.series(endpoint.id)).stepSeconds, 3_600)
  const hourMs = Math.floor(Date.now() / 3_600_000) * 3_600_000
  const period = { from: new Date(hourMs), to: new Date(hourMs + 3_600_000) }
  assert.equal((await operator.endpoints.statement(endpoint.id, period)).endpointId, endpoint.id)
  assert.equal((await operator.service.search('ORDER-7'))[0]?.id, id)
  assert.equal((await operator.endpoints.get(endpoint.id)).status, 'PAUSED')
  assert.ok((await Array.fromAsync(operator.deliveries.all({ state: 'CANCELLED' }))).length > 0)

  assert.equal((await operator.payments.erase(id)).events, 1)
  const { items: audit } = await operator.audit.list({ action: 'payment.erase' })
  assert.equal(audit[0]?.object, `payment:${id}`)
  assert.equal(
    (await Array.fromAsync(operator.audit.all({ object: `payment:${id}` }))).length > 1,
    true,
  )
  await until('the first seal', async () => {
    await sealAudit(paybell.app.deps, { everyMsMin: 0 })
    return operator.audit.head().catch(() => null)
  })
  const exported = await new Response(await operator.audit.export()).text()
  assert.match(exported, /"jws":/)
  assert.equal((await operator.audit.verify()).finding, null)
  const keysAt = async (file: string) => {
    const { keys } = (await (await fetch(`${paybell.baseUrl}/.well-known/${file}`)).json()) as {
      keys: { kid: string }[]
    }
    return keys.map(({ kid }) => kid)
  }
  for (const [file, calls] of [
    ['jwks.json', operator.signingKeys],
    ['webhook-keys.json', operator.webhookKeys],
  ] as const) {
    const [kid = ''] = await keysAt(file)
    const revoked = await calls.revoke(kid)
    assert.deepEqual(await keysAt(file), [revoked.newKid])
  }
  assert.ok((await operator.service.settings()).length > 10)
  assert.deepEqual(
    (await operator.service.cells()).map(({ cell, isAway }) => [cell, isAway]),
    [[0, false]],
  )
  assert.equal((await operator.service.stats({ window: 'day' })).series.stepSeconds, 900)
})

test('a certificate is asked for or imported, given to clients, and endpoints follow from one to the other', async () => {
  const { certificates } = operator
  const root = issue({ subject: 'CN=Root', isAuthority: true })
  const of = { subject: 'CN=paybell', by: root, purposes: ['client'] } as const
  const own = issue(of)
  const first = await certificates.import({
    name: 'pix-2026',
    clients: 'everyone',
    certificatePem: own.pem + root.pem,
    privateKeyPem: own.keyPem,
  })
  assert.equal(first.isDefault, true)
  const renewed = issue({ ...of, key: own.privateKey })
  const completed = await certificates.complete(first.id, renewed.pem + root.pem)
  assert.notEqual(completed.fingerprintSha256, first.fingerprintSha256)
  const asked = await certificates.request({ name: 'pix-2027', subject: 'CN=paybell, C=BR' })
  assert.match(asked.certificateRequestPem ?? '', /^-----BEGIN CERTIFICATE REQUEST-----/)
  const other = issue(of)
  const second = await certificates.import({
    name: 'pix-2028',
    certificatePem: other.pem + root.pem,
    privateKeyPem: other.keyPem,
  })
  assert.deepEqual(second.clients, [], 'for no one yet')
  const given = await certificates.change(second.id, { clients: [paybell.clientId] })
  assert.deepEqual(given.clients, [paybell.clientId])
  // With a token of its own: the key that had signed the first one was revoked.
  await new Caller(paybell).register('https://127.0.0.1:9/tls', 'a key of this test')
  const { content } = await operator.endpoints.list()
  const endpoint = content.find(({ endpointUrl }) => endpointUrl.endsWith('/tls'))
  assert.ok(endpoint)
  await operator.endpoints.change(endpoint.id, { tls: { clientCertificate: first.id } })
  assert.equal((await certificates.get(first.id)).usedBy, 1)
  const follow = { by: second.id, dryRun: true }
  assert.deepEqual(await certificates.replace(first.id, follow), { endpoints: 1 })
  assert.equal((await certificates.get(first.id)).usedBy, 1, 'it only counted')
  assert.deepEqual(await certificates.replace(first.id, { by: second.id }), { endpoints: 1 })
  await operator.endpoints.change(endpoint.id, { tls: { clientCertificate: 'default' } })
  assert.deepEqual(await certificates.makeDefault(second.id, { dryRun: true }), { endpoints: 1 })
  assert.equal((await certificates.get(second.id)).isDefault, false, 'it only counted')
  assert.deepEqual(await certificates.makeDefault(second.id), { endpoints: 1 })
  await certificates.delete(first.id)
  const left = []
  for await (const { name } of certificates.all()) left.push(name)
  assert.deepEqual(left, ['pix-2027', 'pix-2028'])
  assert.equal((await certificates.list({ size: 1 })).totalElements, 2)
  await operator.endpoints.change(endpoint.id, { tls: null })
})

test('every operation of the operator’s interface has a name in the SDK', async () => {
  const { paths } = (await (await fetch(`${paybell.baseUrl}/openapi.json`)).json()) as {
    paths: Record<string, Record<string, unknown>>
  }
  const published = Object.entries(paths)
    .filter(([path]) => path.startsWith('/operator/v1/'))
    .flatMap(([path, operations]) =>
      Object.keys(operations).map(
        (method) => `${method.toUpperCase()} ${path.replaceAll(/\{\w+\}/g, '{}')}`,
      ),
    )
  assert.ok(published.length > 25)
  assert.deepEqual(
    published.filter((one) => !called.has(one) && !WITHOUT_NAME.includes(one)),
    [],
  )
})
