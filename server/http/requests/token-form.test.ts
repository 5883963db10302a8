// POST /auth/token with a form, as RFC 6749 §4.4 has it, where OAuth libraries find it, and what a client's
// answers say of its limit (decisions, OAuth libraries).

import assert from 'node:assert/strict'
import test from 'node:test'
import { decodeJwt } from 'jose'
import { cloneDatabase } from '../../../test/support/database.ts'
import {
  assertProblem,
  onboard,
  serveHttp,
  type TestServer,
} from '../../../test/support/injected-server.ts'

const { pool } = await cloneDatabase()

const FORM = 'application/x-www-form-urlencoded'

function send(server: TestServer, form: string, headers: Record<string, string> = {}) {
  const all = { 'content-type': FORM, ...headers }
  return server.app.inject({ method: 'POST', url: '/auth/token', headers: all, payload: form })
}

function toBasic(clientId: string, clientSecret: string): Record<string, string> {
  return { authorization: `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}` }
}

test('a form gives the same token as JSON, with the credentials in it or as HTTP Basic', async (t) => {
  const server = await serveHttp(t, pool)
  const { clientId, clientSecret } = await onboard(server)
  const inBody = `grant_type=client_credentials&client_id=${clientId}&client_secret=${clientSecret}`
  const basic = toBasic(clientId, clientSecret)
  const escaped = (text: string) =>
    text.replaceAll(/[-_]/g, (one) => `%${one.charCodeAt(0).toString(16)}`)
  for (const [form, headers] of [
    [inBody, {}],
    [`${inBody}&scope=everything&unknown=1`, {}],
    [inBody, { 'content-type': `${FORM}; charset=UTF-8` }],
    [inBody, { authorization: 'Bearer of-another-call' }],
    ['grant_type=client_credentials', basic],
    ['grant_type=client_credentials', toBasic(escaped(clientId), escaped(clientSecret))],
    [`grant_type=client_credentials&client_id=${clientId}`, basic],
    ['grant_type=client_credentials&client_id=&client_secret=', basic],
  ] as const) {
    const answer = await send(server, form, headers)
    assert.equal(answer.statusCode, 200, `${form} ${answer.body}`)
    assert.equal(answer.headers['cache-control'], 'no-store')
    const body = answer.json()
    assert.deepEqual(Object.keys(body).sort(), ['access_token', 'expires_in', 'token_type'])
    assert.equal(body.token_type, 'Bearer')
    assert.equal(decodeJwt(body.access_token).sub, clientId)
  }
})

test('a form that does not conform is a 400 that names each parameter', async (t) => {
  const server = await serveHttp(t, pool)
  const { clientId, clientSecret } = await onboard(server)
  const inBody = `client_id=${clientId}&client_secret=${clientSecret}`
  const basic = toBasic(clientId, clientSecret)
  const grant = 'grant_type=client_credentials'
  for (const [form, headers, pointers] of [
    ['', {}, ['/grant_type', '/client_id', '/client_secret']],
    [inBody, {}, ['/grant_type']],
    [`${grant}&client_id=${clientId}`, {}, ['/client_secret']],
    [`${grant}&client_id=&client_secret=x`, {}, ['/client_id']],
    [`${grant}&${grant}&${inBody}`, {}, ['/grant_type']],
    [`${grant}&${inBody}&client_secret=x`, {}, ['/client_secret']],
    [`${grant}&${inBody}`, basic, ['/client_secret']],
    [`${grant}&client_id=another`, basic, ['/client_secret']],
    [`{"clientId":"${clientId}","clientSecret":"x"}`, {}, undefined],
  ] as const) {
    const problem = assertProblem(await send(server, form, headers), 400, 'invalid-fields')
    assert.equal(problem.error, 'invalid_request')
    if (pointers)
      assert.deepEqual(
        problem.errors?.map(({ pointer }) => pointer),
        pointers,
        form,
      )
    assert.ok(!JSON.stringify(problem).includes(clientSecret))
  }
  const tooLarge = await send(server, `${grant}&${inBody}&scope=${'x'.repeat(8_192)}`)
  assertProblem(tooLarge, 413, 'body-too-large')
})

