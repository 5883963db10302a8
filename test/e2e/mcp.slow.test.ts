// An assistant at the service, by way of `paybell mcp` and the protocol's own client: what it may see and do is what
// the caller may, and nothing is changed unless that was allowed.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { COMPILED } from '../support/compile-cache.ts'
import { issue } from '../support/issue-certificate.ts'
import { startPaybell, until, untilAllAre } from '../support/paybell.ts'
import { SAMPLE } from '../support/payment-sample.ts'
import { startReceiver } from '../support/receiver.ts'

const MAIN = fileURLToPath(new URL('../../cli/main.ts', import.meta.url))
const receiver = await startReceiver({ after })
const paybell = await startPaybell({ after })
const asClient = {
  PAYBELL_CLIENT_ID: paybell.clientId,
  PAYBELL_CLIENT_SECRET: paybell.clientSecret,
}
const asOperator = { PAYBELL_OPERATOR_KEY: paybell.operatorKey }

async function connect(env: Record<string, string>, ...args: string[]) {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [MAIN, 'mcp', ...args],
    env: {
      PATH: process.env.PATH ?? '',
      NODE_COMPILE_CACHE: COMPILED,
      PAYBELL_URL: paybell.baseUrl,
      ...env,
    },
    stderr: 'ignore',
  })
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(transport)
  after(() => client.close())
  const call = async (name: string, given: Record<string, unknown> = {}) => {
    const { content, isError } = await client.callTool({ name, arguments: given })
    const [part] = content as { type: string; text: string }[]
    return { text: part?.text ?? '', isError: isError === true }
  }
  const read = async (name: string, given?: Record<string, unknown>) => {
    const { text, isError } = await call(name, given)
    assert.equal(isError, false, text)
    return JSON.parse(text)
  }
  return { client, call, read }
}

const { caller } = paybell
const own = issue({ subject: 'CN=paybell', purposes: ['client'] })
const certificate = {
  name: 'pix',
  clients: 'everyone',
  certificatePem: own.pem,
  privateKeyPem: own.keyPem,
}
const imported = await caller.operate('POST', '/client-certificates', certificate)
assert.equal(imported.status, 201)
const key = 'only-we-two-know-this'
receiver.answer = 503
const registered = await caller.call('POST', '/v1/webhooks/register', {
  callbackUrl: receiver.url('/hook'),
  sharedKey: key,
})
assert.equal(registered.status, 200)
const payment = { ...SAMPLE, id: randomUUID(), externalId: 'INV-7' }
assert.ok((await caller.putPayment(payment.id, payment)).ok)
await until('a failed attempt', () => receiver.received.length > 0)

test('a client finds its payment and learns why the delivery waits', async () => {
  const { client, call, read } = await connect(asClient)
  const { tools } = await client.listTools()
  const names = tools.map(({ name }) => name)
  assert.ok(names.includes('verify_signature'))
  assert.ok(tools.every(({ annotations }) => annotations?.readOnlyHint === true))
  const { items: hits } = await read('find', { text: 'INV-7' })
  assert.deepEqual([hits[0].kind, hits[0].id], ['payment', payment.id])
  const { items } = await read('list_deliveries', { externalId: 'INV-7' })
  const told = await read('explain_delivery', { deliveryId: items[0].id })
  assert.match(told.explanation, /503/)
  const endpoint = await read('show_endpoint', { endpointId: items[0].endpointId })
  assert.equal(endpoint.health.pending, 1)

  const hourMs = 3_600_000
  const nextMs = (Math.floor(Date.now() / hourMs) + 1) * hourMs
  const [from, to] = [nextMs - 24 * hourMs, nextMs].map((ms) => new Date(ms).toISOString())
  const statement = await read('statement', { endpointId: items[0].endpointId, from, to })
  assert.deepEqual([statement.owed, statement.pending, statement.hours.length], [1, 1, 1])
  assert.equal(statement.jws, undefined)

  const sent = receiver.received[0]
  const headers = Object.fromEntries(
    Object.entries(sent?.headers ?? {}).map(([name, value]) => [name, String(value)]),
  )
  const given = { endpointId: items[0].endpointId, headers, body: sent?.body.toString() }
  assert.equal((await read('verify_signature', given)).valid, true)

  const wrong = await call('explain_delivery', { deliveryId: payment.id })
  assert.equal(wrong.isError, true)
  assert.match(wrong.text, /404 not-found/)
  assert.equal((await call('find', {})).isError, true)
  const misspelt = await call('list_deliveries', { status: 'PENDING' })
  assert.equal(misspelt.isError, true)
  assert.match(misspelt.text, /status is not known here\. It takes .*\bstate\b/)
})

test('both see what a bank asks for: its settings and the certificates, and no secret', async () => {
  const oauth2 = { tokenUrl: 'https://bank.example/token', clientId: 'paybell' }
  const made = await caller.call('POST', '/v1/webhooks/register', {
    callbackUrl: 'https://bank.example/hook',
    sharedKey: key,
    tls: { clientCertificate: 'default' },
    oauth2: { ...oauth2, clientSecret: 'known-to-the-bank-alone' },
  })
  assert.equal(made.status, 200, await made.text())
  for (const [env, usedBy] of [
    [asClient, undefined],
    [asOperator, 1],
  ] as const) {
    const { read } = await connect(env)
    const { content: endpoints } = await read('list_endpoints')
    const bank = endpoints.find((one: { endpointUrl: string }) => /bank/.test(one.endpointUrl))
    const shownBank = await read('show_endpoint', { endpointId: bank.id })
    assert.equal(shownBank.tls.clientCertificate, 'default')
    assert.partialDeepStrictEqual(shownBank.oauth2, oauth2)
    assert.doesNotMatch(JSON.stringify([endpoints, shownBank]), /known-to-the-bank|only-we-two/)
    const { content } = await read('list_certificates')
    const [shown, ...others] = content
    assert.deepEqual(others, [])
    assert.deepEqual([shown.name, shown.isDefault, shown.usedBy], ['pix', true, usedBy])
    assert.equal(
      shown.clients,
      usedBy === undefined ? undefined : 'everyone',
      'the operator’s alone',
    )
    assert.ok(Date.parse(shown.notAfter) > Date.now())
    assert.doesNotMatch(JSON.stringify(content), /BEGIN/)
  }
})

test('nothing is changed unless that was allowed; then it is, and the audit says by whom', async () => {
  const { client } = await connect(asOperator)
  const reading = (await client.listTools()).tools.map(({ name }) => name)
  assert.ok(!reading.some((name) => /retry|replay|pause|verify/.test(name)), String(reading))

  const { read } = await connect(asOperator, '--allow-writes')
  const { items } = await read('list_deliveries', { state: 'PENDING' })
  receiver.answer = 200
  assert.equal((await read('retry_delivery', { deliveryId: items[0].id })).state, 'PENDING')
  await untilAllAre(paybell.pool, ['DELIVERED'])
  const { endpointId } = items[0]
  assert.equal((await read('pause_endpoint', { endpointId })).status, 'PAUSED')
  const { rows } = await paybell.pool.query(
    `select actor, action from audit where action in ('delivery.retry', 'endpoint.pause') order by id`,
  )
  assert.deepEqual(
    rows.map(({ actor }) => actor),
    ['operator via mcp', 'operator via mcp'],
  )
})
