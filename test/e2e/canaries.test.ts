// What banks and companies bring along is secret: private keys, assertions, codes, ID tokens, sessions. None of it, right or
// wrong, is found in any table (the audit is one), in the log, in the metrics or in a trace.

import assert from 'node:assert/strict'
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { after, test } from 'node:test'
import { context, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { ASSERTION_TYPE } from '../../server/core/proofs/client-assertion.ts'
import { CookieBrowser } from '../support/cookie-browser.ts'
import { OIDC_CLIENT, startIdentityProvider } from '../support/identity-provider.ts'
import { issue } from '../support/issue-certificate.ts'
import { everything, spellings } from '../support/leaks.ts'
import { startPaybell } from '../support/paybell.ts'

const exporter = new InMemorySpanExporter()
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
trace.setGlobalTracerProvider(
  new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }),
)
// The next file of this process is to find none.
after(() => {
  trace.disable()
  context.disable()
})
const owner = { after }
const log: string[] = []
const company = await startIdentityProvider(owner)
const paybell = await startPaybell(owner, { env: company.env, log: (line) => void log.push(line) })
company.know(paybell.baseUrl)
company.people.set('ada', { email: 'ada@company.example', groups: ['payments-admins'] })
company.at = 'ada'

const canary = () => `canary-${randomBytes(24).toString('hex')}`
/** What each is, and its text. */
const secrets: [what: string, text: string][] = [['the client secret', OIDC_CLIENT.secret]]

function keep(what: string, text: string | null | undefined): string {
  assert.ok(text && text.length >= 16, `${what} is there`)
  secrets.push([what, text])
  return text
}

function keepKey(what: string, pem: string): void {
  const base64 = pem.replaceAll(/-----[A-Z ]+-----|\s/g, '')
  keep(`${what}, a line of it`, pem.split('\n')[1])
  keep(`${what}, whole`, base64)
  keep(`${what}, in hex`, Buffer.from(base64, 'base64').toString('hex'))
}

