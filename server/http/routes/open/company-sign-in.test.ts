// Signing in with the company: by real HTTP, against a real provider and the server, without a browser.

import assert from 'node:assert/strict'
import { createHash, generateKeyPairSync, randomBytes } from 'node:crypto'
import type { RequestListener } from 'node:http'
import { after, type TestContext, test } from 'node:test'
import { SignJWT } from 'jose'
import { CookieBrowser, type Visit } from '../../../../test/support/cookie-browser.ts'
import { cloneDatabase } from '../../../../test/support/database.ts'
import { OIDC_CLIENT, startIdentityProvider } from '../../../../test/support/identity-provider.ts'
import { call, OPERATOR } from '../../../../test/support/injected-calls.ts'
import {
  BASE_URL,
  serveHttp,
  type TestServerOptions,
} from '../../../../test/support/injected-server.ts'

const owner = { after } as Pick<TestContext, 'after'>
const { pool } = await cloneDatabase()
const company = await startIdentityProvider(owner)
const server = await serve()
company.know(BASE_URL, server.address)
company.people.set('ada', { email: 'ada@company.example', groups: ['payments-admins'] })
company.people.set('vera', { email: 'vera@company.example', groups: ['support', 'people'] })
company.people.set('both', {
  email: 'both@company.example',
  groups: ['support', 'payments-admins'],
})
company.people.set('nobody', { email: 'no@company.example', groups: ['people'] })
company.people.set('single', { groups: 'support' })

async function serve(options: TestServerOptions = {}) {
  const made = await serveHttp(owner, pool, { ...options, env: { ...company.env, ...options.env } })
  const address = await made.app.listen({ host: '127.0.0.1', port: 0 })
  return { ...made, address }
}

type Served = Awaited<ReturnType<typeof serve>>

const SIGN_IN = `${BASE_URL}/console/oidc/sign-in`
const CALLBACK = `${BASE_URL}/console/oidc/callback`
/** The first two parts of a JWT: three letters alone stand in what is sealed by chance. */
const SIGNED_TOKEN = /eyJ[\w-]+\.eyJ/

function browse(who: string, at: Served = server): CookieBrowser {
  company.at = who
  return new CookieBrowser({ [BASE_URL]: at.address })
}

/** Signed in, and on the first page. */
async function enter(who: string, at: Served = server): Promise<CookieBrowser> {
  const browser = browse(who, at)
  const last = await browser.walk(SIGN_IN, (next) =>
    next === `${BASE_URL}/console/` ? null : next,
  )
  assert.equal(last.status, 302, last.text)
  return browser
}

async function ask(browser: CookieBrowser, path: string, init: RequestInit = {}) {
  const headers = { 'x-paybell-console': '1', accept: 'application/json', ...init.headers }
  const answer = await browser.visit(`${BASE_URL}${path}`, { ...init, headers })
  return { status: answer.status, body: answer.text === '' ? null : JSON.parse(answer.text) }
}

async function whoIs(browser: CookieBrowser) {
  return (await ask(browser, '/console/session')).body
}

async function audited(actor: string): Promise<string[]> {
  const { rows } = await pool.query('select action from audit where actor = $1 order by id', [
    actor,
  ])
  return rows.map(({ action }) => action)
}

/** Changes one parameter of the address that begins with this. */
function change(start: string, name: string, value: string) {
  return (next: string) => {
    if (!next.startsWith(start)) return next
    const url = new URL(next)
    url.searchParams.set(name, value)
    return url.href
  }
}

function assertRefused(page: Visit, status: number, text: RegExp): void {
  assert.equal(page.status, status, page.text)
  assert.match(page.headers.get('content-type') ?? '', /^text\/html/)
  assert.match(page.text, text)
}

test('a person of the company is an operator for 8 hours, with the role of the group', async () => {
  const browser = await enter('ada')
  const { expiresAt, ...session } = await whoIs(browser)
  assert.deepEqual(session, {
    kind: 'operator',
    actor: 'oidc:ada ada@company.example',
    role: 'admin',
    mode: 'sandbox',
    version: '0.0.0',
    timeScale: 1,
    signInWith: new URL(company.issuer).host,
  })
  assert.equal(Date.parse(expiresAt) - server.clock.nowMs(), 8 * 3_600_000)
  const created = await ask(browser, '/operator/v1/clients', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Shop' }),
  })
  assert.equal(created.status, 201)
  assert.deepEqual(await audited('oidc:ada ada@company.example'), [
    'session.create',
    'client.create',
  ])
})

