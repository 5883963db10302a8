// Receivers that ask for a token of an authorisation server of their own: oidc-provider, with clients that have a secret
// and one that trusts the service's key for a client. And where a secret or a token must not be found.

import assert from 'node:assert/strict'
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { trace } from '@opentelemetry/api'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base'
// @ts-expect-error it comes without types
import Provider from 'oidc-provider'
import { Caller } from '../support/caller.ts'
import { everything, spellings } from '../support/leaks.ts'
import type { Owner } from '../support/owner.ts'
import { addClient, type Paybell, startPaybell, until } from '../support/paybell.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const JWKS = { keys: [{ ...privateKey.export({ format: 'jwk' }), use: 'sig', alg: 'RS256' }] }
const SECRETS = {
  basic: `canary-${randomBytes(16).toString('hex')}`,
  post: `canary-${randomBytes(16).toString('hex')}`,
}

/** An authorisation server that trusts the keys of the service at `jwksUri`. */
async function startAuthorisation(t: Owner, jwksUri: string) {
  let listener: RequestListener = () => {}
  const server = createServer((request, response) => listener(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const client = {
    ...{ grant_types: ['client_credentials'], redirect_uris: [], response_types: [] },
    scope: 'hooks',
  }
  const provider = new Provider(issuer, {
    clients: [
      {
        ...{ ...client, client_id: 'basic', client_secret: SECRETS.basic },
        token_endpoint_auth_method: 'client_secret_basic',
      },
      {
        ...{ ...client, client_id: 'post', client_secret: SECRETS.post },
        token_endpoint_auth_method: 'client_secret_post',
      },
      {
        ...{ ...client, client_id: 'key', jwks_uri: jwksUri },
        token_endpoint_auth_method: 'private_key_jwt',
      },
    ],
    jwks: JWKS,
    scopes: ['hooks'],
    // Its guard against private addresses keeps it from this machine, where the service is in tests.
    fetch: (url: string, { dispatcher: _, ...options }: RequestInit & { dispatcher?: unknown }) =>
      fetch(url, options),
    features: { devInteractions: { enabled: false }, clientCredentials: { enabled: true } },
  })
  listener = provider.callback()
  /** Whose token this is, by its own word. */
  const clientOf = async (token: string): Promise<string | undefined> =>
    (await provider.ClientCredentials.find(token))?.clientId
  return { tokenUrl: `${issuer}/token`, clientOf }
}

function bearerOf({ received }: Receiver, path: string): string {
  const { headers } = received.findLast((one) => one.path === path) ?? assert.fail(path)
  return headers.authorization?.replace('Bearer ', '') ?? ''
}

function register({ caller }: Paybell, callbackUrl: string, oauth2: object): Promise<string> {
  return caller.addWebhook(callbackUrl, 'only-we-two-know-this', { oauth2 })
}

test('a real authorisation server gives tokens for a secret and for the key of a client, not for that of another; none is found anywhere', async (t) => {
  const lines: string[] = []
  const exporter = new InMemorySpanExporter()
  const spanProcessors = [new SimpleSpanProcessor(exporter)]
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors }))
  t.after(() => trace.disable())
  const receiver = await startReceiver(t)
  const paybell = await startPaybell(t, { log: (line) => lines.push(line) })
  const jwksUri = `${paybell.baseUrl}/.well-known/clients/${paybell.clientId}/jwks.json`
  const { tokenUrl, clientOf } = await startAuthorisation(t, jwksUri)
  const clients = {
    '/basic': { clientId: 'basic', clientSecret: SECRETS.basic },
    '/post': { clientId: 'post', clientSecret: SECRETS.post, authentication: 'post' },
    '/key': { clientId: 'key', privateKeyJwt: true },
  }
  const answers: string[] = []
  const keep = async (response: Response): Promise<string> => {
    const text = await response.text()
    answers.push(text)
    return text
  }
  const ids: string[] = []
  for (const [path, client] of Object.entries(clients)) {
    ids.push(await register(paybell, receiver.url(path), { tokenUrl, scope: 'hooks', ...client }))
  }
  const wrong = { tokenUrl, clientId: 'basic', clientSecret: 'wrong-canary', scope: 'hooks' }
  const wrongId = await register(paybell, receiver.url('/wrong'), wrong)
  // Another client of the service names the same client of the bank, and an address of its own.
  const thief = { ...paybell, caller: new Caller(await addClient(paybell)) }
  const asOther = { tokenUrl, scope: 'hooks', clientId: 'key', privateKeyJwt: true }
  const thiefId = await register(thief, receiver.url('/thief'), asOther)
  const stolen = await keep(await thief.caller.postToWebhook(thiefId, 'test'))
  assert.equal(JSON.parse(stolen).error, 'token-refused')
  await paybell.caller.pay()
  await receiver.hasSeen(({ accepted }) => accepted.length === 3)
  const tokens: string[] = []
  for (const [path, { clientId }] of Object.entries(clients)) {
    const token = bearerOf(receiver, path)
    assert.equal(await clientOf(token), clientId)
    tokens.push(token)
  }

  // A test send, a check and the record of the delivery say that the token was refused.
  const tested = await keep(await paybell.caller.postToWebhook(wrongId, 'test'))
  assert.equal(JSON.parse(tested).error, 'token-refused')
  const checked = await keep(await paybell.caller.postToWebhook(wrongId, 'check'))
  assert.match(JSON.parse(checked).steps[0].reason, /token endpoint answered 401 invalid_client/)
  const delivery = await until('its attempt is recorded', async () => {
    const list = await keep(await paybell.caller.get(`/v1/deliveries?endpointId=${wrongId}`))
    const [item] = JSON.parse(list).items
    return item.attempts > 0 && item
  })
  assert.equal(delivery.lastOutcome, 'token-refused')
  const detail = JSON.parse(await keep(await paybell.caller.get(`/v1/deliveries/${delivery.id}`)))
  assert.equal(detail.attemptLog[0].error, 'token-refused')
  assert.match(detail.attemptLog[0].excerpt, /answered 401 invalid_client/)
  assert.match(JSON.stringify(detail.explanation), /The token endpoint gave no token/)
  const sent = detail.request.headers.map(({ name }: { name: string }) => name)
  assert.ok(sent.length > 0 && !sent.includes('authorization'), sent.join(', '))
  assert.ok(receiver.received.every(({ path }) => path !== '/wrong' && path !== '/thief'))

  // What was delivered shows that there was a token, and not which.
  const good = await keep(await paybell.caller.get(`/v1/deliveries?endpointId=${ids[0]}`))
  const shown = await keep(
    await paybell.caller.get(`/v1/deliveries/${JSON.parse(good).items[0].id}`),
  )
  const { headers } = JSON.parse(shown).request
  const token = headers.find(({ name }: { name: string }) => name === 'authorization')
  assert.equal(token?.value, 'Bearer •••')
  const asOperator = { headers: { authorization: `Bearer ${paybell.operatorKey}` } }
  for (const path of [
    ...ids.flatMap((one) => [`/operator/v1/endpoints/${one}`]),
    ...['/operator/v1/endpoints', '/operator/v1/audit', '/metrics'],
  ]) {
    await keep(await fetch(`${paybell.baseUrl}${path}`, asOperator))
  }

  const needles = [SECRETS.basic, SECRETS.post, 'wrong-canary', ...tokens].flatMap(spellings)
  const spans = exporter.getFinishedSpans()
  const places = {
    log: lines.join('\n'),
    answers: answers.join('\n'),
    traces: JSON.stringify(spans.map(({ name, attributes, events }) => [name, attributes, events])),
  }
  assert.ok(places.traces.includes('token-refused'), 'the attempts were traced')
  assert.ok(places.log.includes(delivery.id), 'the log was read')
  for (const needle of needles) {
    for (const [place, text] of Object.entries(places)) {
      assert.ok(!text.includes(needle), `a canary is in ${place}`)
    }
  }
  let rows = 0
  for await (const { table, text } of everything(paybell.pool)) {
    rows += 1
    for (const needle of needles) assert.ok(!text.includes(needle), `a canary is in ${table}`)
  }
  assert.ok(rows > 50, 'something was searched')
})