test('regression: no parameter is given twice, known or not (RFC 6749 §3.2)', async (t) => {
  const server = await serveHttp(t, pool)
  const { clientId, clientSecret } = await onboard(server)
  const form = `grant_type=client_credentials&client_id=${clientId}&client_secret=${clientSecret}`
  for (const name of ['scope', 'resource']) {
    const answer = await send(server, `${form}&${name}=a&${name}=b`)
    assertProblem(answer, 400, 'invalid-fields')
    const [{ pointer, code }] = answer.json().errors
    assert.deepEqual([pointer, code], [`/${name}`, 'repeated'])
  }
  assert.equal((await send(server, `${form}&scope=a&resource=b`)).statusCode, 200)
})

test('another grant is 400 unsupported_grant_type', async (t) => {
  const server = await serveHttp(t, pool)
  for (const grant of ['password', 'refresh_token', 'authorization_code', 'CLIENT_CREDENTIALS']) {
    const answer = await send(server, `grant_type=${grant}&client_id=a&client_secret=b`)
    const problem = assertProblem(answer, 400, 'unsupported-grant-type')
    assert.equal(problem.error, 'unsupported_grant_type')
  }
})

test('wrong credentials in a form are the same 401 for all, with a challenge of the scheme that works', async (t) => {
  const server = await serveHttp(t, pool)
  const { clientId, clientSecret } = await onboard(server)
  const grant = 'grant_type=client_credentials'
  for (const [form, headers] of [
    [`${grant}&client_id=${clientId}&client_secret=wrong`, {}],
    [`${grant}&client_id=nobody&client_secret=${clientSecret}`, {}],
    [grant, toBasic(clientId, 'wrong')],
    [grant, toBasic(clientId, '')],
    [grant, toBasic(clientId, '%zz')],
    [grant, { authorization: 'Basic' }],
    [grant, { authorization: 'Basic !' }],
    [grant, { authorization: `Basic ${Buffer.from('no colon').toString('base64')}` }],
  ] as const) {
    const answer = await send(server, form, headers)
    const problem = assertProblem(answer, 401, 'invalid-credentials')
    assert.equal(problem.error, 'invalid_client')
    assert.match(String(answer.headers['www-authenticate']), /^Basic realm="paybell"/)
  }
})

test('a caller that asks for application/json gets its errors as RFC 6749 §5.2 sends them', async (t) => {
  const server = await serveHttp(t, pool)
  const accepting = { accept: 'application/json' }
  const answer = await send(server, 'grant_type=password', accepting)
  assert.equal(answer.statusCode, 400)
  assert.equal(answer.headers['content-type'], 'application/json')
  const body = answer.json()
  assert.equal(body.error, 'invalid_request')
  assert.match(body.error_description, /^[ !#-[\]-~]+$/)
  // The problem is there as well.
  assert.deepEqual([body.status, body.code], [400, 'invalid-fields'])
  // A JSON body is answered as ever.
  const json = await server.app.inject({
    method: 'POST',
    url: '/auth/token',
    headers: accepting,
    payload: {},
  })
  const problem = assertProblem(json, 400, 'invalid-fields')
  assert.ok(!('error_description' in problem))
})

test('a form is taken by the token operation and by no other', async (t) => {
  const server = await serveHttp(t, pool)
  const client = await onboard(server)
  const answer = await server.app.inject({
    method: 'POST',
    url: '/v1/webhooks/register',
    headers: { ...client.headers, 'content-type': FORM },
    payload: 'callbackUrl=https%3A%2F%2Fexample.com&sharedKey=k',
  })
  assertProblem(answer, 415, 'unsupported-media-type')
})

test('answers to a client say what is left of its limit, the 429 too', async (t) => {
  const server = await serveHttp(t, pool, { env: { PAYBELL_REQUESTS_PER_SECOND: '2' } })
  const client = await onboard(server)
  const ask = () => server.app.inject({ url: '/v1/webhooks', headers: client.bearer })
  const first = await ask()
  assert.equal(first.headers['ratelimit-policy'], '"client";q=4;w=2')
  assert.equal(first.headers.ratelimit, '"client";r=3;t=1')
  for (let at = 0; at < 3; at++) await ask()
  const refused = await ask()
  assertProblem(refused, 429, 'too-many-requests')
  assert.equal(refused.headers.ratelimit, '"client";r=0;t=2')
  assert.equal(refused.headers['retry-after'], '1')
  // No limit of this kind applies to those who have no token yet.
  const open = await server.app.inject('/.well-known/jwks.json')
  assert.equal(open.headers.ratelimit, undefined)
})
