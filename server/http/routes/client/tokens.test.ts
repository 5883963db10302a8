// POST /auth/token and the tokens it gives (decisions, Tokens; reliability A1 to A10).

import assert from 'node:assert/strict'
import { createPrivateKey, generateKeyPairSync, randomBytes, randomUUID } from 'node:crypto'
import { after, test } from 'node:test'
import {
  CompactSign,
  createLocalJWKSet,
  decodeJwt,
  decodeProtectedHeader,
  importJWK,
  jwtVerify,
} from 'jose'
import { cloneDatabase, openPool } from '../../../../test/support/database.ts'
import { call, OPERATOR } from '../../../../test/support/injected-calls.ts'
import {
  assertProblem,
  BASE_URL,
  HandClock,
  OPERATOR_KEY,
  onboard,
  serveHttp,
  type TestServer,
  withoutRequestId,
} from '../../../../test/support/injected-server.ts'
import { encode } from '../../../../test/support/jwt-part.ts'
import { issueClientSecret } from '../../../operations/access/issue-client-secret.ts'
import { TOKEN_KEYS } from '../../../operations/access/key-purposes.ts'
import { rotateSigningKey } from '../../../operations/access/keyring.ts'
import { revokeClientSecret } from '../../../operations/access/revoke-client-secret.ts'
import { signJws } from '../../../operations/access/sign-jws.ts'
import { changeClient } from '../../../operations/clients/change-client.ts'
import { Sealer } from '../../../store/secrets/sealing.ts'

const { pool } = await cloneDatabase()
/** For tests that ask nothing of it but what became of their own client. */
const server = await serveHttp({ after }, pool)

function login(server: TestServer, payload: unknown, more: object = {}) {
  return server.app.inject({
    method: 'POST',
    url: '/auth/token',
    headers: { 'content-type': 'application/json' },
    payload: typeof payload === 'string' ? payload : JSON.stringify(payload),
    ...more,
  })
}

function listWith(server: TestServer, token: string, url = '/v1/webhooks') {
  return call(server, { authorization: `Bearer ${token}` }, 'GET', url)
}

test('right credentials give a Bearer token for an hour, not to be stored', async () => {
  const { clientId, clientSecret } = await onboard(server)
  const answer = await login(server, { clientId, clientSecret })
  assert.equal(answer.statusCode, 200)
  assert.equal(answer.headers['cache-control'], 'no-store')
  const body = answer.json()
  assert.deepEqual(Object.keys(body).sort(), ['access_token', 'expires_in', 'token_type'])
  assert.equal(body.expires_in, 3600)
  assert.equal(body.token_type, 'Bearer')
})

test('expires_in follows PAYBELL_TOKEN_TTL_SECONDS', async (t) => {
  const server = await serveHttp(t, pool, { env: { PAYBELL_TOKEN_TTL_SECONDS: '90' } })
  const { clientId, clientSecret } = await onboard(server)
  const body = (await login(server, { clientId, clientSecret })).json()
  assert.equal(body.expires_in, 90)
  const claims = decodeJwt(body.access_token)
  assert.equal((claims.exp as number) - (claims.iat as number), 90)
})

test('the token is an at+jwt signed with EdDSA by a published key, with all seven claims', async () => {
  const { token, clientId } = await onboard(server)
  const header = decodeProtectedHeader(token)
  assert.equal(header.alg, 'EdDSA')
  assert.equal(header.typ, 'at+jwt')
  const claims = decodeJwt(token)
  assert.deepEqual(Object.keys(claims).sort(), ['aud', 'exp', 'iat', 'iss', 'jti', 'nbf', 'sub'])
  assert.equal(claims.sub, clientId)
  const keys = await server.app.inject('/.well-known/jwks.json')
  assert.match(String(keys.headers['cache-control']), /max-age=\d+/)
  assert.ok(keys.json().keys.some((key: { kid: string }) => key.kid === header.kid))
  assert.doesNotMatch(keys.body, /"d":/)
  // Signed by us, verified by another library with nothing but what we publish.
  const { payload } = await jwtVerify(token, createLocalJWKSet(keys.json()), {
    algorithms: ['EdDSA'],
    typ: 'at+jwt',
    issuer: BASE_URL,
    audience: 'paybell-api',
    subject: clientId,
    currentDate: new Date(server.clock.nowMs()),
  })
  assert.deepEqual(payload, claims)
})

