import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { ConfigError } from '../server/core/setting.ts'
import { Profiles } from './profiles.ts'
import { isColourRefused, loadCallerConfig } from './settings.ts'
import { Target, type TargetOptions } from './target.ts'

const dir = await mkdtemp(join(tmpdir(), 'paybell-target-'))
after(() => rm(dir, { recursive: true, force: true }))
const SANDBOX = {
  baseUrl: 'http://127.0.0.1:8080',
  operatorKey: 'pbo_sandbox',
  clientId: 'c',
  clientSecret: 's',
  accountId: '01a1dd3c-57d6-7001-9e6f-60de241483ec',
}
await writeFile(join(dir, 'sandbox.json'), JSON.stringify(SANDBOX))

function target(env: Record<string, string>, options: TargetOptions = {}) {
  const notes: string[] = []
  const config = loadCallerConfig({ PAYBELL_DATA_DIR: dir, XDG_CONFIG_HOME: dir, ...env })
  return { notes, target: new Target(config, options, (text) => notes.push(text)) }
}

test('without settings, the sandbox of the data directory is meant, and that is said once', async () => {
  const { notes, target: found } = target({})
  assert.equal((await found.operator()).url, SANDBOX.baseUrl)
  assert.equal(await found.accountId(), SANDBOX.accountId)
  assert.deepEqual(notes, ['Using the sandbox at http://127.0.0.1:8080.'])
})

test('settings win over the sandbox, and options over settings', async () => {
  const env = { PAYBELL_URL: 'https://one.example', PAYBELL_OPERATOR_KEY: 'k' }
  assert.equal((await target(env).target.operator()).url, 'https://one.example')
  const { notes, target: found } = target(env, { url: 'https://two.example' })
  assert.equal((await found.operator()).url, 'https://two.example')
  assert.deepEqual(notes, [])
})

test('regression: over http:// a secret goes to this machine, to its sandbox, or where the caller allows it', async () => {
  const keyed = { PAYBELL_OPERATOR_KEY: 'k', PAYBELL_CLIENT_ID: 'c', PAYBELL_CLIENT_SECRET: 's' }
  const at = (url: string, more: Record<string, string> = {}) =>
    target({ ...keyed, ...more, PAYBELL_URL: url }).target
  for (const url of ['http://payments.example', 'http://10.0.0.10:8081', 'http://paybell:8080']) {
    await assert.rejects(at(url).operator(), /is not https:\/\/.*PAYBELL_ALLOW_INSECURE_HTTP=true/)
    await assert.rejects(at(url).client(), /is not https/)
    assert.equal((await at(url).anyone()).url, url)
    const allowed = at(url, { PAYBELL_ALLOW_INSECURE_HTTP: 'true' })
    assert.equal((await allowed.operator()).url, url)
    assert.equal((await allowed.client()).url, url)
  }
  for (const url of ['https://payments.example', 'http://localhost:1', 'http://[::1]:1']) {
    assert.equal((await at(url).operator()).url, url)
  }
  await mkdir(join(dir, 'lan'))
  const onLan = { ...SANDBOX, baseUrl: 'http://192.168.1.5:8080' }
  await writeFile(join(dir, 'lan', 'sandbox.json'), JSON.stringify(onLan))
  const { target: sandbox } = target({ PAYBELL_DATA_DIR: join(dir, 'lan') })
  assert.equal((await sandbox.operator()).url, onLan.baseUrl)
  assert.throws(() => loadCallerConfig({ PAYBELL_ALLOW_INSECURE_HTTP: '1' }), ConfigError)
})

test("the sandbox's key is never sent to another service", async () => {
  const { target: found } = target({ PAYBELL_URL: 'https://one.example' })
  await assert.rejects(found.operator(), /no operator key is given/)
  await assert.rejects(found.client(), /no credentials are given/)
  await assert.rejects(found.accountId(), /no account is named/)
})

test('the account of the sandbox is not taken for another client', async () => {
  const { target: found } = target({ PAYBELL_CLIENT_ID: 'x', PAYBELL_CLIENT_SECRET: 'y' })
  await assert.rejects(found.accountId(), /no account is named/)
})

test('regression: a client that is named without its secret is not another one, whose secret is known', async () => {
  await assert.rejects(target({ PAYBELL_CLIENT_ID: 'x' }).target.client(), /Set both, or none/)
  await assert.rejects(target({ PAYBELL_CLIENT_SECRET: 'y' }).target.client(), /Set both, or none/)
  const { target: own } = target({ PAYBELL_CLIENT_ID: SANDBOX.clientId })
  assert.equal((await own.client()).url, SANDBOX.baseUrl)
})

test('without any settings the error says what to do', async () => {
  const { target: found } = target({ PAYBELL_DATA_DIR: join(dir, 'nothing') })
  await assert.rejects(found.operator(), /Start a sandbox with npm start/)
})

test('a profile that is named counts for everything, and one that is not named only at last', async () => {
  const account = '01a1dd3c-57d6-7001-9e6f-60de241483ed'
  const profiles = new Profiles(dir)
  await profiles.save('live', {
    baseUrl: 'https://live.example',
    clientId: 'c',
    clientSecret: 's',
    accountId: account,
  })
  await profiles.save('ops', { baseUrl: 'https://ops.example', operatorKey: 'k' })
  const elsewhere = { PAYBELL_URL: 'https://one.example', PAYBELL_OPERATOR_KEY: 'other' }
  const named = target(elsewhere, { profile: 'live' })
  const reader = await named.target.reader()
  assert.deepEqual([reader.api.url, reader.isOperator], ['https://live.example', false])
  assert.equal(await named.target.accountId(), account)
  assert.deepEqual(named.notes, ['Using the profile live at https://live.example.'])
  const asOperator = await target({ PAYBELL_PROFILE: 'ops' }).target.reader()
  assert.deepEqual([asOperator.api.url, asOperator.isOperator], ['https://ops.example', true])

  assert.equal((await target({}).target.client()).url, SANDBOX.baseUrl)
  const nothing = { PAYBELL_DATA_DIR: join(dir, 'nothing') }
  assert.equal((await target(nothing).target.client()).url, 'https://live.example')
  await assert.rejects(target({}, { profile: 'none' }).target.client(), /no profile none/)
})

test('the secret of a profile is sent to its own service only', async () => {
  const { target: found } = target({}, { profile: 'live', url: 'https://evil.example' })
  await assert.rejects(found.client(), /no credentials are given/)
})

test('keys may come from files, and a fault is named without its value', async () => {
  const file = join(dir, 'key')
  await writeFile(file, 'pbk_key\n')
  assert.equal(loadCallerConfig({ PAYBELL_OPERATOR_KEY_FILE: file }).operatorKey, 'pbk_key')
  assert.throws(
    () => loadCallerConfig({ PAYBELL_URL: 'nonsense-value' }),
    (error) =>
      error instanceof ConfigError &&
      error.message.includes('PAYBELL_URL') &&
      !error.message.includes('nonsense-value'),
  )
})

test('NO_COLOR and a dumb terminal refuse colours', () => {
  assert.equal(isColourRefused({}), false)
  assert.equal(isColourRefused({ NO_COLOR: '' }), false)
  assert.equal(isColourRefused({ NO_COLOR: '1' }), true)
  assert.equal(isColourRefused({ TERM: 'dumb' }), true)
})
