// Tokens for clients that prove themselves with a key of their own (RFC 7523). oauth4webapi and
// openid-client, unchanged, are the clients.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import test, { type TestContext } from 'node:test'
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose'
import * as oauth from 'oauth4webapi'
import * as openid from 'openid-client'
import { cloneDatabase } from '../../../../test/support/database.ts'
import { OPERATOR } from '../../../../test/support/injected-calls.ts'
import {
  assertProblem,
  BASE_URL,
  HandClock,
  onboard,
  serveHttp,
  type TestServer,
  type TestServerOptions,
} from '../../../../test/support/injected-server.ts'
import { ASSERTION_TYPE } from '../../../core/proofs/client-assertion.ts'
import { deleteOldAssertions } from '../../../store/secrets/client-keys.ts'

const { pool } = await cloneDatabase()

async function addKey({ app }: TestServer, clientId: string, jwk: object) {
  const url = `/operator/v1/clients/${clientId}/keys`
  return app.inject({ method: 'POST', url, headers: OPERATOR, payload: { jwk } })
}

async function setUp(t: TestContext, options: TestServerOptions = {}) {
  const server = await serveHttp(t, pool, options)
  const client = await onboard(server)
  const pair = await generateKeyPair('EdDSA', { crv: 'Ed25519', extractable: true })
  const added = await addKey(server, client.clientId, await exportJWK(pair.publicKey))
  assert.equal(added.statusCode, 201, added.body)
  const seconds = () => Math.floor(server.clock.nowMs() / 1_000)
  const sign = (change: JWTPayload = {}, header: object = {}, key = pair.privateKey) =>
    new SignJWT({
      iss: client.clientId,
      sub: client.clientId,
      aud: `${BASE_URL}/auth/token`,
      exp: seconds() + 120,
      jti: randomUUID(),
      ...change,
    })
      .setProtectedHeader({ alg: 'EdDSA', ...header })
      .sign(key)
  return { server, ...client, pair, kid: added.json().kid as string, sign, seconds }
}

function send({ app }: TestServer, form: Record<string, string>, headers: object = {}) {
  return app.inject({
    method: 'POST',
    url: '/auth/token',
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    payload: new URLSearchParams({ grant_type: 'client_credentials', ...form }).toString(),
  })
}

const asserted = (assertion: string) => ({
  client_assertion_type: ASSERTION_TYPE,
  client_assertion: assertion,
})

async function detailOf(answer: Awaited<ReturnType<typeof send>>): Promise<string> {
  const { detail, error } = answer.json()
  assertProblem(answer, 401, 'invalid-credentials')
  assert.equal(error, 'invalid_client')
  return detail
}

for (const [alg, options] of [
  ['EdDSA', { crv: 'Ed25519' }],
  ['ES256', {}],
  ['PS256', { modulusLength: 2_048 }],
] as const) {
  test(`oauth4webapi finds private_key_jwt in the metadata and gets a token with ${alg}`, async (t) => {
    const server = await serveHttp(t, pool)
    const { clientId } = await onboard(server)
    await server.app.listen({ host: '127.0.0.1', port: 0 })
    const issuer = `http://127.0.0.1:${(server.app.server.address() as AddressInfo).port}`
    server.deps.baseUrl = () => issuer
    const pair = await generateKeyPair(alg, { ...options, extractable: true })
    const jwk = { ...(await exportJWK(pair.publicKey)), kid: `key-${alg}` }
    assert.equal((await addKey(server, clientId, jwk)).statusCode, 201)

    const insecure = { [oauth.allowInsecureRequests]: true }
    const found = await oauth.discoveryRequest(new URL(issuer), {
      ...insecure,
      algorithm: 'oauth2',
    })
    const service = await oauth.processDiscoveryResponse(new URL(issuer), found)
    assert.ok(service.token_endpoint_auth_methods_supported?.includes('private_key_jwt'))
    assert.ok(service.token_endpoint_auth_signing_alg_values_supported?.includes(alg))
    // The library looks at the machine's clock, which the service's does not follow here.
    const skewSeconds = Math.floor(server.clock.nowMs() / 1_000) - Math.floor(Date.now() / 1_000)
    const client = { client_id: clientId, [oauth.clockSkew]: skewSeconds }
    for (const key of [{ key: pair.privateKey, kid: jwk.kid }, pair.privateKey]) {
      const answer = await oauth.clientCredentialsGrantRequest(
        service,
        client,
        oauth.PrivateKeyJwt(key),
        {},
        insecure,
      )
      const token = await oauth.processClientCredentialsResponse(service, client, answer)
      const headers = { authorization: `Bearer ${token.access_token}` }
      assert.equal((await fetch(`${issuer}/v1/webhooks`, { headers })).status, 200)
    }
  })
}