for (const [how, env] of [
  ['without', {}],
  ['with', { PAYBELL_BASE_URL: BASE_URL }],
] as const) {
  test(`regression: iss of tokens is the issuer of the metadata, ${how} PAYBELL_BASE_URL`, async (t) => {
    const server = await serveHttp(t, pool, { env })
    const { token } = await onboard(server)
    const metadata = (await server.app.inject('/.well-known/oauth-authorization-server')).json()
    assert.equal(decodeJwt(token).iss, metadata.issuer)
    assert.equal((await listWith(server, token)).statusCode, 200)
  })
}

test('regression: while a process of 0.2 is alive, a token names the issuer that it takes, unless an address is set', async (t) => {
  const { pool } = await cloneDatabase()
  for (const baseUrl of [undefined, BASE_URL]) {
    const env: Record<string, string> = baseUrl === undefined ? {} : { PAYBELL_BASE_URL: baseUrl }
    const server = await serveHttp(t, pool, { env })
    const client = await onboard(server)
    const issuerNow = async () => {
      const { clientId, clientSecret } = client
      server.clock.advance(1)
      const token = (await login(server, { clientId, clientSecret })).json().access_token
      assert.equal((await listWith(server, token)).statusCode, 200)
      return decodeJwt(token).iss
    }
    const older = randomUUID()
    await pool.query(
      `insert into processes values ($1, 'a', '0.2.0', now(), clock_timestamp()),
         ($2, 'b', '0.4.0', now(), clock_timestamp())`,
      [older, randomUUID()],
    )
    assert.equal(await issuerNow(), baseUrl ?? 'paybell')
    await pool.query('delete from processes where id = $1', [older])
    assert.equal(await issuerNow(), BASE_URL)
  }
})

test('without PAYBELL_BASE_URL, tokens of the version before and of other processes are good', async (t) => {
  const { token } = await onboard(server)
  const { rows } = await pool.query('select kid, private_key from signing_keys')
  const own = decodeProtectedHeader(token).kid as string
  const sealed = rows.find(({ kid }) => kid === own).private_key
  const place = { column: 'signing_keys.private_key', row: own }
  const jwk = JSON.parse(server.deps.sealer.open(sealed, place).toString())
  const signer = { kid: own, key: createPrivateKey({ key: jwk, format: 'jwk' }) }
  const named = await serveHttp(t, pool, { env: { PAYBELL_BASE_URL: BASE_URL } })
  for (const [iss, here, there] of [
    ['paybell', 200, 401],
    ['http://10.0.0.7:8081', 200, 401],
    [BASE_URL, 200, 200],
    ['mallory', 401, 401],
    ['http://10.0.0.7:8081/', 401, 401],
  ] as const) {
    const other = signJws(signer, 'at+jwt', { ...decodeJwt(token), iss })
    assert.equal((await listWith(server, other)).statusCode, here, iss)
    assert.equal((await listWith(named, other)).statusCode, there, iss)
  }
})

test('logins at the same time share a statement, and each is judged by its own', async (t) => {
  const server = await serveHttp(t, pool)
  const [one, two] = [await onboard(server), await onboard(server, 'Other')]
  const asked = countQueries(server, 'read-credentials')
  const tries = [
    { clientId: one.clientId, clientSecret: one.clientSecret },
    { clientId: one.clientId, clientSecret: two.clientSecret },
    { clientId: two.clientId, clientSecret: two.clientSecret },
    { clientId: randomUUID(), clientSecret: one.clientSecret },
    { clientId: two.clientId.toUpperCase(), clientSecret: two.clientSecret },
    { clientId: 'nobody', clientSecret: one.clientSecret },
  ]
  const answers = await Promise.all(tries.map((payload) => login(server, payload)))
  assert.deepEqual(
    answers.map((answer) => answer.statusCode),
    [200, 401, 200, 401, 200, 401],
  )
  assert.equal(decodeJwt(answers[0]?.json().access_token).sub, one.clientId)
  assert.equal(decodeJwt(answers[2]?.json().access_token).sub, two.clientId)
  assert.equal(decodeJwt(answers[4]?.json().access_token).sub, two.clientId)
  assert.ok(asked() < tries.length, `${asked()} statements`)
})

