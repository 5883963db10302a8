// How the command line gets a session of the person in front of the browser, and who else does not.

import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { after, type TestContext, test } from 'node:test'
import { CookieBrowser, type Visit } from '../../../../test/support/cookie-browser.ts'
import { cloneDatabase } from '../../../../test/support/database.ts'
import { startIdentityProvider } from '../../../../test/support/identity-provider.ts'
import { BASE_URL, serveHttp } from '../../../../test/support/injected-server.ts'
import { toComparisonCode } from '../../../core/proofs/comparison-code.ts'

const owner = { after } as Pick<TestContext, 'after'>
const { pool } = await cloneDatabase()
const company = await startIdentityProvider(owner)
const server = await serveHttp(owner, pool, { env: company.env })
const address = await server.app.listen({ host: '127.0.0.1', port: 0 })
company.know(BASE_URL, address)
company.people.set('vera', { email: 'vera@company.example', groups: ['support'] })
company.at = 'vera'

const PORT = 43_210
const ANSWER = `${BASE_URL}/console/oidc/command-line`

interface Asked {
  browser: CookieBrowser
  page: Visit
  verifier: string
  challenge: string
  state: string
}

/** A command line has sent this browser; the person is asked. */
async function ask(): Promise<Asked> {
  const verifier = randomBytes(32).toString('base64url')
  const challenge = createHash('sha256').update(verifier).digest('base64url')
  const state = randomBytes(32).toString('base64url')
  const query = new URLSearchParams({ port: String(PORT), state, challenge })
  const browser = new CookieBrowser({ [BASE_URL]: address })
  const page = await browser.walk(`${BASE_URL}/console/oidc/sign-in?${query}`)
  return { browser, page, verifier, challenge, state }
}

function answer(
  { browser, page }: Pick<Asked, 'browser' | 'page'>,
  said = 'allow',
  from: Record<string, string> = { 'sec-fetch-site': 'same-origin' },
): Promise<Visit> {
  const question = /name="question" value="([\w-]+)"/.exec(page.text)?.[1] as string
  return browser.visit(ANSWER, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...from },
    body: new URLSearchParams({ question, answer: said }).toString(),
  })
}

function codeOf(visit: Visit): URLSearchParams {
  assert.equal(visit.status, 303, visit.text)
  const location = new URL(visit.headers.get('location') as string)
  assert.equal(location.origin, `http://127.0.0.1:${PORT}`)
  return location.searchParams
}

const redeem = (payload: object) =>
  server.app.inject({ method: 'POST', url: '/console/oidc/session', payload })
const list = (headers: Record<string, string>) =>
  server.app.inject({ url: '/operator/v1/clients', headers })

async function countSessions(): Promise<number> {
  const { rows } = await pool.query('select count(*)::int as n from console_sessions')
  return rows[0].n
}

async function signIn(): Promise<string> {
  const asked = await ask()
  const code = codeOf(await answer(asked)).get('code')
  return (await redeem({ code, verifier: asked.verifier })).json().token
}

test('a person who agrees signs the command line in, with a session that is a key and no cookie', async () => {
  const asked = await ask()
  const came = codeOf(await answer(asked))
  assert.equal(came.get('state'), asked.state)
  const code = came.get('code') as string
  const wrong = await redeem({ code, verifier: randomBytes(32).toString('base64url') })
  assert.equal(wrong.statusCode, 401)
  const { token, expiresAt, ...who } = (await redeem({ code, verifier: asked.verifier })).json()
  assert.deepEqual(who, { actor: 'oidc:vera vera@company.example', role: 'viewer' })
  assert.equal(Date.parse(expiresAt) - server.clock.nowMs(), 8 * 3_600_000)
  assert.equal((await list({ authorization: `Bearer ${token}` })).statusCode, 200)
  const cookie = { 'x-paybell-console': '1', cookie: `paybell_session=${token}` }
  assert.equal((await list(cookie)).statusCode, 401)
  server.clock.advance(121)
  assert.equal((await redeem({ code, verifier: asked.verifier })).statusCode, 401)
  server.clock.advance(8 * 3_600)
  const ended = await list({ authorization: `Bearer ${token}` })
  assert.equal(ended.statusCode, 401)
  assert.match(ended.json().detail, /^The session has ended/)
})