test('openid-client gets tokens, too, also with a clock that is almost a minute off', async (t) => {
  const server = await serveHttp(t, pool)
  const { clientId } = await onboard(server)
  await server.app.listen({ host: '127.0.0.1', port: 0 })
  const issuer = `http://127.0.0.1:${(server.app.server.address() as AddressInfo).port}`
  server.deps.baseUrl = () => issuer
  const pair = await generateKeyPair('ES256', { extractable: true })
  const jwk = { ...(await exportJWK(pair.publicKey)), kid: 'openid' }
  assert.equal((await addKey(server, clientId, jwk)).statusCode, 201)
  const grantAt = async (secondsOff: number) => {
    const skewSeconds = Math.floor(server.clock.nowMs() / 1_000) - Math.floor(Date.now() / 1_000)
    const configuration = await openid.discovery(
      new URL(issuer),
      clientId,
      { [openid.clockSkew]: skewSeconds + secondsOff },
      openid.PrivateKeyJwt({ key: pair.privateKey, kid: 'openid' }),
      { algorithm: 'oauth2', execute: [openid.allowInsecureRequests] },
    )
    return openid.clientCredentialsGrant(configuration)
  }
  for (const secondsOff of [0, -50, 50]) {
    const { access_token: token } = await grantAt(secondsOff)
    const headers = { authorization: `Bearer ${token}` }
    assert.equal((await fetch(`${issuer}/v1/webhooks`, { headers })).status, 200)
  }
  // Its assertions last a minute: one of a clock three minutes behind is over.
  await assert.rejects(grantAt(-180), { code: 'OAUTH_WWW_AUTHENTICATE_CHALLENGE', status: 401 })
})

test('an assertion is good once, over all processes, and its id may come again when it is over', async (t) => {
  const clock = new HandClock()
  const { server, sign } = await setUp(t, { clock })
  const elsewhere = await serveHttp(t, pool, { clock })
  const assertion = await sign({ jti: 'once' })
  const answers = await Promise.all(
    [server, elsewhere, server, elsewhere].map((one) => send(one, asserted(assertion))),
  )
  assert.deepEqual(answers.map(({ statusCode }) => statusCode).toSorted(), [200, 401, 401, 401])
  assert.match(await detailOf(await send(elsewhere, asserted(assertion))), /was used before/)
  clock.advance(4_000)
  await deleteOldAssertions(pool, new Date(clock.nowMs()))
  assert.match(await detailOf(await send(server, asserted(assertion))), /^The assertion expired at/)
  assert.equal((await send(server, asserted(await sign({ jti: 'once' })))).statusCode, 200)
})

test('regression: an end that is no time is over, and nothing else', async (t) => {
  const { server, sign } = await setUp(t)
  const answer = await send(server, asserted(await sign({ exp: -1e20 })))
  assert.equal(await detailOf(answer), 'The assertion has expired.')
})

test('clocks may be a minute apart; an assertion lives at most five minutes', async (t) => {
  const { server, sign, seconds } = await setUp(t)
  const statusOf = async (change: JWTPayload) =>
    (await send(server, asserted(await sign(change)))).statusCode
  assert.equal(await statusOf({ exp: seconds() + 300, iat: seconds() }), 200)
  assert.equal(
    await statusOf({ exp: seconds() + 360, iat: seconds() + 60, nbf: seconds() + 60 }),
    200,
  )
  assert.equal(await statusOf({ exp: seconds() - 59 }), 200)
  for (const [change, detail] of [
    [{ exp: seconds() - 60 }, /^The assertion expired at 2026-/],
    [{ exp: seconds() + 362 }, /^exp must be at most 300 seconds ahead/],
    [{ iat: seconds() + 62 }, /^iat must not be in the future/],
    [{ nbf: seconds() + 62 }, /^nbf is missing or is not what it must be/],
  ] as const) {
    assert.match(await detailOf(await send(server, asserted(await sign(change)))), detail)
  }
})

test('the holder of the key is told what is wrong with the claims', async (t) => {
  const { server, sign } = await setUp(t)
  for (const aud of [`${BASE_URL}/auth/token`, BASE_URL, [BASE_URL, `${BASE_URL}/auth/token`]]) {
    assert.equal((await send(server, asserted(await sign({ aud })))).statusCode, 200)
  }
  for (const [change, detail] of [
    [{ aud: 'https://other.test' }, /^aud must be https:\/\/paybell.test\/auth\/token or/],
    [{ aud: ['https://other.test', BASE_URL] }, /^aud must be .*, and nothing else/],
    [{ aud: undefined }, /^aud must be/],
    [{ iss: randomUUID() }, /^iss must be your clientId/],
    [{ iss: undefined }, /^iss must be your clientId/],
    [{ exp: undefined }, /^exp is missing or/],
    [{ jti: undefined }, /^jti is missing or/],
    [{ jti: '' }, /^jti must be a text/],
    [{ jti: 'x'.repeat(257) }, /^jti must be a text/],
  ] as const) {
    const assertion = await sign(change as JWTPayload)
    assert.match(await detailOf(await send(server, asserted(assertion))), detail)
  }
})

