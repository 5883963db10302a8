// Every operator's call that changes something leaves exactly one row of the audit. The routes come from
// the service itself: a new one without a case here fails the test.

import assert from 'node:assert/strict'
import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { request as httpRequest } from 'node:http'
import { after, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { createOperatorKey } from '../../server/operations/access/create-operator-key.ts'
import { TOKEN_KEYS } from '../../server/operations/access/key-purposes.ts'
import { rotateSigningKey } from '../../server/operations/access/keyring.ts'
import { rotateWebhookKey } from '../../server/operations/access/webhook-keys.ts'
import { makeCertificate } from '../../server/operations/certificates/make-certificate.ts'
import { issue } from '../support/issue-certificate.ts'
import { startPaybell, until } from '../support/paybell.ts'
import { sampleBody } from '../support/payment-sample.ts'
import { startReceiver } from '../support/receiver.ts'

interface Call {
  path: string
  body?: object | string
  type?: string
}

interface Case {
  action: string
  object: RegExp
  /** Prepares what the call needs, without leaving a row, and returns the call. */
  prepare(): Promise<Call> | Call
  /** The same address with something wrong. */
  wrong(): Call
}

const UUID = '[0-9a-f-]{36}'
const NDJSON = 'application/x-ndjson'

const receiver = await startReceiver({ after })
const paybell = await startPaybell({ after })
const { key: ann } = await createOperatorKey(paybell.app.deps, { name: 'ann', role: 'admin' })
await paybell.caller.register(receiver.url(), 'key')

async function send(method: string, { path, body, type = 'application/json' }: Call) {
  const response = await fetch(`${paybell.baseUrl}/operator/v1${path}`, {
    method,
    headers: {
      authorization: `Bearer ${ann}`,
      accountid: paybell.accountId,
      ...(body === undefined ? {} : { 'content-type': type }),
    },
    ...(body === undefined ? {} : { body: toBody(body) }),
  })
  const text = await response.text()
  return { status: response.status, text, requestId: response.headers.get('x-request-id') }
}

function toBody(body: NonNullable<Call['body']>): string | Uint8Array<ArrayBuffer> {
  const isReady = typeof body === 'string' || body instanceof Uint8Array
  return isReady ? (body as string | Uint8Array<ArrayBuffer>) : JSON.stringify(body)
}

async function readAudit() {
  const { rows } = await paybell.pool.query(
    `select actor, action, object, request_id as "requestId" from audit order by id`,
  )
  return rows as { actor: string; action: string; object: string; requestId: string }[]
}

/** A payment that is written, and delivered, refused, or waiting for its paused endpoint; leaves a row. */
async function makeDelivery(state: 'PENDING' | 'REFUSED' | 'DELIVERED'): Promise<{ id: string }> {
  receiver.answer = state === 'REFUSED' ? 500 : 200
  const path = `/v1/webhooks/${await paybell.caller.webhookAt(receiver.url())}`
  const status = state === 'PENDING' ? 'PAUSED' : 'ACTIVE'
  assert.equal((await paybell.caller.call('PATCH', path, { status })).status, 200)
  const id = await paybell.caller.pay()
  const table = state === 'DELIVERED' ? 'final_deliveries' : 'pending_deliveries'
  const found = await until(`the delivery is ${state}`, async () => {
    const { rows } = await paybell.pool.query(`select id from ${table} where payment_id = $1`, [id])
    return rows[0] as { id: string } | undefined
  })
  return { ...found }
}

async function endpointId(): Promise<string> {
  const { rows } = await paybell.pool.query(
    `select id from endpoints where kind = 'webhook' and deleted_at is null limit 1`,
  )
  return rows[0].id
}

const line = (id: string) =>
  JSON.stringify({ ...JSON.parse(sampleBody({ id }).toString()), accountId: paybell.accountId })

const nothing = (path: string, body?: object): Case['wrong'] => {
  return () => ({
    path: path.replace(':id', randomUUID()),
    ...(body === undefined ? {} : { body }),
  })
}

const CERTIFICATE = new RegExp(`^client-certificate:${UUID}$`)

function newCertificate() {
  const own = issue({ subject: 'CN=paybell' })
  const clients = 'everyone' as const
  return { name: randomUUID(), clients, certificatePem: own.pem, privateKeyPem: own.keyPem }
}

function newJwk() {
  return generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' })
}

/** Not the one that signed the tokens in use. */
async function newestKid(table: 'signing_keys' | 'webhook_keys'): Promise<string> {
  const { rows } = await paybell.pool.query(
    `select kid from ${table} order by created_at desc limit 1`,
  )
  return rows[0].kid
}

const CASES: Readonly<Record<string, Case>> = {
  'POST /clients': {
    action: 'client.create',
    object: new RegExp(`^client:${UUID}$`),
    prepare: () => ({ path: '/clients', body: { name: 'Northwind' } }),
    wrong: nothing('/clients', { name: '' }),
  },
  'PATCH /clients/:id': {
    action: 'client.enable',
    object: new RegExp(`^client:${UUID}$`),
    prepare: () => ({ path: `/clients/${paybell.clientId}`, body: { status: 'ACTIVE' } }),
    wrong: nothing('/clients/:id', { status: 'ACTIVE' }),
  },
  'POST /clients/:id/console-links': {
    action: 'console-link.create',
    object: new RegExp(`^client:${UUID}$`),
    prepare: () => ({ path: `/clients/${paybell.clientId}/console-links` }),
    wrong: nothing('/clients/:id/console-links'),
  },
  'POST /clients/:id/secrets': {
    action: 'secret.create',
    object: new RegExp(`^secret:${UUID}$`),
    prepare: () => ({ path: `/clients/${paybell.clientId}/secrets` }),
    wrong: nothing('/clients/:id/secrets'),
  },
  'DELETE /clients/:id/secrets/:secretId': {
    action: 'secret.revoke',
    object: new RegExp(`^secret:${UUID}$`),
    prepare: async () => {
      const { rows } = await paybell.pool.query('select id from client_secrets limit 1')
      return { path: `/clients/${paybell.clientId}/secrets/${rows[0].id}` }
    },
    wrong: () => ({ path: `/clients/${paybell.clientId}/secrets/${randomUUID()}` }),
  },
  'POST /clients/:id/accounts': {
    action: 'account.create',
    object: new RegExp(`^account:${UUID}$`),
    prepare: () => ({ path: `/clients/${paybell.clientId}/accounts`, body: { name: 'Second' } }),
    wrong: nothing('/clients/:id/accounts', { name: 'Second' }),
  },
  'POST /keys': {
    action: 'key.create',
    object: new RegExp(`^key:${UUID}$`),
    prepare: () => ({ path: '/keys', body: { name: randomUUID(), role: 'ingest' } }),
    wrong: nothing('/keys', { name: 'operator', role: 'admin' }),
  },
  'DELETE /keys/:id': {
    action: 'key.revoke',
    object: new RegExp(`^key:${UUID}$`),
    prepare: async () => {
      const { deps } = paybell.app
      const { id } = await createOperatorKey(deps, { name: randomUUID(), role: 'viewer' })
      return { path: `/keys/${id}` }
    },
    wrong: nothing('/keys/:id'),
  },
  'POST /clients/:id/keys': {
    action: 'client-key.create',
    object: new RegExp(`^client:${UUID}$`),
    prepare: () => ({ path: `/clients/${paybell.clientId}/keys`, body: { jwk: newJwk() } }),
    wrong: nothing('/clients/:id/keys', { jwk: newJwk() }),
  },
  'DELETE /clients/:id/keys/:kid': {
    action: 'client-key.delete',
    object: new RegExp(`^client:${UUID}$`),
    prepare: async () => {
      const { rows } = await paybell.pool.query('select kid from client_keys limit 1')
      return { path: `/clients/${paybell.clientId}/keys/${rows[0].kid}` }
    },
    wrong: () => ({ path: `/clients/${paybell.clientId}/keys/none` }),
  },
  'POST /signing-keys/:kid/revoke': {
    action: 'signing-key.revoke',
    object: new RegExp(`^signing-key:${UUID}$`),
    prepare: async () => {
      await rotateSigningKey(paybell.app.deps, TOKEN_KEYS)
      return { path: `/signing-keys/${await newestKid('signing_keys')}/revoke` }
    },
    wrong: () => ({ path: `/signing-keys/${randomUUID()}/revoke` }),
  },
  'POST /webhook-keys/:kid/revoke': {
    action: 'webhook-key.revoke',
    object: new RegExp(`^webhook-key:${UUID}$`),
    prepare: async () => {
      await rotateWebhookKey(paybell.app.deps)
      return { path: `/webhook-keys/${await newestKid('webhook_keys')}/revoke` }
    },
    wrong: () => ({ path: `/webhook-keys/${randomUUID()}/revoke` }),
  },
  'POST /client-certificates': {
    action: 'client-certificate.create',
    object: CERTIFICATE,
    prepare: () => ({ path: '/client-certificates', body: newCertificate() }),
    wrong: nothing('/client-certificates', { name: 'x' }),
  },
  'PATCH /client-certificates/:id': {
    action: 'client-certificate.change',
    object: CERTIFICATE,
    prepare: async () => {
      const { id } = await makeCertificate(paybell.app.deps, newCertificate())
      return { path: `/client-certificates/${id}`, body: { clients: [] } }
    },
    wrong: nothing('/client-certificates/:id', { clients: 'all' }),
  },
  'PUT /client-certificates/:id/certificate': {
    action: 'client-certificate.complete',
    object: CERTIFICATE,
    prepare: async () => {
      const { certificatePem, ...offer } = newCertificate()
      const { id } = await makeCertificate(paybell.app.deps, { certificatePem, ...offer })
      return { path: `/client-certificates/${id}/certificate`, body: { certificatePem } }
    },
    wrong: nothing('/client-certificates/:id/certificate', { certificatePem: 'x' }),
  },
  'POST /client-certificates/:id/default': {
    action: 'client-certificate.default',
    object: CERTIFICATE,
    prepare: async () => {
      const { id } = await makeCertificate(paybell.app.deps, newCertificate())
      return { path: `/client-certificates/${id}/default`, body: {} }
    },
    wrong: nothing('/client-certificates/:id/default', {}),
  },
  'POST /client-certificates/:id/replace': {
    action: 'client-certificate.replace',
    object: CERTIFICATE,
    prepare: async () => {
      const { deps } = paybell.app
      const { id } = await makeCertificate(deps, newCertificate())
      const { id: by } = await makeCertificate(deps, newCertificate())
      return { path: `/client-certificates/${id}/replace`, body: { by } }
    },
    wrong: nothing('/client-certificates/:id/replace', { by: randomUUID() }),
  },
  'DELETE /client-certificates/:id': {
    action: 'client-certificate.delete',
    object: CERTIFICATE,
    prepare: async () => {
      const { id } = await makeCertificate(paybell.app.deps, newCertificate())
      return { path: `/client-certificates/${id}` }
    },
    wrong: nothing('/client-certificates/:id'),
  },
  'PUT /payments/:id': {
    action: 'payment.put',
    object: new RegExp(`^payment:${UUID}$`),
    prepare: () => {
      const id = randomUUID()
      return { path: `/payments/${id}`, body: sampleBody({ id }) }
    },
    wrong: nothing('/payments/:id', { reference: 'and nothing else' }),
  },
  'POST /payments/:id/erase': {
    action: 'payment.erase',
    object: new RegExp(`^payment:${UUID}$`),
    prepare: async () => {
      const id = await paybell.caller.pay()
      return { path: `/payments/${id}/erase` }
    },
    wrong: nothing('/payments/:id/erase'),
  },
  'POST /payments/batch': {
    action: 'payment.batch',
    object: /^payments$/,
    prepare: () => ({
      path: '/payments/batch',
      type: NDJSON,
      body: [line(randomUUID()), line(randomUUID()), 'not a payment'].join('\n'),
    }),
    wrong: nothing('/payments/batch', {}),
  },
  'PATCH /endpoints/:id': {
    action: 'endpoint.pause',
    object: new RegExp(`^endpoint:${UUID}$`),
    prepare: async () => ({
      path: `/endpoints/${await endpointId()}`,
      body: { status: 'PAUSED' },
    }),
    wrong: nothing('/endpoints/:id', { status: 'PAUSED' }),
  },
  'POST /endpoints/:id/retry': {
    action: 'endpoint.retry',
    object: new RegExp(`^endpoint:${UUID}$`),
    prepare: async () => {
      await makeDelivery('REFUSED')
      return { path: `/endpoints/${await endpointId()}/retry` }
    },
    wrong: nothing('/endpoints/:id/retry'),
  },
  'POST /deliveries/:id/retry': {
    action: 'delivery.retry',
    object: new RegExp(`^delivery:${UUID}$`),
    prepare: async () => ({ path: `/deliveries/${(await makeDelivery('REFUSED')).id}/retry` }),
    wrong: nothing('/deliveries/:id/retry'),
  },
  'POST /deliveries/retry': {
    action: 'deliveries.retry',
    object: new RegExp(`^job:${UUID}$`),
    prepare: async () => {
      await makeDelivery('REFUSED')
      return { path: '/deliveries/retry', body: { filter: { state: 'PENDING' } } }
    },
    wrong: nothing('/deliveries/retry', { filter: { state: 'LOST' } }),
  },
  'POST /deliveries/:id/replay': {
    action: 'delivery.replay',
    object: new RegExp(`^delivery:${UUID}$`),
    prepare: async () => ({ path: `/deliveries/${(await makeDelivery('DELIVERED')).id}/replay` }),
    wrong: nothing('/deliveries/:id/replay'),
  },
  'POST /deliveries/:id/cancel': {
    action: 'delivery.cancel',
    object: new RegExp(`^delivery:${UUID}$`),
    prepare: async () => ({ path: `/deliveries/${(await makeDelivery('PENDING')).id}/cancel` }),
    wrong: nothing('/deliveries/:id/cancel'),
  },
  'POST /audit/verify': {
    action: 'audit.verify',
    object: /^audit$/,
    prepare: () => ({ path: '/audit/verify', body: {} }),
    wrong: nothing('/audit/verify', { after: 'the first' }),
  },
  'POST /deliveries/replay': {
    action: 'deliveries.replay',
    object: new RegExp(`^job:${UUID}$`),
    prepare: async () => {
      await makeDelivery('DELIVERED')
      return { path: '/deliveries/replay', body: { filter: { state: 'DELIVERED' } } }
    },
    wrong: nothing('/deliveries/replay', { filter: { state: 'LOST' } }),
  },
  'POST /deliveries/cancel': {
    action: 'deliveries.cancel',
    object: new RegExp(`^job:${UUID}$`),
    prepare: async () => {
      await makeDelivery('PENDING')
      return { path: '/deliveries/cancel', body: { filter: { state: 'PENDING' } } }
    },
    wrong: nothing('/deliveries/cancel', { filter: { state: 'LOST' } }),
  },
}

test('each mutating route leaves one row when it succeeds and none when it fails', async () => {
  const mutating = paybell.app
    .routes()
    .filter(({ method, url }) => url.startsWith('/operator/') && !/^(GET|HEAD)$/.test(method))
    .map(({ method, url }) => `${method} ${url.slice('/operator/v1'.length)}`)
  assert.deepEqual(mutating.toSorted(), Object.keys(CASES).toSorted())
  for (const [name, { action, object, prepare, wrong }] of Object.entries(CASES)) {
    const [method = ''] = name.split(' ')
    const call = await prepare()
    const before = (await readAudit()).length
    const { status, text, requestId } = await send(method, call)
    assert.ok(status >= 200 && status < 300, `${name}: ${status} ${text}`)
    const after = await readAudit()
    assert.equal(after.length, before + 1, name)
    // By its request: the service's clock, which the rows are ordered by, may be set back a little.
    const left = after.filter((row) => row.requestId === requestId)
    assert.equal(left.length, 1, name)
    assert.deepEqual({ ...left[0], object: '' }, { actor: 'ann', action, object: '', requestId })
    assert.match(left[0]?.object ?? '', object, name)

    const refused = await send(method, wrong())
    assert.ok(refused.status >= 400 && refused.status < 500, `${name}: ${refused.status}`)
    assert.equal((await readAudit()).length, before + 1, `${name}, refused`)
  }
})

test('a dry run, and everything that only looks, leaves no row', async () => {
  const before = (await readAudit()).length
  for (const path of ['/deliveries/replay', '/deliveries/retry', '/deliveries/cancel']) {
    const { status } = await send('POST', { path, body: { filter: {}, dryRun: true } })
    assert.equal(status, 200)
  }
  assert.equal((await send('GET', { path: '/clients' })).status, 200)
  assert.equal((await readAudit()).length, before)
})

test('writes that change nothing, and many at once, leave one row each; refused ones none', async () => {
  const id = randomUUID()
  const put = (changes: object = {}) =>
    send('PUT', {
      path: `/payments/${id}`,
      body: sampleBody({ id, version: undefined, ...changes }),
    })
  const object = `payment:${id}`
  const count = async () => (await readAudit()).filter((row) => row.object === object).length
  const answers = await Promise.all(Array.from({ length: 40 }, () => put()))
  assert.equal(answers.filter(({ status }) => status === 201).length, 1)
  assert.equal(answers.filter(({ status }) => status === 200).length, 39)
  assert.equal(await count(), 40)
  const rows = (await readAudit()).filter((row) => row.object === object)
  assert.deepEqual(
    rows.map(({ requestId }) => requestId).sort(),
    answers.map(({ requestId }) => requestId).sort(),
  )
  // One gathering, in which one change is good and the other goes where no payment may.
  const mixed = await Promise.all([
    put({ status: { state: 'PAID' } }),
    put({ status: { state: 'DRAFT' } }),
  ])
  assert.deepEqual(mixed.map(({ status }) => status).sort(), [200, 409])
  assert.equal(await count(), 41)
})

test('a batch leaves one row, however many transactions it takes and however few lines are good', async () => {
  const before = (await readAudit()).length
  const many = Array.from({ length: 1_500 }, () => line(randomUUID())).join('\n')
  const answers = await Promise.all(
    [many, line(randomUUID()), 'nothing good', ''].map((body) =>
      send('POST', { path: '/payments/batch', type: NDJSON, body }),
    ),
  )
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200, 200, 200],
  )
  const left = (await readAudit()).slice(before)
  assert.deepEqual(
    left.map(({ requestId }) => requestId).sort(),
    answers.map(({ requestId }) => requestId).sort(),
  )
})

