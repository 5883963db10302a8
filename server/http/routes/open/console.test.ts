// The console's sessions: who is signed in, for how long, and from where a session counts.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { cloneDatabase } from '../../../../test/support/database.ts'
import { call, OPERATOR } from '../../../../test/support/injected-calls.ts'
import {
  assertProblem,
  BASE_URL,
  OPERATOR_KEY,
  onboard,
  serveHttp,
  type TestServer,
} from '../../../../test/support/injected-server.ts'
import { untilWaiting } from '../../../../test/support/stored-deliveries.ts'
import { createSignInLink } from '../../../operations/access/console-session.ts'
import { createConsoleLink } from '../../../operations/access/create-console-link.ts'
import { createOperatorKey } from '../../../operations/access/create-operator-key.ts'
import { revokeClientSecret } from '../../../operations/access/revoke-client-secret.ts'
import { revokeOperatorKey } from '../../../operations/access/revoke-operator-key.ts'
import { changeClient } from '../../../operations/clients/change-client.ts'
import { inTransaction } from '../../../store/connection/db.ts'
import { ConsoleFiles } from '../../pages/console-files.ts'
import { buildServer } from '../../server.ts'

const owner = { after } as Pick<TestContext, 'after'>
const { pool } = await cloneDatabase()
const server = await serveHttp(owner, pool)
const client = await onboard(server)

const CONSOLE = { 'x-paybell-console': '1' }

function post(payload: object, headers: Record<string, string> = CONSOLE, of: TestServer = server) {
  return call(of, headers, 'POST', '/console/session', payload)
}

/** A key that the server, whose clock stands still, has read. */
async function makeKey(name: string, role: 'admin' | 'viewer' = 'viewer') {
  const made = await createOperatorKey(server.deps, { name, role })
  server.clock.advance(2.1)
  return made
}

/** The cookie of a new session, as a browser sends it back. */
async function signIn(payload: object, of: TestServer = server): Promise<string> {
  const answer = await post(payload, CONSOLE, of)
  assert.equal(answer.statusCode, 204, answer.body)
  const [cookie] = String(answer.headers['set-cookie']).split(';')
  return cookie as string
}

function get(url: string, cookie: string, headers: Record<string, string> = CONSOLE) {
  return call(server, { cookie, ...headers }, 'GET', url)
}

async function whoIs(cookie: string, headers?: Record<string, string>) {
  return (await get('/console/session', cookie, headers)).json()
}

test('an operator’s session may do what its key may, and says so', async () => {
  const { key } = await makeKey('vera', 'viewer')
  const cookie = await signIn({ operatorKey: key })
  const { expiresAt, ...session } = await whoIs(cookie)
  assert.deepEqual(session, {
    kind: 'operator',
    actor: 'vera',
    role: 'viewer',
    mode: 'sandbox',
    version: '0.0.0',
    timeScale: 1,
  })
  assert.equal(Date.parse(expiresAt) - server.clock.nowMs(), 12 * 3_600_000)
  assert.equal((await get('/operator/v1/clients', cookie)).statusCode, 200)
  const refused = await call(server, { cookie, ...CONSOLE }, 'POST', '/operator/v1/clients', {
    name: 'No',
  })
  assertProblem(refused, 403, 'role-not-allowed')
})

test('a client’s session is good on the client’s side alone', async () => {
  const { clientId, clientSecret } = client
  const cookie = await signIn({ clientId, clientSecret })
  const session = await whoIs(cookie)
  assert.equal(session.kind, 'client')
  assert.equal(session.clientId, clientId)
  assert.deepEqual(session.accounts, [{ id: client.accountId, name: 'Main' }])
  assert.equal((await get('/v1/webhooks', cookie)).statusCode, 200)
  const refused = await get('/operator/v1/clients', cookie)
  assertProblem(refused, 401, 'invalid-token')
  assert.match(refused.json().detail, /^You are signed in as a client/)
  const operator = await signIn({ operatorKey: OPERATOR_KEY })
  const refusedToo = await get('/v1/webhooks', operator)
  assertProblem(refusedToo, 401, 'invalid-token')
  assert.match(refusedToo.json().detail, /^You are signed in as an operator/)
})