test('a token endpoint that is away for a while loses nothing: the delivery is retried, and arrives', async (t) => {
  const receiver = await startReceiver(t)
  const tokens = await startReceiver(t)
  tokens.answer = 503
  const paybell = await startPaybell(t)
  const oauth2 = { tokenUrl: tokens.url('/token'), clientId: 'paybell', clientSecret: 'secret' }
  const webhookId = await register(paybell, receiver.url('/hook'), oauth2)
  const id = await paybell.caller.pay()
  await until('an attempt has failed', async () => {
    const list = await paybell.caller.get(`/v1/deliveries?endpointId=${webhookId}`)
    const [item] = ((await list.json()) as { items: { lastOutcome: string }[] }).items
    return item?.lastOutcome === 'token-unreachable'
  })
  assert.equal(receiver.received.length, 0)
  tokens.answer = (_received, response) => {
    response.end(JSON.stringify({ access_token: 'abc', token_type: 'Bearer', expires_in: 3600 }))
    return undefined
  }
  const tested = await paybell.caller.postToWebhook(webhookId, 'test')
  assert.equal(((await tested.json()) as { delivered: boolean }).delivered, true)
  await receiver.hasSeen(({ accepted }) => accepted.some(({ body }) => body.includes(id)))
  assert.ok(receiver.accepted.every(({ headers }) => headers.authorization === 'Bearer abc'))
})

test('regression: a retry asks the token endpoint that was fixed meanwhile, and writes no attempt that never was', async (t) => {
  const receiver = await startReceiver(t)
  const tokens = await startReceiver(t)
  tokens.answer = 400
  const paybell = await startPaybell(t)
  const oauth2 = { tokenUrl: tokens.url('/token'), clientId: 'paybell', clientSecret: 'a secret' }
  const id = await register(paybell, receiver.url('/hook'), { ...oauth2, authentication: 'post' })
  const { caller } = paybell
  await caller.write()
  const deliveryOf = async () => {
    const answer = await caller.get(`/v1/deliveries?endpointId=${id}`)
    const [item] = ((await answer.json()) as { items: { id: string; attempts: number }[] }).items
    return item ?? assert.fail('no delivery')
  }
  const failed = await until('an attempt has failed', async () => {
    const one = await deliveryOf()
    return one.attempts > 0 && one
  })
  const before = tokens.received.length
  tokens.answer = (_received, response) => {
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ access_token: 'abc', token_type: 'Bearer', expires_in: 60 }))
    return undefined
  }
  const answer = await caller.call('POST', `/v1/deliveries/${failed.id}/retry`)
  assert.equal(answer.status, 202, await answer.text())
  await receiver.hasSeen(({ accepted }) => accepted.length === 1)
  assert.equal(tokens.received.length, before + 1)
  const attempts = await until('it is recorded', async () => {
    const one = await deliveryOf()
    return one.attempts > failed.attempts && String(one.attempts)
  })
  assert.equal(Number(attempts), failed.attempts + 1)
})
