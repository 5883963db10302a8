// `paybell login --sso` as a person uses it: the command waits, the browser signs in with the company, and the commands that
// follow act as that person.

import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { startCommand } from '../support/command-line.ts'
import { CookieBrowser, type Visit } from '../support/cookie-browser.ts'
import { startIdentityProvider } from '../support/identity-provider.ts'
import { startPaybell, until } from '../support/paybell.ts'
import { makeDataDir } from '../support/sandbox.ts'

const owner = { after }
const company = await startIdentityProvider(owner)
const paybell = await startPaybell(owner, { env: company.env })
company.know(paybell.baseUrl)
company.people.set('ada', { email: 'ada@company.example', groups: ['support'] })
company.at = 'ada'
const dir = await makeDataDir(owner)
const env = { XDG_CONFIG_HOME: dir, PAYBELL_DATA_DIR: dir }

/** What a person does on the page that asks. */
async function answer(url: string, code: string, said: string): Promise<Visit> {
  const browser = new CookieBrowser()
  const page = await browser.walk(url)
  assert.ok(page.text.includes(code), page.text)
  const question = /name="question" value="([\w-]+)"/.exec(page.text)?.[1] as string
  const answered = await browser.visit(`${paybell.baseUrl}/console/oidc/command-line`, {
    method: 'POST',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      'sec-fetch-site': 'same-origin',
    },
    body: new URLSearchParams({ question, answer: said }).toString(),
  })
  return browser.visit(answered.headers.get('location') as string)
}

async function signIn(t: TestContext, profile: string): Promise<void> {
  const args = ['login', profile, '--url', paybell.baseUrl, '--sso', '--no-browser']
  const login = startCommand(t, args, { env })
  const [url] = await login.hasPrinted(/http\S+\/console\/oidc\/sign-in\S+/)
  const [, code] = await login.hasPrinted(/It shows the code (\S+) before/)
  await answer(url as string, code as string, 'allow')
  assert.equal((await login.ended).code, 0)
}

async function keptToken(profile: string): Promise<string | undefined> {
  const kept = JSON.parse(await readFile(join(dir, 'paybell/profiles.json'), 'utf8'))
  return kept.profiles[profile]?.operatorKey
}

async function statusWith(token: string | undefined): Promise<number> {
  const headers = { authorization: `Bearer ${token}` }
  return (await fetch(`${paybell.baseUrl}/operator/v1/clients`, { headers })).status
}

test('the commands that follow act as the person, until the session ends', async (t) => {
  const args = ['login', 'me', '--url', paybell.baseUrl, '--sso', '--no-browser']
  const login = startCommand(t, args, { env })
  const [url] = await login.hasPrinted(/http\S+\/console\/oidc\/sign-in\S+/)
  const [, code] = await login.hasPrinted(/It shows the code (\S+) before/)
  const last = await answer(url as string, code as string, 'allow')
  assert.match(last.text, /^You are signed in\./)
  await login.hasPrinted(/as oidc:ada ada@company\.example, with the role viewer\./)
  assert.equal((await login.ended).code, 0)

  const list = startCommand(t, ['clients', 'list', '--profile', 'me', '--json'], { env })
  assert.equal((await list.ended).code, 0)
  const refused = startCommand(t, ['clients', 'create', 'No', '--profile', 'me'], { env })
  await refused.hasPrinted(/has the role viewer/)
  assert.notEqual((await refused.ended).code, 0)

  await paybell.pool.query('delete from paybell.console_sessions')
  const token = await keptToken('me')
  await until('the service has looked again', async () => (await statusWith(token)) === 401)
  const ended = startCommand(t, ['clients', 'list', '--profile', 'me'], { env })
  await ended.hasPrinted(/paybell login --sso/)
  assert.notEqual((await ended.ended).code, 0)
})

test('who cancels in the browser is not signed in', async (t) => {
  const args = ['login', 'no', '--url', paybell.baseUrl, '--sso', '--no-browser']
  const login = startCommand(t, args, { env })
  const [url] = await login.hasPrinted(/http\S+\/console\/oidc\/sign-in\S+/)
  const [, code] = await login.hasPrinted(/It shows the code (\S+) before/)
  const last = await answer(url as string, code as string, 'cancel')
  assert.match(last.text, /^Nothing was signed in\./)
  await login.hasPrinted(/cancelled in the browser/)
  assert.equal((await login.ended).code, 2)
})

test('who signs out is signed out of the service, and of this machine even if the service is away', async (t) => {
  await signIn(t, 'out')
  const token = await keptToken('out')
  assert.equal(await statusWith(token), 200)
  const logout = startCommand(t, ['logout', 'out', '--json'], { env })
  assert.equal((await logout.ended).code, 0)
  assert.match((await logout.ended).stdout, /"sessionEnded":true/)
  assert.equal(await statusWith(token), 401)

  const path = join(dir, 'paybell/profiles.json')
  const away = { baseUrl: 'http://127.0.0.1:9', operatorKey: `pbp_${'x'.repeat(43)}` }
  await writeFile(path, JSON.stringify({ profiles: { away } }), { mode: 0o600 })
  const left = startCommand(t, ['logout', 'away'], { env })
  await left.hasPrinted(/could not be ended at the service/)
  assert.equal((await left.ended).code, 0)
  assert.equal(await keptToken('away'), undefined)
})

test('a service without a provider says so at once', async (t) => {
  const plain = await startPaybell(t)
  const login = startCommand(t, ['login', '--url', plain.baseUrl, '--sso'], { env })
  await login.hasPrinted(/offers no sign-in with a company/)
  assert.equal((await login.ended).code, 2)
})