test('a viewer may read and nothing else; a claim of one group is a text', async () => {
  for (const who of ['vera', 'single']) {
    const browser = await enter(who)
    assert.equal((await whoIs(browser)).role, 'viewer')
    assert.equal((await ask(browser, '/operator/v1/clients')).status, 200)
    const refused = await ask(browser, '/operator/v1/clients', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'No' }),
    })
    assert.equal(refused.body.code, 'role-not-allowed')
  }
})

test('who is in several groups has the role that the setting names first', async () => {
  assert.equal((await whoIs(await enter('both'))).role, 'admin')
  const env = { PAYBELL_OIDC_ROLES: 'support=viewer,payments-admins=admin' }
  const other = await serve({ env })
  assert.equal((await whoIs(await enter('both', other))).role, 'viewer')
})

test('who has no role is told which groups have one, and gets no session', async () => {
  const browser = browse('nobody')
  const page = await browser.walk(SIGN_IN)
  assertRefused(
    page,
    403,
    /You are no@company\.example at 127\.0\.0\.1:\d+, and in none of the groups/,
  )
  assert.match(page.text, /<code>payments-admins<\/code>: admin/)
  assert.match(page.text, /<code>support<\/code>: viewer/)
  assert.equal((await whoIs(browser)).kind, null)
})

test('a role that is taken away ends the sessions that were opened with it', async () => {
  company.people.set('leaving', { groups: ['payments-admins', 'support'] })
  const first = await enter('leaving')
  assert.equal((await whoIs(first)).role, 'admin')
  company.people.set('leaving', { groups: ['support'] })
  const second = await enter('leaving')
  assert.equal((await whoIs(first)).kind, null)
  assert.equal((await whoIs(second)).role, 'viewer')
  company.people.set('leaving', { groups: [] })
  assertRefused(await browse('leaving').walk(SIGN_IN), 403, /No role/)
  assert.equal((await whoIs(second)).kind, null)
})

test('a group that the settings no longer name has no sessions; nor has another provider', async () => {
  const browser = await enter('vera')
  const { paybell_session: token } = Object.fromEntries(browser.cookiesOf(BASE_URL))
  const headers = { 'x-paybell-console': '1', cookie: `paybell_session=${token}` }
  const others: Record<string, string>[] = [
    { PAYBELL_OIDC_ROLES: 'payments-admins=admin' },
    { PAYBELL_OIDC_ISSUER: 'https://login.other.example' },
  ]
  for (const env of others) {
    const other = await serve({ env })
    const answer = await call(other, headers, 'GET', '/console/session')
    assert.equal(answer.json().kind, null)
  }
  assert.equal((await whoIs(browser)).role, 'viewer')
})

test('a session ends after 8 hours', async () => {
  const other = await serve()
  const browser = await enter('vera', other)
  other.clock.advance(8 * 3_600 - 1)
  assert.equal((await whoIs(browser)).kind, 'operator')
  other.clock.advance(2)
  assert.equal((await whoIs(browser)).kind, null)
  assert.equal((await ask(browser, '/operator/v1/clients')).status, 401)
})

test('state, nonce, issuer and verifier must be those of this sign-in', async () => {
  const provider = company.issuer
  const cases: [change: (next: string) => string, refused: RegExp][] = [
    [change(`${provider}/auth`, 'state', 'another'), /was not begun in this browser/],
    [change(`${provider}/auth`, 'nonce', 'another'), /could not be verified/],
    [change(CALLBACK, 'iss', 'https://login.other.example'), /could not be verified/],
    [change(CALLBACK, 'code', 'another'), /could not be verified/],
    [
      change(`${provider}/auth`, 'code_challenge', randomBytes(32).toString('base64url')),
      /could not be verified/,
    ],
  ]
  for (const [changed, refused] of cases) {
    const browser = browse('ada')
    assertRefused(await browser.walk(SIGN_IN, changed), 400, refused)
    assert.equal((await whoIs(browser)).kind, null)
  }
})