test('the cookie is out of reach for scripts and other sites', async () => {
  const answer = await post({ operatorKey: OPERATOR_KEY })
  assert.match(
    String(answer.headers['set-cookie']),
    /^paybell_session=[\w-]{43}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict$/,
  )
  const https = await serveHttp(owner, pool, {
    env: { PAYBELL_BASE_URL: 'https://paybell.test' },
  })
  const secure = await post({ operatorKey: OPERATOR_KEY }, CONSOLE, https)
  assert.match(String(secure.headers['set-cookie']), /; Secure$/)
  const { rows } = await pool.query('select digest from console_sessions')
  const token = /=([\w-]+)/.exec(String(answer.headers['set-cookie']))?.[1] as string
  for (const { digest } of rows) assert.ok(!digest.equals(Buffer.from(token, 'base64url')))
})

test('regression: over HTTPS a cookie that another site has planted ends no session', async () => {
  const env = { PAYBELL_BASE_URL: 'https://paybell.test' }
  const https = await serveHttp(owner, pool, { env })
  const signedIn = await post({ operatorKey: OPERATOR_KEY }, CONSOLE, https)
  const given = String(signedIn.headers['set-cookie'])
  assert.match(
    given,
    /^__Host-paybell_session=[\w-]{43}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict; Secure$/,
  )
  const [own = ''] = given.split(';', 1)
  const kindOf = async (cookie: string) => {
    const headers = { ...CONSOLE, cookie }
    return (await call(https, headers, 'GET', '/console/session')).json().kind
  }
  const planted = `paybell_session=${'A'.repeat(43)}`
  assert.equal(await kindOf(`${planted}; ${own}`), 'operator')
  assert.equal(await kindOf(planted), null)
  // Nor does the name without the prefix count, whatever it holds.
  assert.equal(await kindOf(own.replace('__Host-', '')), null)
})

test('a request that another site could make is refused', async () => {
  const cookie = await signIn({ operatorKey: OPERATOR_KEY })
  const url = '/operator/v1/clients'
  const foreign: Record<string, string>[] = [
    {},
    { 'x-paybell-console': '0' },
    { ...CONSOLE, origin: 'https://evil.example' },
    { ...CONSOLE, origin: 'null' },
    { ...CONSOLE, 'sec-fetch-site': 'cross-site' },
    { ...CONSOLE, 'sec-fetch-site': 'same-site' },
    { ...CONSOLE, 'sec-fetch-site': 'none' },
  ]
  for (const headers of foreign) {
    assertProblem(await get(url, cookie, headers), 401, 'missing-token')
    assert.equal((await whoIs(cookie, headers)).kind, null)
    assertProblem(await post({ operatorKey: OPERATOR_KEY }, headers), 400, 'malformed-request')
  }
  const own: Record<string, string>[] = [
    { ...CONSOLE, 'sec-fetch-site': 'same-origin' },
    { ...CONSOLE, origin: 'https://localhost', host: 'localhost' },
  ]
  for (const headers of own) assert.equal((await get(url, cookie, headers)).statusCode, 200)
  // Two cookies: another site may have planted one.
  assertProblem(
    await get(url, `${cookie}; paybell_session=${'A'.repeat(43)}`),
    401,
    'missing-token',
  )
})

test('an Authorization header takes precedence over the cookie', async () => {
  const cookie = await signIn({ operatorKey: OPERATOR_KEY })
  const answer = await get('/operator/v1/clients', cookie, {
    ...CONSOLE,
    authorization: 'Bearer wrong',
  })
  assertProblem(answer, 401, 'invalid-token')
})