test('a batch that its caller breaks off leaves a trail of what went in', async () => {
  const id = randomUUID()
  const { hostname, port } = new URL(paybell.baseUrl)
  const before = (await readAudit()).length
  const broken = httpRequest({
    hostname,
    port,
    method: 'POST',
    path: '/operator/v1/payments/batch',
    headers: { authorization: `Bearer ${ann}`, 'content-type': NDJSON },
  })
  broken.on('error', () => {})
  broken.write(`${line(id)}\n`)
  await until('the line is taken', async () => {
    const { rowCount } = await paybell.pool.query('select from payments where id = $1', [id])
    return rowCount === 1
  })
  broken.destroy()
  await delay(50)
  const left = (await readAudit()).slice(before)
  assert.deepEqual(
    left.map(({ action }) => action),
    ['payment.batch'],
  )
})

test('GET /audit reads it, newest first, by cursor and by filter', async () => {
  const get = async (query: string) => {
    const { status, text } = await send('GET', { path: `/audit${query}` })
    assert.equal(status, 200, text)
    return JSON.parse(text) as { items: Record<string, string>[]; next: string | null }
  }
  const first = await get('?limit=3')
  assert.equal(first.items.length, 3)
  const [newest] = first.items
  assert.deepEqual(Object.keys(newest ?? {}), [
    'id',
    'at',
    'actor',
    'action',
    'object',
    'requestId',
    'sealed',
  ])
  const seen = [...first.items]
  for (let { next } = first; next !== null; ) {
    const page = await get(`?limit=200&after=${next}`)
    seen.push(...page.items)
    next = page.next
  }
  assert.deepEqual(
    seen.map(({ requestId }) => requestId),
    (await readAudit()).map(({ requestId }) => requestId).toReversed(),
  )
  const keys = await get('?actor=ann&action=key.create')
  assert.ok(keys.items.length >= 1)
  assert.ok(keys.items.every(({ action }) => action === 'key.create'))
  const [made] = keys.items
  // Its seal may come in between.
  assert.deepEqual(
    (await get(`?object=${made?.object}`)).items.map(({ id }) => id),
    [made?.id],
  )
  const { at } = newest as { at: string }
  assert.ok((await get(`?from=${at}`)).items.some(({ id }) => id === newest?.id))
  assert.ok((await get(`?to=${at}&limit=200`)).items.every(({ id }) => id !== newest?.id))
  assert.deepEqual((await get('?actor=nobody')).items, [])
  for (const query of ['?from=yesterday', '?after=nonsense', '?limit=0', '?actor=']) {
    assert.equal((await send('GET', { path: `/audit${query}` })).status, 400, query)
  }
})