test('regression: an ID token that the company has not signed, or for another party, signs no one in', async (t) => {
  t.after(() => {
    company.replaceIdToken = null
  })
  const stranger = generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey
  const unverified = /could not be verified/
  const cases: [name: string, replace: NonNullable<typeof company.replaceIdToken>][] = [
    [
      'signed by a stranger',
      (claims) => new SignJWT(claims).setProtectedHeader({ alg: 'RS256' }).sign(stranger),
    ],
    [
      'altered after it was signed',
      async (claims) => {
        const [head, , signature] = (await company.sign(claims)).split('.')
        const altered = JSON.stringify({ ...claims, groups: ['payments-admins'] })
        return `${head}.${Buffer.from(altered).toString('base64url')}.${signature}`
      },
    ],
    ['of another client', (claims) => company.sign({ ...claims, azp: 'another' })],
  ]
  for (const [name, replace] of cases) {
    company.replaceIdToken = replace
    const browser = browse('nobody')
    assertRefused(await browser.walk(SIGN_IN), 400, unverified)
    assert.equal((await whoIs(browser)).kind, null, name)
  }
  company.replaceIdToken = (claims) => company.sign({ ...claims, azp: OIDC_CLIENT.id })
  assert.equal((await whoIs(await enter('ada'))).kind, 'operator')
})

test('another browser cannot finish what this one has begun, nor can this one after 10 minutes', async () => {
  const browser = browse('ada')
  let callback = ''
  await browser.walk(SIGN_IN, (next) => {
    if (!next.startsWith(CALLBACK)) return next
    callback = next
    return null
  })
  assertRefused(await browse('ada').visit(callback), 400, /was not begun in this browser/)
  server.clock.advance(601)
  assertRefused(await browser.visit(callback), 400, /begun more than 10 minutes ago/)
})

test('a code is good once', async () => {
  const browser = browse('ada')
  let callback = ''
  let state: [string, string][] = []
  await browser.walk(SIGN_IN, (next) => {
    if (next.startsWith(CALLBACK)) {
      callback = next
      state = [...browser.cookiesOf(BASE_URL)]
    }
    return next === `${BASE_URL}/console/` ? null : next
  })
  assertRefused(await browser.visit(callback), 400, /was not begun/)
  const thief = browse('ada')
  for (const [name, value] of state) thief.cookiesOf(BASE_URL).set(name, value)
  assertRefused(await thief.visit(callback), 400, /could not be verified/)
})

test('a provider that names another issuer is not believed', async () => {
  const env = { PAYBELL_OIDC_ISSUER: company.issuer.replace('127.0.0.1', 'localhost') }
  const other = await serve({ env })
  assertRefused(await browse('ada', other).visit(SIGN_IN), 400, /could not be verified/)
})

test('a provider that is away, broken or sends too much is said to be away; keys still work', async () => {
  const answers: RequestListener[] = [
    (_, response) => response.writeHead(502).end(),
    (_, response) => response.end(Buffer.alloc(600_000)),
    (_, response) => response.destroy(),
  ]
  for (const answer of answers) {
    company.instead = answer
    const other = await serve()
    const page = await browse('ada', other).visit(SIGN_IN)
    assertRefused(
      page,
      503,
      /cannot be reached from here at the moment. Operator keys work all the same/,
    )
    assert.ok(other.log.some((line) => line.includes('oidc.sign-in-failed')))
    const answered = await call(other, OPERATOR, 'GET', '/operator/v1/clients')
    assert.equal(answered.statusCode, 200)
    // It is asked again once it is back.
    company.instead = null
    assert.equal((await whoIs(await enter('ada', other))).role, 'admin')
  }
})

test('what the provider refuses is a page, too', async () => {
  const browser = browse('ada')
  const page = await browser.walk(SIGN_IN, change(`${company.issuer}/auth`, 'prompt', 'none'))
  assertRefused(page, 403, /has refused the sign-in/)
})