test('a session ends with its key, its secret, its client, its hours, and by signing out', async () => {
  const ends: Record<string, (() => Promise<unknown>) | undefined> = {}
  const cookies: Record<string, string> = {}

  const { id, key } = await makeKey('gone', 'admin')
  cookies.key = await signIn({ operatorKey: key })
  ends.key = () => revokeOperatorKey(server.deps, id)

  const rotating = await onboard(server, 'Rotating')
  const { clientId, clientSecret } = rotating
  cookies.secret = await signIn({ clientId, clientSecret })
  const url = `/operator/v1/clients/${rotating.clientId}/secrets`
  const issued = await call(server, OPERATOR, 'POST', url)
  const second = await signIn({ clientId, clientSecret: issued.json().clientSecret })
  const { rows } = await pool.query(
    'select id from client_secrets where client_key = $1 order by created_at, id',
    [rotating.clientKey],
  )
  const first = rows.find((row) => row.id !== issued.json().secretId)
  ends.secret = () => revokeClientSecret(server.deps, rotating.clientId, first.id)

  const leaving = await onboard(server, 'Leaving')
  cookies.client = await signIn({
    clientId: leaving.clientId,
    clientSecret: leaving.clientSecret,
  })
  ends.client = () =>
    pool.query(`update clients set status = 'DISABLED' where id = $1`, [leaving.clientId])

  for (const [name, cookie] of Object.entries(cookies)) {
    assert.notEqual((await whoIs(cookie)).kind, null, name)
    await ends[name]?.()
    server.clock.advance(2.1)
    assert.equal((await whoIs(cookie)).kind, null, name)
    assertProblem(await get('/v1/webhooks', cookie), 401, 'invalid-token')
  }
  assert.equal((await whoIs(second)).kind, 'client', 'the other secret is still good')

  const cookie = await signIn({ operatorKey: OPERATOR_KEY })
  const out = await call(server, { cookie, ...CONSOLE }, 'DELETE', '/console/session')
  assert.equal(out.statusCode, 204)
  assert.match(String(out.headers['set-cookie']), /^paybell_session=; Path=\/; Max-Age=0;/)
  assert.equal((await whoIs(cookie)).kind, null)

  const late = await signIn({ operatorKey: OPERATOR_KEY })
  server.clock.advance(12 * 3_600 + 1)
  assert.equal((await whoIs(late)).kind, null)
})

test('a changed PAYBELL_OPERATOR_KEY ends the sessions of the old one', async () => {
  const before = await serveHttp(owner, pool, {
    env: { PAYBELL_OPERATOR_KEY: 'aB3dE6gH9jK2mN5pQ8sT1vW4yZ7cF0hL' },
  })
  const cookie = await signIn({ operatorKey: 'aB3dE6gH9jK2mN5pQ8sT1vW4yZ7cF0hL' }, before)
  const headers = { cookie, ...CONSOLE }
  const old = await call(before, headers, 'GET', '/console/session')
  assert.equal(old.json().kind, 'operator')
  assert.equal((await whoIs(cookie)).kind, null)
})

test('regression: a link is good once, and for 10 minutes', async () => {
  const link = await createSignInLink(server.deps)
  const cookie = await signIn({ link })
  assert.equal((await whoIs(cookie)).actor, 'operator')
  assertProblem(await post({ link }), 401, 'invalid-credentials')
  const late = await createSignInLink(server.deps)
  server.clock.advance(10 * 60 + 1)
  assertProblem(await post({ link: late }), 401, 'invalid-credentials')
})

test('a client’s link signs a person in once, within 15 minutes, and is in the audit', async () => {
  const url = `/operator/v1/clients/${client.clientId}/console-links`
  const make = () => call(server, OPERATOR, 'POST', url)
  const answer = await make()
  assert.equal(answer.statusCode, 201, answer.body)
  const made = answer.json()
  assert.deepEqual(Object.keys(made), ['url', 'expiresAt'])
  assert.equal(Date.parse(made.expiresAt), server.clock.nowMs() + 15 * 60_000)
  const [page, link] = made.url.split('#')
  assert.equal(page, `${BASE_URL}/console/sign-in`)
  const cookie = await signIn({ link })
  const session = await whoIs(cookie)
  assert.deepEqual([session.kind, session.clientId], ['client', client.clientId])
  assert.equal(session.accounts.length, 1)
  const asClient = { cookie, ...CONSOLE }
  const own = await call(server, asClient, 'GET', '/v1/deliveries')
  assert.equal(own.statusCode, 200, own.body)
  const notOwn = await call(server, asClient, 'GET', '/operator/v1/clients')
  assertProblem(notOwn, 401, 'invalid-token')
  const used = assertProblem(await post({ link }), 401, 'invalid-credentials')
  assert.match(used.detail, /used already, or is too old/)
  const late = (await make()).json().url.split('#')[1]
  server.clock.advance(15 * 60 + 1)
  const expired = assertProblem(await post({ link: late }), 401, 'invalid-credentials')
  assert.equal(expired.detail, used.detail)
  const { rows } = await pool.query(
    `select actor, object from audit where action = 'console-link.create'`,
  )
  assert.deepEqual(rows[0], { actor: 'operator', object: `client:${client.clientId}` })
  assert.equal(rows.length, 2)
  const { rows: kept } = await pool.query('select from client_console_links')
  assert.equal(kept.length, 0, 'nothing of a link stays')
})

