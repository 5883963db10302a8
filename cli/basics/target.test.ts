import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { ConfigError } from '../../server/core/plain/setting.ts'
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
  assert.deepEqual(notes, ['Using the sandbox at http://127.0.0.1:8080 as the operator.'])
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
  await assert.rejects(found.operator(), /Sign in with paybell login --url URL/)
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
  assert.deepEqual(named.notes, ['Using the profile live at https://live.example as the client c.'])
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

test('regression: whose credentials are set speaks, whatever key of the operator is found near', async () => {
  const secretFile = join(dir, 'secret')
  await writeFile(secretFile, 'file-secret\n')
  const keyFile = join(dir, 'key-of-file')
  await writeFile(keyFile, 'pbk_file\n')
  const client = { PAYBELL_CLIENT_ID: 'x', PAYBELL_CLIENT_SECRET: 'y' }
  const operator = { PAYBELL_OPERATOR_KEY: 'k' }
  const here = { PAYBELL_URL: SANDBOX.baseUrl }
  // A profile with the operator's key for the same address, and no sandbox.
  await mkdir(join(dir, 'desk'))
  await new Profiles(join(dir, 'desk')).save('ops', {
    ...here,
    ...{ baseUrl: SANDBOX.baseUrl },
    operatorKey: 'o',
  })
  const desk = { PAYBELL_DATA_DIR: join(dir, 'nothing'), XDG_CONFIG_HOME: join(dir, 'desk') }
  const clientSecretFile = secretFile
  const rows: [string, Record<string, string>, TargetOptions, string][] = [
    ['the sandbox has both', {}, {}, 'the operator'],
    ['variables of a client beside a sandbox', client, {}, 'the client x'],
    ['with the address', { ...here, ...client }, {}, 'the client x'],
    ['the sandbox’s own client', { PAYBELL_CLIENT_ID: 'c' }, {}, 'the client c'],
    ['a key of the operator beside a sandbox', operator, {}, 'the operator'],
    ['both in variables', { ...client, ...operator }, {}, 'the operator'],
    ['a key file beside variables of a client', client, { keyFile }, 'the operator'],
    [
      'options of a client beside a key in a variable',
      operator,
      { clientId: 'z', clientSecret: 's' },
      'the client z',
    ],
    ['a secret in a file', operator, { clientId: 'z', clientSecretFile }, 'the client z'],
    ['a profile of the operator', desk, {}, 'the operator'],
    [
      'variables of a client beside that profile',
      { ...desk, ...here, ...client },
      {},
      'the client x',
    ],
    ['that profile, by its name', { ...desk, ...client }, { profile: 'ops' }, 'the operator'],
  ]
  for (const [what, env, options, whom] of rows) {
    const said: string[] = []
    const config = loadCallerConfig({ PAYBELL_DATA_DIR: dir, XDG_CONFIG_HOME: dir, ...env })
    const note = (text: string) => said.push(text)
    const { api, isOperator } = await new Target(config, options, note, note).reader()
    assert.equal(isOperator, whom === 'the operator', what)
    assert.equal(api.url, SANDBOX.baseUrl, what)
    assert.equal(said.length, 1, what)
    assert.ok(said[0]?.endsWith(` as ${whom}.`), `${what}: ${said}`)
  }
  await assert.rejects(target({ PAYBELL_CLIENT_ID: 'x' }).target.reader(), /Set both, or none/)
  const twice = { clientId: 'z', clientSecret: 's', clientSecretFile }
  await assert.rejects(target({}, twice).target.reader(), /not both/)
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