test('regression: an id in capitals is the same client; another spelling of the signature is forged', async (t) => {
  const { server, sign, clientId } = await setUp(t)
  const capitals = clientId.toUpperCase()
  const answer = await send(server, asserted(await sign({ iss: capitals, sub: capitals })))
  assert.equal(answer.statusCode, 200, answer.body)
  const respelt = [`${await sign()}==`, `${await sign()}=`]
  for (const one of respelt) {
    assert.equal(
      await detailOf(await send(server, asserted(one))),
      'The client assertion is wrong.',
    )
  }
})

test('forged, foreign and unreadable assertions get one answer, also of clients that are unknown or have no key', async (t) => {
  const { server, sign, clientId, kid, clientSecret } = await setUp(t)
  const stranger = await generateKeyPair('EdDSA', { crv: 'Ed25519' })
  const other = await onboard(server)
  const good = await sign()
  const unsigned = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${good.split('.')[1]}.`
  const wrong = 'The client assertion is wrong.'
  for (const [name, assertion] of Object.entries({
    forged: await sign({}, {}, stranger.privateKey),
    'of the right kid, forged': await sign({}, { kid }, stranger.privateKey),
    'of an unknown kid': await sign({}, { kid: 'other' }),
    'of a client without a key': await sign({ iss: other.clientId, sub: other.clientId }),
    'of an unknown client': await sign({ iss: clientId, sub: randomUUID() }),
    'expired and forged': await sign({ exp: 1 }, {}, stranger.privateKey),
    unsigned,
    altered: `${good.slice(0, -4)}AAAA`,
    'no assertion': 'x',
    'too long': `${good}${'x'.repeat(4_000)}`,
  })) {
    assert.equal(await detailOf(await send(server, asserted(assertion))), wrong, name)
  }
  // One for another client than client_id says.
  const mixed = { client_id: other.clientId, ...asserted(await sign()) }
  assert.equal(await detailOf(await send(server, mixed)), wrong)
  assert.equal((await send(server, { client_id: clientId, ...asserted(good) })).statusCode, 200)
  assert.ok(clientSecret)
})

test('a form with half an assertion, another type or two methods is a 400', async (t) => {
  const { server, sign, clientId, clientSecret } = await setUp(t)
  const assertion = await sign()
  const basic = `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`
  for (const [form, headers, expected] of [
    [{ client_assertion: assertion }, {}, '/client_assertion_type missing'],
    [{ client_assertion_type: ASSERTION_TYPE }, {}, '/client_assertion missing'],
    [
      { ...asserted(assertion), client_assertion_type: 'saml' },
      {},
      '/client_assertion_type not-in-list',
    ],
    [
      { ...asserted(assertion), client_id: clientId, client_secret: clientSecret },
      {},
      '/client_assertion two-methods',
    ],
    [asserted(assertion), { authorization: basic }, '/client_assertion two-methods'],
  ] as const) {
    const { errors } = assertProblem(await send(server, form, headers), 400, 'invalid-fields')
    assert.deepEqual(
      errors?.map(({ pointer, code }) => `${pointer} ${code}`),
      [expected],
    )
  }
})

test('regression: with credentials: keys the right secret is told so, a wrong one nothing; until secrets are taken back', async (t) => {
  const { server, sign, clientId, clientSecret } = await setUp(t)
  const { app } = server
  const patch = async (payload: object) =>
    app.inject({
      method: 'PATCH',
      url: `/operator/v1/clients/${clientId}`,
      headers: OPERATOR,
      payload,
    })
  const login = () =>
    app.inject({ method: 'POST', url: '/auth/token', payload: { clientId, clientSecret } })
  assert.equal((await patch({ credentials: 'keys' })).json().credentials, 'keys')
  const refused = await login()
  assertProblem(refused, 401, 'keys-only')
  assert.equal(refused.json().error, 'invalid_client')
  assert.match(refused.json().detail, /^This client gets tokens with its keys only/)
  // No oracle: who has no right secret sees what is said of a client that does not exist.
  const wrongs = []
  for (const id of [clientId, randomUUID()]) {
    const payload = { clientId: id, clientSecret: 'wrong' }
    const wrong = await app.inject({ method: 'POST', url: '/auth/token', payload })
    assertProblem(wrong, 401, 'invalid-credentials')
    const { instance: _, ...body } = wrong.json()
    wrongs.push({ ...body, length: wrong.headers['content-length'] })
  }
  assert.deepEqual(wrongs[0], wrongs[1])
  const atConsole = await app.inject({
    method: 'POST',
    url: '/console/session',
    headers: { 'x-paybell-console': '1' },
    payload: { clientId, clientSecret },
  })
  assertProblem(atConsole, 401, 'keys-only')
  assert.equal((await send(server, asserted(await sign()))).statusCode, 200)
  const { rows } = await pool.query(
    'select object, changes::json as changes from audit where action = $1',
    ['client.change'],
  )
  assert.deepEqual(rows, [
    {
      object: `client:${clientId}`,
      changes: [{ field: 'credentials', before: 'any', after: 'keys' }],
    },
  ])
  assert.equal((await patch({ credentials: 'any' })).statusCode, 200)
  assert.equal((await login()).statusCode, 200)
  assertProblem(await patch({}), 400, 'invalid-fields')
  assertProblem(await patch({ credentials: 'secrets' }), 400, 'invalid-fields')
  assert.equal((await patch({ credentials: 'keys' })).statusCode, 200)
  assert.equal((await patch({ status: 'DISABLED' })).statusCode, 200)
  assertProblem(await login(), 401, 'invalid-credentials')
  await detailOf(await send(server, asserted(await sign())))
})

test('keys are added, listed and deleted; at most five, each public, under its own kid or its thumbprint', async (t) => {
  const { server, clientId, kid, sign, pair } = await setUp(t)
  const { app } = server
  const url = `/operator/v1/clients/${clientId}/keys`
  const list = async (query = '') =>
    (await app.inject({ url: `${url}${query}`, headers: OPERATOR })).json()
  const [only] = (await list()).content
  const { x } = await exportJWK(pair.publicKey)
  assert.deepEqual(only.jwk, { kty: 'OKP', crv: 'Ed25519', x, alg: 'EdDSA', kid })
  assert.match(kid, /^[\w-]{43}$/)
  const again = await addKey(server, clientId, await exportJWK(pair.publicKey))
  assertProblem(again, 409, 'client-key-taken')
  for (let at = 0; at < 4; at++) {
    const other = await generateKeyPair('ES256', { extractable: true })
    const jwk = { ...(await exportJWK(other.publicKey)), kid: `k${at}` }
    server.clock.advance(1)
    const added = await addKey(server, clientId, jwk)
    assert.equal(added.statusCode, 201)
    assert.equal(added.headers.location, `${url}/k${at}`)
  }
  const sixth = { ...only.jwk, kid: 'sixth' }
  assertProblem(await addKey(server, clientId, sixth), 409, 'too-many-client-keys')
  const page = await list('?page=1&size=2')
  assert.deepEqual(
    [page.content.map((key: { kid: string }) => key.kid), page.totalElements, page.totalPages],
    [['k1', 'k2'], 5, 3],
  )
  const secret = await addKey(server, clientId, await exportJWK(pair.privateKey))
  assertProblem(secret, 400, 'invalid-fields')
  assert.equal(secret.json().errors[0].code, 'private-key')
  const point = { kty: 'EC', crv: 'P-256', x: 'AAAA', y: 'AAAA' }
  assert.equal((await addKey(server, clientId, point)).json().errors[0].code, 'invalid-key')
  assertProblem(await addKey(server, randomUUID(), only.jwk), 404, 'not-found')

  const remove = (name: string) =>
    app.inject({ method: 'DELETE', url: `${url}/${name}`, headers: OPERATOR })
  assert.equal((await remove(kid)).statusCode, 204)
  assertProblem(await remove(kid), 404, 'not-found')
  await detailOf(await send(server, asserted(await sign())))
  const { rows } = await pool.query(
    `select action from audit where object = $1 and action like 'client-key.%' order by id`,
    [`client:${clientId}`],
  )
  assert.deepEqual(
    rows.map(({ action }) => action),
    [...Array(5).fill('client-key.create'), 'client-key.delete'],
  )
})

test('a key that was written into the database, or moved to another client, proves nothing', async (t) => {
  const { server, sign, clientId } = await setUp(t)
  const victim = await onboard(server)
  await pool.query(
    `insert into client_keys select $1, kid, public_jwk, created_at, authentication
     from client_keys where client_key = (select client_key from clients where id = $2)`,
    [victim.clientKey, clientId],
  )
  const assertion = await sign({ iss: victim.clientId, sub: victim.clientId })
  assert.equal(
    await detailOf(await send(server, asserted(assertion))),
    'The client assertion is wrong.',
  )
})