test('a link is a client’s own: for no operator’s port, no disabled client, and gone with it', async () => {
  const other = await onboard(server, 'Linked')
  const { clock } = server
  const open = await serveHttp(owner, pool, { surface: 'public', clock })
  const inner = await serveHttp(owner, pool, { surface: 'operator', clock })
  const make = async () => (await createConsoleLink(server.deps, other.clientId)).token
  const link = await make()
  assertProblem(await post({ link }, CONSOLE, inner), 401, 'invalid-credentials')
  const cookie = await signIn({ link }, open)
  const operators = await createSignInLink(server.deps)
  assertProblem(await post({ link: operators }, CONSOLE, open), 401, 'invalid-credentials')
  assert.equal((await whoIs(await signIn({ link: operators }))).kind, 'operator')
  assert.equal((await whoIs(cookie)).clientId, other.clientId)
  const early = await make()
  await changeClient(server.deps, other.clientId, { status: 'DISABLED' })
  server.clock.advance(2.1)
  assert.equal((await whoIs(cookie)).kind, null)
  assert.equal((await whoIs(await signIn({ link: early }))).kind, null)
  await assert.rejects(make(), { code: 'client-disabled' })
})

test('guessing is slow, and who signs in must say with what', async () => {
  server.clock.advance(3_600)
  for (let failures = 0; failures < 10; failures++) {
    assertProblem(await post({ operatorKey: 'x'.repeat(40) }), 401, 'invalid-credentials')
  }
  assertProblem(await post({ operatorKey: OPERATOR_KEY }), 429, 'too-many-requests')
  server.clock.advance(3_600)
  for (const wrong of [
    {},
    { clientId: client.clientId },
    { operatorKey: OPERATOR_KEY, link: 'x' },
    { clientSecret: 'x', operatorKey: 'y' },
  ]) {
    assertProblem(await post(wrong), 400, 'invalid-fields')
  }
  const open = await serveHttp(owner, pool, { surface: 'public' })
  for (const half of [{ clientId: client.clientId }, { clientSecret: 'x' }]) {
    const { errors } = assertProblem(await post(half, CONSOLE, open), 400, 'invalid-fields')
    assert.equal(errors?.[0]?.code, 'one-credential')
  }
  assertProblem(
    await post({ clientId: client.clientId, clientSecret: 'wrong' }),
    401,
    'invalid-credentials',
  )
})

test('regression: of many wrong operator’s keys at once, ten are checked', async () => {
  const guesses = Array.from({ length: 100 }, () =>
    post({ operatorKey: `pbk_${randomBytes(32).toString('base64url')}` }),
  )
  const statuses = (await Promise.all(guesses)).map(({ statusCode }) => statusCode)
  assert.equal(statuses.filter((status) => status === 401).length, 10)
  assert.equal(statuses.filter((status) => status === 429).length, 90)
  server.clock.advance(3_600)
})

test('signing in and out is in the audit, under the name of the key', async () => {
  const { key } = await makeKey('otto', 'viewer')
  const cookie = await signIn({ operatorKey: key })
  const headers = { cookie, ...CONSOLE }
  await call(server, headers, 'DELETE', '/console/session')
  const { rows } = await pool.query(
    `select action, object from audit where actor = 'otto' order by id`,
  )
  assert.deepEqual(
    rows.map(({ action }) => action),
    ['session.create', 'session.end'],
  )
  assert.match(rows[0].object, /^session:[\da-f-]{36}$/)
  assert.equal(rows[0].object, rows[1].object)
})

test('with an operator port, each port signs in its own', async () => {
  const open = await serveHttp(owner, pool, { surface: 'public' })
  const inner = await serveHttp(owner, pool, { surface: 'operator' })
  const { clientId, clientSecret } = client
  assertProblem(
    await post({ operatorKey: OPERATOR_KEY }, CONSOLE, open),
    401,
    'invalid-credentials',
  )
  assertProblem(await post({ clientId, clientSecret }, CONSOLE, inner), 401, 'invalid-credentials')
  const cookie = await signIn({ operatorKey: OPERATOR_KEY }, inner)
  const there = await call(open, { cookie, ...CONSOLE }, 'GET', '/console/session')
  assert.equal(there.json().kind, null)
})