async function post(path: string, body: object, headers: Record<string, string> = {}) {
  const answer = await fetch(`${paybell.baseUrl}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  return { status: answer.status, text: await answer.text() }
}

async function postForm(path: string, form: Record<string, string>): Promise<number> {
  const body = new URLSearchParams(form)
  return (await fetch(`${paybell.baseUrl}${path}`, { method: 'POST', body })).status
}

const operator = { authorization: `Bearer ${paybell.operatorKey}` }

async function bringCertificates(): Promise<void> {
  const root = issue({ subject: 'CN=Root', isAuthority: true })
  const own = issue({ subject: 'CN=paybell', by: root, purposes: ['client'] })
  const stray = issue({ subject: 'CN=stray', by: root })
  keepKey('the private key of a certificate', own.keyPem)
  keepKey('a private key that does not belong', stray.keyPem)
  const path = '/operator/v1/client-certificates'
  const whole = { name: 'bank', certificatePem: own.pem, privateKeyPem: own.keyPem }
  assert.equal((await post(path, whole, operator)).status, 201)
  for (const wrong of [
    { ...whole, name: 'wrong', privateKeyPem: stray.keyPem },
    { ...whole, name: 'among', certificatePem: own.pem + stray.keyPem },
  ]) {
    const refused = await post(path, wrong, operator)
    assert.equal(refused.status, 400)
    for (const [what, text] of secrets) assert.ok(!refused.text.includes(text), what)
  }
}

async function bringAssertions(): Promise<void> {
  const pair = await generateKeyPair('EdDSA', { crv: 'Ed25519', extractable: true })
  const { d } = await exportJWK(pair.privateKey)
  keep('the private part of a client key', d)
  const path = `/operator/v1/clients/${paybell.clientId}/keys`
  const jwk = await exportJWK(pair.publicKey)
  assert.equal((await post(path, { jwk: { ...jwk, d } }, operator)).status, 400)
  assert.equal((await post(path, { jwk }, operator)).status, 201)
  const sign = (jti: string) =>
    new SignJWT({ jti })
      .setProtectedHeader({ alg: 'EdDSA' })
      .setIssuer(paybell.clientId)
      .setSubject(paybell.clientId)
      .setAudience(`${paybell.baseUrl}/auth/token`)
      .setExpirationTime('2m')
      .sign(pair.privateKey)
  const assertion = keep('an assertion', await sign(keep('the id of an assertion', canary())))
  keep('the signature of an assertion', assertion.split('.')[2])
  const form = {
    grant_type: 'client_credentials',
    client_assertion_type: ASSERTION_TYPE,
    client_assertion: assertion,
  }
  assert.equal(await postForm('/auth/token', form), 200)
  assert.equal(await postForm('/auth/token', form), 401, 'again')
  const forged = keep('a forged assertion', `${assertion.slice(0, -40)}${canary()}`)
  assert.equal(await postForm('/auth/token', { ...form, client_assertion: forged }), 401)
}

async function signIn(): Promise<void> {
  const browser = new CookieBrowser()
  await browser.walk(`${paybell.baseUrl}/console/oidc/sign-in`, (next) => {
    const { searchParams, pathname } = new URL(next)
    if (pathname === '/console/oidc/callback') {
      keep('a code of the provider', searchParams.get('code'))
      keep('what a sign-in keeps', browser.cookiesOf(paybell.baseUrl).get('paybell_oidc'))
    }
    return pathname === '/console/' ? null : next
  })
  keep('a session', browser.cookiesOf(paybell.baseUrl).get('paybell_session'))
  // A code that the provider refuses.
  const wrong = new CookieBrowser()
  const page = await wrong.walk(`${paybell.baseUrl}/console/oidc/sign-in`, (next) => {
    const url = new URL(next)
    if (url.pathname !== '/console/oidc/callback') return next
    url.searchParams.set('code', keep('a wrong code', canary()))
    return url.href
  })
  assert.equal(page.status, 400)
}

async function signCommandLineIn(): Promise<void> {
  const verifier = keep('a verifier', randomBytes(32).toString('base64url'))
  const challenge = createHash('sha256').update(verifier).digest('base64url')
  const state = keep('the state of a command line', randomBytes(32).toString('base64url'))
  const browser = new CookieBrowser()
  const query = new URLSearchParams({ port: '43210', state, challenge })
  const page = await browser.walk(`${paybell.baseUrl}/console/oidc/sign-in?${query}`)
  const question = /name="question" value="([\w-]+)"/.exec(page.text)?.[1]
  keep('a question', question)
  keep('its cookie', browser.cookiesOf(paybell.baseUrl).get('paybell_oidc_question'))
  const answered = await browser.visit(`${paybell.baseUrl}/console/oidc/command-line`, {
    method: 'POST',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      'sec-fetch-site': 'same-origin',
    },
    body: new URLSearchParams({ question: question as string, answer: 'allow' }).toString(),
  })
  const { searchParams } = new URL(answered.headers.get('location') as string)
  const code = keep('a code for the command line', searchParams.get('code'))
  const session = await post('/console/oidc/session', { code, verifier })
  const { token } = JSON.parse(session.text)
  keep('a session of the command line', token)
  const headers = { authorization: `Bearer ${token}` }
  assert.equal((await fetch(`${paybell.baseUrl}/operator/v1/clients`, { headers })).status, 200)
  const refused = keep('a session that is none', `pbp_${randomBytes(32).toString('base64url')}`)
  const others = { authorization: `Bearer ${refused}` }
  const answer = await fetch(`${paybell.baseUrl}/operator/v1/clients`, { headers: others })
  assert.equal(answer.status, 401)
}

async function signOut(): Promise<void> {
  const path = '/console/oidc/backchannel-logout'
  const token = keep('a logout token', await company.logoutToken({ sub: 'bob', jti: randomUUID() }))
  assert.equal(await postForm(path, { logout_token: token }), 200)
  assert.equal(await postForm(path, { logout_token: token }), 400)
  const wrong = keep('a wrong logout token', `${canary()}.${canary()}.${canary()}`)
  assert.equal(await postForm(path, { logout_token: wrong }), 400)
}

test('no secret of certificates, client keys or company sign-in is in a table, the log, a metric or a trace', async () => {
  await bringCertificates()
  await bringAssertions()
  await signIn()
  await signCommandLineIn()
  await signOut()
  assert.ok(company.issued.length >= 2)
  for (const token of company.issued) {
    keep('an ID token', token)
    keep('the signature of an ID token', token.split('.')[2])
  }
  const metrics = await fetch(`${paybell.baseUrl}/metrics`, { headers: operator })
  assert.equal(metrics.status, 200)
  const spans = exporter.getFinishedSpans()
  const places: [place: string, text: string][] = [
    ['the metrics', await metrics.text()],
    ...log.map((line): [string, string] => ['the log', line]),
    ...spans.map(({ name, attributes, events, status, links }): [string, string] => [
      'a trace',
      JSON.stringify({ name, attributes, events, status, links }),
    ]),
  ]
  for await (const { table, text } of everything(paybell.pool)) places.push([table, text])

  const finds = secrets.flatMap(([what, secret]) =>
    spellings(secret).flatMap((needle) =>
      places.filter(([, text]) => text.includes(needle)).map(([place]) => `${what} is in ${place}`),
    ),
  )
  assert.deepEqual([...new Set(finds)], [])
  // The search would find them: what is not secret is there.
  const has = (place: RegExp, text: string) =>
    places.some(([name, each]) => place.test(name) && each.includes(text))
  assert.ok(has(/\baudit/, 'oidc:ada ada@company.example'))
  assert.ok(has(/console_sessions/, 'payments-admins'))
  assert.ok(has(/client_certificates/, 'BEGIN CERTIFICATE'))
  assert.ok(has(/the log/, 'oidc.logout-refused'))
  assert.ok(has(/the metrics/, 'paybell_'))
  assert.ok(has(/a trace/, '/console/oidc/callback'))
})