/** Counts the statements of this name from now on. */
function countQueries(server: TestServer, statement: string): () => number {
  let asked = 0
  server.deps.pool = new Proxy(pool, {
    get(target, name) {
      const value = Reflect.get(target, name, target)
      if (name !== 'query') return typeof value === 'function' ? value.bind(target) : value
      return (config: { name?: string }, ...rest: unknown[]) => {
        if (config.name === statement) asked++
        return value.call(target, config, ...rest)
      }
    },
  })
  return () => asked
}

test('A4: odd bodies are 400 with error invalid_request', async () => {
  const { clientId } = await onboard(server)
  for (const [payload, code] of [
    ['', 'malformed-json'],
    ['{', 'malformed-json'],
    ['{"clientId":"a","clientSecret":"b"}x', 'malformed-json'],
    ['[]', 'invalid-fields'],
    ['null', 'invalid-fields'],
    ['"x"', 'invalid-fields'],
    ['7', 'invalid-fields'],
    ['{}', 'invalid-fields'],
    [{ clientId }, 'invalid-fields'],
    [{ clientId, clientSecret: '' }, 'invalid-fields'],
    [{ clientId: '', clientSecret: 'x' }, 'invalid-fields'],
    [{ clientId, clientSecret: 5 }, 'invalid-fields'],
    [{ clientId, clientSecret: null }, 'invalid-fields'],
    [{ clientId: [clientId], clientSecret: 'x' }, 'invalid-fields'],
    [{ clientId: { $ne: 1 }, clientSecret: { $ne: 1 } }, 'invalid-fields'],
  ] as const) {
    const problem = assertProblem(await login(server, payload), 400, code)
    assert.equal(problem.error, 'invalid_request')
  }
  const both = assertProblem(await login(server, {}), 400, 'invalid-fields')
  assert.deepEqual(
    both.errors?.map(({ pointer, code }) => [pointer, code]),
    [
      ['/clientId', 'missing'],
      ['/clientSecret', 'missing'],
    ],
  )
  const nul = await login(server, { clientId, clientSecret: 'a\0b' })
  assert.equal(nul.statusCode, 401)
})

test('any content type but JSON and a form is 415, with error invalid_request', async () => {
  const { clientId, clientSecret } = await onboard(server)
  const payload = JSON.stringify({ clientId, clientSecret })
  for (const type of [
    'multipart/form-data; boundary=x',
    'application/x-www-form-urlencoded; charset=latin1',
    'text/plain',
    'application/json-patch+json',
    'application/json; charset=utf-16',
    'application/jsonx',
    '',
  ]) {
    const answer = await login(server, payload, { headers: { 'content-type': type } })
    assert.equal(assertProblem(answer, 415, 'unsupported-media-type').error, 'invalid_request')
  }
  const none = await server.app.inject({ method: 'POST', url: '/auth/token' })
  assertProblem(none, 415, 'unsupported-media-type')
  for (const type of [
    'application/json',
    'application/json; charset=utf-8',
    'Application/JSON;charset="UTF-8"',
  ]) {
    const answer = await login(server, payload, { headers: { 'content-type': type } })
    assert.equal(answer.statusCode, 200, type)
  }
})

test('P1: a body over 8 KiB is 413', async (t) => {
  const server = await serveHttp(t, pool)
  const toBody = (bytes: number) => `{"clientId":"${'x'.repeat(bytes - 34)}","clientSecret":"y"}`
  assert.equal(toBody(8_192).length, 8_192)
  assertProblem(await login(server, toBody(8_192)), 401, 'invalid-credentials')
  const problem = assertProblem(await login(server, toBody(8_193)), 413, 'body-too-large')
  assert.equal(problem.error, 'invalid_request')
})