test('regression: a session that is asked for while it is signed out ends with the answer', async () => {
  const cookie = await signIn({ operatorKey: OPERATOR_KEY })
  const { ended } = await inTransaction(pool, async (db) => {
    await db.query('select from console_sessions for update')
    const headers = { cookie, ...CONSOLE }
    const ended = call(server, headers, 'DELETE', '/console/session')
    await untilWaiting(pool, 'delete from console_sessions')
    // What was remembered of it when it began to sign out is too old by now.
    server.clock.advance(2.1)
    assert.equal((await whoIs(cookie)).kind, 'operator')
    return { ended }
  })
  assert.equal((await ended).statusCode, 204)
  assert.equal((await whoIs(cookie)).kind, null)
})

test('one credential keeps at most 50 sessions', async () => {
  const { key, id } = await makeKey('often', 'viewer')
  const first = await signIn({ operatorKey: key })
  for (let count = 0; count < 50; count++) {
    server.clock.advance(0.001)
    await signIn({ operatorKey: key })
  }
  const { rows } = await pool.query(
    'select count(*) as count from console_sessions where operator_key_id = $1',
    [id],
  )
  assert.equal(Number(rows[0].count), 50)
  server.clock.advance(2.1)
  assert.equal((await whoIs(first)).kind, null)
})

test('settings are shown without a part of any secret', async () => {
  const answer = await call(server, OPERATOR, 'GET', '/operator/v1/settings')
  const settings: { name: string; value: string | null; isSet: boolean; isSecret: boolean }[] =
    answer.json().settings
  const byName = new Map(settings.map((setting) => [setting.name, setting]))
  assert.equal(byName.get('PAYBELL_RETENTION_DAYS')?.value, '30')
  for (const name of ['PAYBELL_OPERATOR_KEY', 'PAYBELL_MASTER_KEY', 'DATABASE_URL']) {
    const setting = byName.get(name)
    assert.ok(setting?.isSecret && setting.isSet)
    assert.equal(setting.value, null)
  }
  assert.ok(!answer.body.includes(OPERATOR_KEY.slice(0, 8)))
  assert.ok(!answer.body.includes('handed-in'))
})

test('pages come with a policy that lets nothing foreign in; deep links get the same page', async (t) => {
  const page = await server.app.inject({ url: '/console' })
  if (page.statusCode === 503) return t.skip('the console is not built')
  const policy = String(page.headers['content-security-policy'])
  assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self'/)
  assert.doesNotMatch(policy, /unsafe|\*|https?:/)
  assert.match(page.body, /^<!doctype html>/)
  assert.doesNotMatch(page.body, /<style|<script[^>]*>[^<]|style=|https?:/)
  for (const url of ['/console/', '/console/deliveries/019cade2-1350-7af3-913d-2f16aae956b4']) {
    assert.equal((await server.app.inject({ url })).body, page.body)
  }
  const script = /src="(\/console\/assets\/[^"]+)"/.exec(page.body)?.[1] as string
  const asset = await call(server, { 'accept-encoding': 'gzip' }, 'GET', script)
  assert.equal(asset.headers['content-encoding'], 'gzip')
  assert.equal(asset.headers['cache-control'], 'public, max-age=31536000, immutable')
  const etag = String(page.headers.etag)
  const again = await call(server, { 'if-none-match': etag }, 'GET', '/console')
  assert.equal(again.statusCode, 304)
  for (const url of [
    '/console/assets/nothing.js',
    '/console/..%2fpackage.js',
    '/console/assets/..%2f..%2fvite.config.js',
    '/console/%2e%2e/build.js',
  ]) {
    const answer = await server.app.inject({ url })
    assert.ok(answer.statusCode === 404 || answer.body === page.body, `${url} ${answer.statusCode}`)
  }
})

test('a console that was not built says so, and how to build it', async (t) => {
  const dir = await mkdtemp(join(tmpdir(), 'paybell-console-'))
  t.after(() => rm(dir, { recursive: true, force: true }))
  const files = new ConsoleFiles(pathToFileURL(`${dir}/`))
  assert.equal(await files.find(''), 'not-built')
  assert.equal(await files.find('deliveries/1'), 'not-built')
  assert.equal(await files.find('assets/a.js'), null)
})

