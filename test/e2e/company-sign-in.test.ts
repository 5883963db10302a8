// `paybell login --sso` as a person uses it: the command waits, the browser signs in with the company, and the commands that
// follow act as that person.

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { startCommand } from '../support/command-line.ts'
import { CookieBrowser } from '../support/cookie-browser.ts'
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

test('the commands that follow act as the person, until the session ends', async (t) => {
  const args = ['login', 'me', '--url', paybell.baseUrl, '--sso', '--no-browser']
  const login = startCommand(t, args, { env })
  const [url] = await login.hasPrinted(/http\S+\/console\/oidc\/sign-in\S+/)
  const last = await new CookieBrowser().walk(url as string)
  assert.match(last.text, /^You are signed in\./)
  assert.equal((await login.ended).code, 0)

  const list = startCommand(t, ['clients', 'list', '--profile', 'me', '--json'], { env })
  assert.equal((await list.ended).code, 0)
  const refused = startCommand(t, ['clients', 'create', 'No', '--profile', 'me'], { env })
  await refused.hasPrinted(/has the role viewer/)
  assert.notEqual((await refused.ended).code, 0)

  await paybell.pool.query('delete from paybell.console_sessions')
  const kept = JSON.parse(await readFile(join(dir, 'paybell/profiles.json'), 'utf8'))
  const headers = { authorization: `Bearer ${kept.profiles.me.operatorKey}` }
  await until('the service has looked again', async () => {
    const { status } = await fetch(`${paybell.baseUrl}/operator/v1/clients`, { headers })
    return status === 401
  })
  const ended = startCommand(t, ['clients', 'list', '--profile', 'me'], { env })
  await ended.hasPrinted(/paybell login --sso/)
  assert.notEqual((await ended.ended).code, 0)
})

test('a service without a provider says so at once', async (t) => {
  const plain = await startPaybell(t)
  const login = startCommand(t, ['login', '--url', plain.baseUrl, '--sso'], { env })
  await login.hasPrinted(/offers no sign-in with a company/)
  assert.equal((await login.ended).code, 2)
})