test('regression: a link alone signs nothing in; the page says who is asked for what', async () => {
  const before = await countSessions()
  const { page, challenge } = await ask()
  assert.equal(page.status, 200)
  assert.equal(page.headers.get('location'), null)
  assert.match(page.text, /as <strong>vera@company\.example<\/strong> of 127\.0\.0\.1:\d+, with/)
  assert.match(page.text, /the role <strong>viewer<\/strong>, for 8 hours/)
  assert.ok(page.text.includes(`<code>${toComparisonCode(challenge)}</code>`))
  const policy = page.headers.get('content-security-policy') ?? ''
  assert.match(policy, /form-action 'self' http:\/\/127\.0\.0\.1:43210;/)
  assert.match(policy, /frame-ancestors 'none'/)
  assert.equal(await countSessions(), before)
})

test('who cancels signs nothing in, and the command line is told', async () => {
  const before = await countSessions()
  const asked = await ask()
  const came = codeOf(await answer(asked, 'cancel'))
  assert.deepEqual(
    [...came],
    [
      ['error', 'access_denied'],
      ['state', asked.state],
    ],
  )
  assert.equal(await countSessions(), before)
})

test('another page, another browser and a late answer agree to nothing', async () => {
  const before = await countSessions()
  const foreign: Record<string, string>[] = [
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'none' },
    { origin: 'https://evil.example' },
    { origin: 'null' },
    {},
  ]
  for (const from of foreign) {
    const refused = await answer(await ask(), 'allow', from)
    assert.equal(refused.status, 400, JSON.stringify(from))
    assert.match(refused.text, /Nothing was signed in/)
  }
  // The form of one browser, with the cookie of another that was asked, too.
  const [mine, theirs] = [await ask(), await ask()]
  const swapped = { browser: mine.browser, page: theirs.page }
  assert.equal((await answer(swapped)).status, 400)
  const stranger = new CookieBrowser({ [BASE_URL]: address })
  assert.equal((await answer({ ...theirs, browser: stranger })).status, 400)
  const late = await ask()
  server.clock.advance(301)
  assert.equal((await answer(late)).status, 400)
  assert.equal(await countSessions(), before)
})

test('what no command line can have sent is refused before the company is asked', async () => {
  const random = randomBytes(32).toString('base64url')
  const whole = { port: String(PORT), state: random, challenge: random }
  company.asked.length = 0
  for (const wrong of [
    { port: '65536' },
    { port: '80' },
    { port: '4321@evil.example' },
    { state: 'short' },
    { challenge: '' },
  ]) {
    const query = new URLSearchParams({ ...whole, ...wrong })
    const answer = await server.app.inject({ url: `/console/oidc/sign-in?${query}` })
    assert.equal(answer.statusCode, 400, JSON.stringify(wrong))
  }
  const half = await server.app.inject({ url: `/console/oidc/sign-in?state=${random}` })
  assert.equal(half.statusCode, 400)
  assert.deepEqual(company.asked, [])
})

test('regression: an answer counts once, also with the form and the cookie that were kept', async () => {
  for (const first of ['allow', 'cancel']) {
    const asked = await ask()
    const kept = [...asked.browser.cookiesOf(BASE_URL)]
    codeOf(await answer(asked, first))
    const before = await countSessions()
    for (const [name, value] of kept) asked.browser.cookiesOf(BASE_URL).set(name, value)
    assert.equal((await answer(asked)).status, 400, first)
    assert.equal(await countSessions(), before)
  }
})

test('regression: a code gets its session once', async () => {
  const asked = await ask()
  const code = codeOf(await answer(asked)).get('code')
  const both = await Promise.all([1, 2].map(() => redeem({ code, verifier: asked.verifier })))
  assert.deepEqual(both.map(({ statusCode }) => statusCode).toSorted(), [200, 401])
  for (const again of [code, `${code}=`, `${code}==`]) {
    assert.equal((await redeem({ code: again, verifier: asked.verifier })).statusCode, 401)
  }
})

test('a browser without Sec-Fetch-Site is known by its origin', async () => {
  const own = { origin: address }
  codeOf(await answer(await ask(), 'allow', own))
})

test('the command line signs out: its session ends, is audited, and no other does', async () => {
  const [first, second] = [await signIn(), await signIn()]
  const end = (authorization: string) =>
    server.app.inject({
      method: 'DELETE',
      url: '/console/oidc/session',
      headers: { authorization },
    })
  assert.equal((await end(`Bearer ${first}`)).statusCode, 204)
  assert.equal((await list({ authorization: `Bearer ${first}` })).statusCode, 401)
  assert.equal((await list({ authorization: `Bearer ${second}` })).statusCode, 200)
  const { rows } = await pool.query(
    `select count(*)::int as n from audit where action = 'session.end' and actor like 'oidc:vera%'`,
  )
  assert.equal(rows[0].n, 1)
  // Again, and with what is none.
  for (const bearer of [`Bearer ${first}`, 'Bearer pbp_no', 'Basic x', '']) {
    assert.equal((await end(bearer)).statusCode, 204)
  }
})