test('regression: in a page of another origin a client’s link signs in, with a session that counts nowhere else; an operator’s counts not there', async () => {
  const { clock } = server
  const env = { PAYBELL_CONSOLE_EMBED_ORIGINS: 'https://app.example.com,https://b.example' }
  const embedding = await serveHttp(owner, pool, { env, clock })
  const EMBEDDED = { 'x-paybell-console': 'embedded' }
  const makeLink = async () => (await createConsoleLink(server.deps, client.clientId)).token

  const page = await embedding.app.inject({ url: '/console/' })
  const policy = String(page.headers['content-security-policy'])
  assert.match(policy, /; frame-ancestors https:\/\/app\.example\.com https:\/\/b\.example;/)
  assert.equal(page.headers['x-frame-options'], undefined)
  const other = await embedding.app.inject({ url: '/guides/' })
  assert.equal(other.headers['x-frame-options'], 'DENY', 'of the console alone')
  const inner = await serveHttp(owner, pool, { env, clock, surface: 'operator' })
  for (const closed of [server, inner]) {
    const { headers } = await closed.app.inject({ url: '/console/' })
    assert.match(String(headers['content-security-policy']), /; frame-ancestors 'none';/)
    assert.equal(headers['x-frame-options'], 'DENY')
  }

  const answer = await post({ link: await makeLink() }, EMBEDDED, embedding)
  assert.equal(answer.statusCode, 204, answer.body)
  const [cookie, ...marks] = String(answer.headers['set-cookie']).split('; ') as [string]
  assert.deepEqual(marks.toSorted(), [
    ...['HttpOnly', 'Max-Age=43200', 'Partitioned', 'Path=/', 'SameSite=None', 'Secure'],
  ])
  const kindOf = async (of: string, headers: Record<string, string>) =>
    (await call(embedding, { cookie: of, ...headers }, 'GET', '/console/session')).json().kind
  assert.equal(await kindOf(cookie, EMBEDDED), 'client')
  assert.equal(await kindOf(cookie, CONSOLE), null)
  const foreign = { ...EMBEDDED, 'sec-fetch-site': 'cross-site' }
  assert.equal(await kindOf(cookie, foreign), null)
  const operators = await signIn({ operatorKey: OPERATOR_KEY }, embedding)
  assert.equal(await kindOf(operators, CONSOLE), 'operator')
  assert.equal(await kindOf(operators, EMBEDDED), null)
  // Also where the operator's token was put into the frame's cookie by hand: no browser does that.
  const moved = operators.replace('paybell_session', 'paybell_embedded')
  assert.notEqual(moved, operators)
  assert.equal(await kindOf(moved, EMBEDDED), null)
  const asOperator = { cookie: moved, ...EMBEDDED }
  const refused = await call(embedding, asOperator, 'GET', '/operator/v1/clients')
  assertProblem(refused, 401, 'invalid-token')

  for (const payload of [
    { operatorKey: OPERATOR_KEY },
    { clientId: client.clientId, clientSecret: client.clientSecret },
    { link: await createSignInLink(server.deps) },
    { link: await makeLink(), operatorKey: OPERATOR_KEY },
  ]) {
    assertProblem(await post(payload, EMBEDDED, embedding), 401, 'invalid-credentials')
  }
  assertProblem(await post({ link: await makeLink() }, EMBEDDED), 400, 'malformed-request')
})

test('a theme is told before anyone signs in, and its logo may be shown', async () => {
  const logo = 'https://app.example.com/logo.svg'
  const env = { PAYBELL_CONSOLE_THEME: `accent=#7a1fa2,logo=${logo}` }
  const themed = await serveHttp(owner, pool, { env, clock: server.clock })
  const { theme } = (await themed.app.inject({ url: '/console/session' })).json()
  assert.deepEqual(theme, { name: null, accent: '#7a1fa2', logo })
  const { headers } = await themed.app.inject({ url: '/console/' })
  assert.ok(String(headers['content-security-policy']).includes(`; img-src 'self' data: ${logo};`))
  assert.equal((await whoIs('none')).theme, undefined)
})

test('those who are signed in read what to type for the command line of this sandbox', async () => {
  const app = await buildServer({ ...server.deps, command: 'npx paybell' })
  after(() => app.close())
  const headers = { cookie: await signIn({ operatorKey: OPERATOR_KEY }), ...CONSOLE }
  const read = async (of: object) =>
    (await app.inject({ url: '/console/session', headers: { ...CONSOLE, ...of } })).json().command
  assert.deepEqual([await read(headers), await read({})], ['npx paybell', undefined])
})