test('who signs out here signs out at the company, and the other way round', async () => {
  const browser = await enter('vera')
  const elsewhere = new CookieBrowser({ [BASE_URL]: server.address })
  for (const [name, value] of browser.cookiesOf(company.issuer)) {
    elsewhere.cookiesOf(company.issuer).set(name, value)
  }
  // The same session of the provider, in another window.
  await elsewhere.walk(SIGN_IN, (next) => (next === `${BASE_URL}/console/` ? null : next))
  assert.equal((await whoIs(elsewhere)).role, 'viewer')
  const ended = await ask(browser, '/console/session', { method: 'DELETE' })
  assert.equal(ended.status, 200)
  assert.equal((await whoIs(browser)).kind, null)
  assert.equal((await whoIs(elsewhere)).role, 'viewer', 'the company has not been told yet')
  const question = await browser.visit(ended.body.signOutUrl)
  const xsrf = /name="xsrf" value="([^"]+)"/.exec(question.text)?.[1] as string
  const done = await browser.visit(`${company.issuer}/session/end/confirm`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ xsrf, logout: 'yes' }).toString(),
  })
  assert.equal(done.headers.get('location'), `${BASE_URL}/console/`)
  assert.equal((await whoIs(elsewhere)).kind, null, 'ended by the back channel')
  const actions = await audited('oidc:vera vera@company.example')
  assert.deepEqual(actions.slice(-2), ['session.end', 'session.end'])
})

test('a logout that the provider has not signed ends nothing', async () => {
  const browser = await enter('vera')
  const forged = await new SignJWT({
    sub: 'vera',
    events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
  })
    .setProtectedHeader({ alg: 'HS256' })
    .setIssuer(company.issuer)
    .setAudience(OIDC_CLIENT.id)
    .setIssuedAt()
    .setJti('1')
    .sign(Buffer.from(OIDC_CLIENT.secret))
  for (const token of [forged, '', 'x.y.z']) {
    const answer = await fetch(`${server.address}/console/oidc/backchannel-logout`, {
      method: 'POST',
      body: new URLSearchParams({ logout_token: token }),
    })
    assert.equal(answer.status, 400)
    assert.equal(answer.headers.get('cache-control'), 'no-store')
  }
  assert.equal((await whoIs(browser)).role, 'viewer')
})

function sendLogout(token: string, at: Served = server): Promise<Response> {
  return fetch(`${at.address}/console/oidc/backchannel-logout`, {
    method: 'POST',
    body: new URLSearchParams({ logout_token: token }),
  })
}

async function sidOf(browser: CookieBrowser): Promise<string> {
  const token = browser.cookiesOf(BASE_URL).get('paybell_session') as string
  const digest = createHash('sha256').update(token).digest()
  const { rows } = await pool.query('select oidc_sid from console_sessions where digest = $1', [
    digest,
  ])
  return rows[0].oidc_sid
}

async function areSignedIn(...browsers: CookieBrowser[]): Promise<boolean[]> {
  return Promise.all(browsers.map(async (one) => (await whoIs(one)).kind !== null))
}

test('a logout of a person ends all sessions; of one session, that and those that are not known to be others', async () => {
  company.people.set('sam', { groups: ['support'] })
  const [one, other, unnamed] = [await enter('sam'), await enter('sam'), await enter('sam')]
  const [oneSid, otherSid, unnamedSid] = [
    await sidOf(one),
    await sidOf(other),
    await sidOf(unnamed),
  ]
  assert.equal(new Set([oneSid, otherSid, unnamedSid]).size, 3)
  await pool.query('update console_sessions set oidc_sid = null where oidc_sid = $1', [unnamedSid])

  const ofAnother = await company.logoutToken({ sub: 'vera', sid: oneSid, jti: 'sam 1' })
  assert.equal((await sendLogout(ofAnother)).status, 200)
  const sidAlone = await company.logoutToken({ sid: otherSid, jti: 'sam 2' })
  assert.equal((await sendLogout(sidAlone)).status, 200)
  assert.deepEqual(await areSignedIn(one, other, unnamed), [true, false, true])

  const third = await enter('sam')
  const both = await company.logoutToken({ sub: 'sam', sid: oneSid, jti: 'sam 3' })
  assert.equal((await sendLogout(both)).status, 200)
  assert.deepEqual(await areSignedIn(one, unnamed, third), [false, false, true])

  const fourth = await enter('sam')
  await pool.query('update console_sessions set oidc_sid = null where oidc_sid = $1', [
    await sidOf(fourth),
  ])
  const everywhere = await company.logoutToken({ sub: 'sam', jti: 'sam 4' })
  assert.equal((await sendLogout(everywhere)).status, 200)
  assert.deepEqual(await areSignedIn(third, fourth), [false, false])
})