test('A1: an unknown client, a malformed id and a wrong secret get the same answer', async (t) => {
  const server = await serveHttp(t, pool)
  const { clientId, clientSecret } = await onboard(server)
  const answers = await Promise.all([
    login(server, { clientId, clientSecret: 'wrong' }),
    login(server, { clientId, clientSecret: clientSecret.slice(0, -1) }),
    login(server, { clientId: randomUUID(), clientSecret }),
    login(server, { clientId: 'nobody', clientSecret }),
    login(server, { clientId: "'; drop table clients; --", clientSecret }),
  ])
  for (const answer of answers) {
    const problem = assertProblem(answer, 401, 'invalid-credentials')
    assert.equal(problem.error, 'invalid_client')
    assert.equal(withoutRequestId(answer), withoutRequestId(answers[0] as typeof answer))
    const { 'x-request-id': _id, date: _date, ...headers } = answer.headers
    const {
      'x-request-id': _id2,
      date: _date2,
      ...expected
    } = (answers[0] as typeof answer).headers
    assert.deepEqual(headers, expected)
  }
})

test('A1: an unknown client costs as many queries and comparisons as a known one', async (t) => {
  const server = await serveHttp(t, pool)
  const { clientId } = await onboard(server)
  const count = async (id: string) => {
    let work = 0
    const counting = { ...server.deps }
    counting.sealer = new Proxy(counting.sealer, {
      get(target, name) {
        if (name === 'matches') work += 1
        const value = Reflect.get(target, name, target)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
    Object.assign(server.deps, { sealer: counting.sealer })
    await login(server, { clientId: id, clientSecret: 'wrong' })
    return work
  }
  assert.equal(await count(clientId), 2)
  const { deps } = await serveHttp(t, pool)
  server.deps.sealer = deps.sealer
  assert.equal(await count(randomUUID()), 2)
})

test('A2: wrong secrets are slowed down per client and address, and no other logins are', async (t) => {
  const server = await serveHttp(t, pool)
  const { clientId, clientSecret } = await onboard(server)
  const other = await onboard(server, 'Other')
  const statuses: number[] = []
  for (let at = 0; at < 30; at++) {
    const answer = await login(
      server,
      { clientId, clientSecret: 'wrong' },
      { remoteAddress: '127.0.0.7' },
    )
    statuses.push(answer.statusCode)
    server.clock.advance(1 / 3)
    if (answer.statusCode !== 429) continue
    assertProblem(answer, 429, 'too-many-requests')
    assert.match(String(answer.headers['retry-after']), /^[1-9]\d*$/)
  }
  assert.deepEqual(statuses.slice(0, 10), Array(10).fill(401))
  assert.ok(statuses.filter((status) => status === 429).length >= 15)

  const elsewhere = { remoteAddress: '127.0.0.8' }
  assert.equal((await login(server, { clientId, clientSecret }, elsewhere)).statusCode, 200)
  const neighbour = { clientId: other.clientId, clientSecret: other.clientSecret }
  const same = { remoteAddress: '127.0.0.7' }
  assert.equal((await login(server, neighbour, same)).statusCode, 200)
  const after = await login(server, { clientId, clientSecret }, same)
  assert.equal(after.statusCode, 429)
  server.clock.advance(Number(after.headers['retry-after']))
  assert.equal((await login(server, { clientId, clientSecret }, same)).statusCode, 200)
})

test('regression: of 300 wrong guesses at once, ten are checked', async (t) => {
  const server = await serveHttp(t, pool)
  const { clientId, clientSecret } = await onboard(server)
  const guess = () => login(server, { clientId, clientSecret: 'wrong' })
  const answers = await Promise.all(Array.from({ length: 300 }, guess))
  const statuses = answers.map(({ statusCode }) => statusCode)
  assert.equal(statuses.filter((status) => status === 401).length, 10)
  assert.equal(statuses.filter((status) => status === 429).length, 290)
  const right = { clientId, clientSecret }
  assert.equal((await login(server, right)).statusCode, 429)
  assert.equal((await login(server, right, { remoteAddress: '127.0.0.8' })).statusCode, 200)
})

test('regression: an address that tries one client id after the other meets a 429', async (t) => {
  const server = await serveHttp(t, pool)
  const known = await onboard(server)
  const stranger = await onboard(server, 'Stranger')
  const here = { remoteAddress: '127.0.0.9' }
  const loginOf = ({ clientId, clientSecret }: typeof known, more: object = here) =>
    login(server, { clientId, clientSecret }, more)
  assert.equal((await loginOf(known)).statusCode, 200)
  const answers = await Promise.all(
    Array.from({ length: 80 }, () =>
      login(server, { clientId: randomUUID(), clientSecret: 'wrong' }, here),
    ),
  )
  assert.equal(answers.filter(({ statusCode }) => statusCode === 401).length, 50)
  const refused = answers.find(({ statusCode }) => statusCode === 429)
  assert.ok(refused)
  assertProblem(refused, 429, 'too-many-requests')
  assert.match(String(refused.headers['retry-after']), /^[1-9]\d*$/)

  // A client that has logged in here before is not held up by what others try from the same proxy.
  assert.equal((await loginOf(known)).statusCode, 200)
  const wrong = { ...known, clientSecret: 'wrong' }
  assert.equal((await loginOf(wrong)).statusCode, 429, 'or it would tell who is known here')
  assert.equal((await loginOf(stranger)).statusCode, 429)
  assert.equal((await loginOf(stranger, { remoteAddress: '127.0.0.10' })).statusCode, 200)
  server.clock.advance(1)
  assert.equal((await loginOf(stranger)).statusCode, 200)
})

test('right logins are never counted as failures', async () => {
  const { clientId, clientSecret } = await onboard(server)
  const answers = await Promise.all(
    Array.from({ length: 200 }, () => login(server, { clientId, clientSecret })),
  )
  assert.ok(answers.every((answer) => answer.statusCode === 200))
})

test('two live secrets both work; a revoked one stops', async () => {
  const { clientId, clientSecret } = await onboard(server)
  const second = await issueClientSecret(server.deps, clientId)
  for (const secret of [clientSecret, second.secret]) {
    const answer = await login(server, { clientId, clientSecret: secret })
    assert.equal(answer.statusCode, 200)
  }
  await revokeClientSecret(server.deps, clientId, second.secretId)
  const revoked = await login(server, { clientId, clientSecret: second.secret })
  assertProblem(revoked, 401, 'invalid-credentials')
})

test('D2: a secret under an old master key works and moves to the new one at the next login', async (t) => {
  const [oldKey, newKey] = [randomBytes(32), randomBytes(32)]
  const own = await cloneDatabase()
  const before = await serveHttp(t, own.pool, { sealer: new Sealer([oldKey]) })
  const { clientId, clientSecret } = await onboard(before)
  const during = await serveHttp(t, own.pool, { sealer: new Sealer([newKey, oldKey]) })
  assert.equal((await login(during, { clientId, clientSecret })).statusCode, 200)
  const { rows } = await own.pool.query('select master_key_id from client_secrets')
  assert.deepEqual(rows, [{ master_key_id: `${new Sealer([newKey]).writeKeyId}/2` }])
  await own.pool.query('delete from signing_keys')
  const after = await serveHttp(t, own.pool, { sealer: new Sealer([newKey]) })
  assert.equal((await login(after, { clientId, clientSecret })).statusCode, 200)
})

test('A6: 3599 seconds later the token works, at 3600 it does not', async (t) => {
  const server = await serveHttp(t, pool)
  const { token } = await onboard(server)
  server.clock.advance(3_599)
  assert.equal((await listWith(server, token)).statusCode, 200)
  server.clock.advance(1)
  assertProblem(await listWith(server, token), 401, 'invalid-token')
})

test('A6: a token that expired while it was remembered is refused', async (t) => {
  const server = await serveHttp(t, pool)
  const { token } = await onboard(server)
  for (let at = 0; at < 3; at++) assert.equal((await listWith(server, token)).statusCode, 200)
  server.clock.advance(3_600)
  assertProblem(await listWith(server, token), 401, 'invalid-token')
})

const FORGED = 'The token is malformed, forged, expired or refused.'

test('a 401 names what its caller can know: expired with the time, the wrong side, no token at all', async (t) => {
  const server = await serveHttp(t, pool)
  const { token, clientId, clientSecret } = await onboard(server)
  const made = await call(server, OPERATOR, 'POST', '/operator/v1/keys', {
    name: randomUUID(),
    role: 'viewer',
  })
  const { key } = made.json()
  const detailOf = async (credential: string, url = '/v1/webhooks') => {
    const answer = await listWith(server, credential, url)
    assertProblem(answer, 401, 'invalid-token')
    assert.equal(answer.headers['www-authenticate'], 'Bearer error="invalid_token"')
    assert.ok(!answer.body.includes(credential))
    return answer.json().detail as string
  }
  assert.match(await detailOf(key), /^This is an operator key, .* POST \/auth\/token/)
  assert.match(await detailOf('pbo_of-a-sandbox'), /^This is an operator key/)
  assert.match(await detailOf(clientSecret), /^This is a client secret/)
  // A key of any form: it is not compared with the operator's, or clients could guess at it.
  assert.match(await detailOf(OPERATOR_KEY), /^This is not an access token.*\/operator\/v1/)
  assert.equal(await detailOf(OPERATOR_KEY), await detailOf(clientId))
  const side = '/operator/v1/clients'
  assert.match(await detailOf(token, side), /^This is the access token of a client/)
  assert.match(await detailOf(clientSecret, side), /^This is the secret of a client/)
  assert.equal(await detailOf(`pbk_${'x'.repeat(43)}`, side), FORGED)
  assert.equal(await detailOf('x'.repeat(40), side), FORGED)

  const end = new Date((decodeJwt(token).exp as number) * 1_000).toISOString().replace('.000', '')
  server.clock.advance(4_000)
  const expired = `The token expired at ${end}. Get a new one from POST /auth/token.`
  for (let at = 0; at < 2; at++) assert.equal(await detailOf(token), expired)
  // Its signature is looked at first: a forged token that has expired says no more than any other.
  const [header, payload, signature = ''] = token.split('.')
  const other = signature.startsWith('A') ? 'B' : 'A'
  assert.equal(await detailOf(`${header}.${payload}.${other}${signature.slice(1)}`), FORGED)
})

test('A5: altered, foreign and respelled tokens are 401', async () => {
  const { token, clientId } = await onboard(server)
  const [header = '', payload = '', signature = ''] = token.split('.')
  const headerValue = decodeProtectedHeader(token)
  const claims = decodeJwt(token)
  const { privateKey } = generateKeyPairSync('ed25519')
  const forge = (change: object, claimChange: object = {}) =>
    new CompactSign(Buffer.from(JSON.stringify({ ...claims, ...claimChange })))
      .setProtectedHeader({ ...headerValue, alg: 'EdDSA', ...change })
      .sign(privateKey)
  const last = signature.at(-1) as string
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  const respelled = alphabet[alphabet.indexOf(last) + 1] as string
  const tokens = [
    `${header}.${payload}.`,
    `${header}.${payload}.${signature.slice(0, -1)}${respelled}`,
    `${header}.${payload}.${signature}=`,
    `${header}.${encode({ ...claims, sub: randomUUID() })}.${signature}`,
    `${header}.${encode({ ...claims, exp: 9_999_999_999 })}.${signature}`,
    `${encode({ alg: 'none', typ: 'at+jwt' })}.${payload}.`,
    `${encode({ ...headerValue, alg: 'HS256' })}.${payload}.${signature}`,
    `${encode({ ...headerValue, kid: 'other' })}.${payload}.${signature}`,
    await forge({}),
    await forge({ kid: 'unknown' }),
    await forge({ jwk: { kty: 'OKP', crv: 'Ed25519', x: 'AAAA' } }),
    await forge({ jku: 'https://evil.test/jwks.json', kid: 'x' }),
    `${token}.${'x'.repeat(5_000)}`,
    'x'.repeat(5_000),
    clientId,
  ]
  for (const bad of tokens) {
    const answer = await listWith(server, bad)
    assertProblem(answer, 401, 'invalid-token')
    assert.equal(answer.headers['www-authenticate'], 'Bearer error="invalid_token"')
    assert.ok(!answer.body.includes(bad))
    // What has the form of a token gets one and the same text.
    if (bad.split('.').length === 3) assert.equal(answer.json().detail, FORGED)
  }
  assert.equal((await listWith(server, token)).statusCode, 200)
})

test('A5: even with our own key, a missing claim, a crit header or another type is 401', async () => {
  const { token } = await onboard(server)
  const header = decodeProtectedHeader(token)
  const claims = decodeJwt(token)
  const { rows } = await pool.query('select private_key from signing_keys where kid = $1', [
    header.kid,
  ])
  const place = { column: 'signing_keys.private_key', row: header.kid as string }
  const jwk = JSON.parse(server.deps.sealer.open(rows[0].private_key, place).toString())
  const key = await importJWK(jwk, 'EdDSA')
  const sign = (protectedHeader: object, payload: object) =>
    new CompactSign(Buffer.from(JSON.stringify(payload)))
      .setProtectedHeader({ ...header, alg: 'EdDSA', ...protectedHeader })
      .sign(key, { crit: { b64: true } })
  assert.equal((await listWith(server, await sign({}, claims))).statusCode, 200)
  for (const name of Object.keys(claims)) {
    const { [name]: _left, ...rest } = claims
    assertProblem(await listWith(server, await sign({}, rest)), 401, 'invalid-token')
  }
  const nowSeconds = Math.floor(server.clock.nowMs() / 1_000)
  for (const bad of [
    await sign({ typ: 'JWT' }, claims),
    await sign({ crit: ['b64'], b64: true }, claims),
    await sign({}, { ...claims, aud: 'other' }),
    await sign({}, { ...claims, iss: 'other' }),
    await sign({}, { ...claims, nbf: nowSeconds + 6 }),
    await sign({}, { ...claims, iat: nowSeconds + 6 }),
    await sign({}, { ...claims, exp: nowSeconds }),
  ]) {
    assertProblem(await listWith(server, bad), 401, 'invalid-token')
  }
  const slightlyEarly = await sign({}, { ...claims, nbf: nowSeconds + 5, iat: nowSeconds + 5 })
  assert.equal((await listWith(server, slightlyEarly)).statusCode, 200)
  assert.ok(createPrivateKey({ key: jwk, format: 'jwk' }))
})

test('A7: a disabled client’s tokens stop within 5 seconds, and work again when it is enabled', async (t) => {
  const server = await serveHttp(t, pool)
  const { token, clientId, clientSecret } = await onboard(server)
  assert.equal((await listWith(server, token)).statusCode, 200)
  await changeClient(server.deps, clientId, { status: 'DISABLED' })
  server.clock.advance(4.9)
  assertProblem(await listWith(server, token), 401, 'invalid-token')
  assertProblem(await login(server, { clientId, clientSecret }), 401, 'invalid-credentials')
  await changeClient(server.deps, clientId, { status: 'ACTIVE' })
  server.clock.advance(4.9)
  assert.equal((await listWith(server, token)).statusCode, 200)
})

test('regression: a client that was enabled again is let in at once, in every process', async (t) => {
  const clock = new HandClock()
  const server = await serveHttp(t, pool, { clock })
  const elsewhere = await serveHttp(t, pool, { clock })
  const { token, clientId, clientSecret } = await onboard(server)
  await changeClient(server.deps, clientId, { status: 'DISABLED' })
  clock.advance(5)
  for (const one of [server, elsewhere]) {
    assertProblem(await listWith(one, token), 401, 'invalid-token')
  }
  await changeClient(server.deps, clientId, { status: 'ACTIVE' })
  const { access_token } = (await login(server, { clientId, clientSecret })).json()
  for (const one of [server, elsewhere]) {
    assert.equal((await listWith(one, access_token)).statusCode, 200)
  }
})

test('A8: the token counts in the Authorization header alone, once, with Bearer in any case', async () => {
  const { token } = await onboard(server)
  const ask = (headers: Record<string, string | string[]>, url = '/v1/webhooks') =>
    call(server, headers, 'GET', url)
  for (const scheme of ['Bearer', 'bearer', 'BEARER']) {
    assert.equal((await ask({ authorization: `${scheme} ${token}` })).statusCode, 200)
  }
  for (const authorization of [
    `Bearer  ${token} b`,
    `Bearer ${token},${token}`,
    'Bearer',
    'Bearer ',
    token,
    `Basic ${token}`,
    [`Bearer ${token}`, `Bearer ${token}`],
  ]) {
    assertProblem(await ask({ authorization }), 401, 'invalid-token')
  }
  const missing = await ask({}, `/v1/webhooks?access_token=${token}`)
  assertProblem(missing, 401, 'missing-token')
  assert.equal(missing.headers['www-authenticate'], 'Bearer')
  assertProblem(await ask({ cookie: `access_token=${token}` }), 401, 'missing-token')
})

test('tokens in flight outlive a rotation of the signing key', async (t) => {
  const server = await serveHttp(t, pool)
  const { token, clientId, clientSecret } = await onboard(server)
  await rotateSigningKey(server.deps, TOKEN_KEYS)
  server.clock.advance(61)
  const fresh = (await login(server, { clientId, clientSecret })).json().access_token
  assert.notEqual(decodeProtectedHeader(fresh).kid, decodeProtectedHeader(token).kid)
  assert.equal((await listWith(server, fresh)).statusCode, 200)
  assert.equal((await listWith(server, token)).statusCode, 200)
  const cold = await serveHttp(t, pool, { clock: server.clock })
  assert.equal((await listWith(cold, token)).statusCode, 200)
})

test('a token of one process works in another, whatever port it listens on', async (t) => {
  const clock = new HandClock()
  const [here, there] = [await serveHttp(t, pool, { clock }), await serveHttp(t, pool, { clock })]
  const { token } = await onboard(here)
  there.deps.baseUrl = () => 'http://127.0.0.1:9999'
  assert.equal((await listWith(there, token)).statusCode, 200)
})

test('T4: an operator key is refused on the client interface and a token on the operator’s', async () => {
  const { token } = await onboard(server)
  for (const url of ['/v1/webhooks', '/v1/webhooks/list', '/api/v1/payments/subscriptions']) {
    assertProblem(await listWith(server, OPERATOR_KEY, url), 401, 'invalid-token')
  }
  assertProblem(await listWith(server, token, '/operator/v1/clients'), 401, 'invalid-token')
  const bare = await server.app.inject('/operator/v1/clients')
  assertProblem(bare, 401, 'missing-token')
})

test('A10: with the database away, right credentials and right tokens get 503 with Retry-After', async (t) => {
  const server = await serveHttp(t, pool)
  const { token, clientId, clientSecret } = await onboard(server)
  const away = openPool(t, 'postgres://nobody@127.0.0.1:1/none')
  server.deps.pool = away
  const refused = await login(server, { clientId, clientSecret })
  assert.equal(assertProblem(refused, 503, 'database-away').error, undefined)
  assert.match(String(refused.headers['retry-after']), /^[1-9]\d*$/)
  server.clock.advance(3)
  const answer = await listWith(server, token)
  assertProblem(answer, 503, 'database-away')
  assert.match(String(answer.headers['retry-after']), /^[1-9]\d*$/)
  server.deps.pool = pool
  assert.equal((await listWith(server, token)).statusCode, 200)
})

test('one query for all who ask about a client at once, and none for 2 seconds', async (t) => {
  const server = await serveHttp(t, pool)
  const { token } = await onboard(server)
  const asked = countQueries(server, 'find-client')
  await Promise.all(Array.from({ length: 20 }, () => listWith(server, token)))
  assert.equal(asked(), 1)
  server.clock.advance(2)
  await listWith(server, token)
  assert.equal(asked(), 2)
})