test('regression: a logout that is sent again ends nothing, in any process', async () => {
  const token = await company.logoutToken({ sub: 'vera', jti: 'once' })
  assert.equal((await sendLogout(token)).status, 200)
  const since = await enter('vera')
  for (const at of [server, await serve()]) {
    const again = await sendLogout(token, at)
    assert.equal(again.status, 400)
    assert.ok(at.log.some((line) => line.includes('the logout token was used before')))
  }
  assert.deepEqual(await areSignedIn(since), [true])
  for (const claims of [
    { sub: 'vera' },
    { sub: 'vera', jti: 7 },
    { sub: 'vera', jti: 'n', nonce: 'x' },
  ]) {
    assert.equal((await sendLogout(await company.logoutToken(claims))).status, 400)
  }
  // What is over is deleted by the next one.
  server.clock.advance(3_601)
  assert.equal((await sendLogout(await company.logoutToken({ sub: 'no', jti: 'two' }))).status, 200)
  const { rows } = await pool.query('select count(*)::int as n from used_logouts')
  assert.equal(rows[0].n, 1)
})

test('regression: sign-ins that come to nothing are limited for each address; finished ones do not count', async () => {
  const other = await serve()
  const begin = (remoteAddress = '127.0.0.1') =>
    other.app.inject({ url: '/console/oidc/sign-in', remoteAddress })
  for (let count = 0; count < 47; count += 1) assert.equal((await begin()).statusCode, 302)
  for (let count = 0; count < 4; count += 1) await enter('vera', other)
  const begun = await begin()
  const state = new URL(begun.headers.location as string).searchParams.get('state')
  const cookie = String(begun.headers['set-cookie']).split(';')[0] as string
  // One cookie, many codes: each would be a request to the provider.
  const comeBack = () =>
    other.app.inject({
      url: `/console/oidc/callback?code=guess&state=${state}`,
      headers: { cookie },
      remoteAddress: '127.0.0.1',
    })
  for (let count = 0; count < 2; count += 1) assert.equal((await comeBack()).statusCode, 400)
  company.asked.length = 0
  for (const refused of [await comeBack(), await begin()]) {
    assert.equal(refused.statusCode, 429)
    assert.equal(refused.headers['retry-after'], '1')
  }
  assert.deepEqual(company.asked, [])
  assert.equal((await begin('192.0.2.7')).statusCode, 302)
  other.clock.advance(1)
  assert.equal((await begin()).statusCode, 302)
})

test('the secret is sent as the provider takes it', async () => {
  company.tokenSchemes.length = 0
  await enter('vera')
  assert.deepEqual(company.tokenSchemes, ['Basic'])
  const posted = await startIdentityProvider(owner, 'client_secret_post')
  posted.people.set('vera', { groups: ['support'] })
  const other = await serve({ env: posted.env })
  posted.know(BASE_URL, other.address)
  posted.at = 'vera'
  assert.equal((await whoIs(await enter('vera', other))).role, 'viewer')
  assert.deepEqual(posted.tokenSchemes, [null])
})

test('on the port of clients there is no such sign-in', async () => {
  const open = await serve({ surface: 'public' })
  assert.equal((await open.app.inject({ url: '/console/session' })).json().signInWith, undefined)
  const answer = await open.app.inject({
    method: 'POST',
    url: '/console/oidc/session',
    payload: {},
  })
  assert.notEqual(answer.statusCode, 200)
})

test('neither the ID token nor the session is in the tables or the log in clear', async () => {
  const browser = await enter('ada')
  const token = browser.cookiesOf(BASE_URL).get('paybell_session') as string
  const { rows } = await pool.query(
    'select oidc_id_token, console_sessions::text as row from console_sessions',
  )
  assert.ok(rows.length > 0)
  for (const { oidc_id_token: sealed, row } of rows) {
    assert.ok(!row.includes(token))
    if (sealed !== null) assert.doesNotMatch(sealed.toString('latin1'), SIGNED_TOKEN)
  }
  const log = server.log.join('')
  assert.ok(!log.includes(token) && !log.includes(OIDC_CLIENT.secret))
  assert.doesNotMatch(log, SIGNED_TOKEN)
})
