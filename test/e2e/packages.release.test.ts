// What is published, as strangers install it: packed, installed from the tarballs into empty folders, without
// development dependencies and without install scripts, and run: sandbox, console, serve, login, listen, SDK.

import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { shippedIn } from '../../packages/shipped.ts'
import { launchChromium } from '../browser/chromium.ts'
import { Caller } from '../support/caller.ts'
import { cloneDatabase } from '../support/database.ts'
import { makeFolder, npm } from '../support/packed-sdk.ts'
import { until } from '../support/paybell.ts'
import { PLAIN, SAMPLE, sampleBody } from '../support/payment-sample.ts'
import { readCertificate } from '../support/raw-receiver.ts'
import { startReceiver } from '../support/receiver.ts'
import { type Sandbox, startSandbox } from '../support/sandbox.ts'

const run = promisify(execFile)
const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const BUILD = fileURLToPath(new URL('../../packages/build.ts', import.meta.url))
const CA_FILE = fileURLToPath(new URL('../support/certificates/ca.pem', import.meta.url))
const OPERATOR_KEY = 'an-operator-key-of-thirty-two-characters'
const MEGABYTE = 1024 * 1024

const tarballs = await packAll()

/** Their paths, by the names of the packages' folders. */
async function packAll(): Promise<Record<'paybell' | 'cli' | 'sdk', string>> {
  const built = await makeFolder({ after }, 'packages')
  await run(process.execPath, [BUILD, built])
  const pack = async (name: string) => {
    const target = await makeFolder({ after }, 'packed')
    await npm(join(built, name), 'pack', '--pack-destination', target, '--loglevel', 'error')
    const [file] = await readdir(target)
    return join(target, file as string)
  }
  return { paybell: await pack('paybell'), cli: await pack('cli'), sdk: await pack('sdk') }
}

/** An empty folder with the package in it, as `npm install` leaves it. */
async function install(tarball: string, ...args: string[]): Promise<string> {
  const folder = await makeFolder({ after }, 'installed')
  await npm(folder, 'init', '-y')
  const flags = ['--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline']
  await npm(folder, 'install', tarball, ...flags, ...args)
  return folder
}

async function sizeOf(folder: string): Promise<number> {
  const files = await readdir(folder, { recursive: true, withFileTypes: true })
  const sizes = files
    .filter((file) => file.isFile())
    .map(async (file) => (await stat(join(file.parentPath, file.name))).size)
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
}

const commandOf = (folder: string) => join(folder, 'node_modules/.bin/paybell')

test('packed twice, a package is the same to the byte', async () => {
  const again = await packAll()
  for (const name of ['paybell', 'cli', 'sdk'] as const) {
    const hashes = await Promise.all([tarballs[name], again[name]].map(hashOf))
    assert.equal(hashes[0], hashes[1], name)
  }
})

test('the sandbox of the package signs and delivers, and its console is there', async (t) => {
  const folder = await install(tarballs.paybell)
  await assertListed(folder)
  const sandbox = await startSandbox(t, {
    command: [process.execPath, commandOf(folder), 'sandbox'],
  })
  const receiver = await startReceiver(t)
  const caller = new Caller(sandbox)
  const registered = await caller.call('POST', '/v1/webhooks/register', {
    callbackUrl: receiver.url('/hook'),
    sharedKey: 'only-we-two-know-this',
  })
  assert.equal(registered.status, 200)
  const { stdout } = await run(process.execPath, [commandOf(folder), 'trigger', '--json'], {
    cwd: folder,
    env: { ...process.env, PAYBELL_URL: sandbox.baseUrl, PAYBELL_DATA_DIR: sandbox.dataDir },
  })
  assert.match(stdout, /paymentId|PAID/)
  await until('the callback', () => receiver.received.length > 0)
  await t.test('its console works in a browser', async (inner) => {
    const browser = await launchChromium()
    if (typeof browser === 'string') return inner.skip(browser)
    try {
      const page = await browser.newPage()
      const faults: string[] = []
      page.on('pageerror', (error) => faults.push(String(error)))
      await page.goto(`${sandbox.baseUrl}/console/`)
      await page.getByLabel('Operator key').fill(sandbox.operatorKey)
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.getByRole('heading', { name: 'Overview' }).waitFor()
      assert.deepEqual(faults, [])
    } finally {
      await browser.close()
    }
  })
  await t.test('an integrator logs in once and listens', (inner) => logInAndListen(inner, sandbox))
  assert.equal(await sandbox.kill('SIGTERM'), 0)
})

/** With the integrators' package alone, and with what `login` has kept. */
async function logInAndListen(t: TestContext, sandbox: Sandbox): Promise<void> {
  const folder = await install(tarballs.cli, '--offline')
  const home = await makeFolder(t, 'home')
  const paybell = [process.execPath, commandOf(folder)] as const
  const env = { PATH: process.env.PATH, HOME: home, XDG_CONFIG_HOME: home }
  const login = run(
    paybell[0],
    [
      paybell[1],
      'login',
      ...['--url', sandbox.baseUrl, '--client-id', sandbox.clientId],
      ...['--account', sandbox.accountId],
    ],
    { cwd: folder, env },
  )
  login.child.stdin?.end(`${sandbox.clientSecret}\n`)
  assert.match((await login).stdout, /^Signed in to /)
  const [kept] = (await readdir(home, { recursive: true })).filter((name) =>
    name.endsWith('profiles.json'),
  )
  assert.equal((await stat(join(home, kept as string))).mode & 0o777, 0o600)

  const receiver = await startReceiver(t)
  const listener = spawn(
    paybell[0],
    [paybell[1], 'listen', '--name', 'laptop', '--forward-to', receiver.url('/here')],
    { cwd: folder, env },
  )
  const ended = once(listener, 'exit')
  t.after(async () => {
    listener.kill('SIGTERM')
    await ended
  })
  let printed = ''
  for (const stream of [listener.stdout, listener.stderr]) {
    stream.on('data', (text) => (printed += text))
  }
  await until('it listens', () => printed.includes('Listening as laptop'), 60_000)
  const id = randomUUID()
  const body = sampleBody({ id, ...PLAIN })
  assert.equal((await new Caller(sandbox).putPayment(id, body)).status, 201)
  await receiver.hasSeen(({ accepted }) => accepted.some((one) => one.body.includes(id)), 60_000)
}

test('without the embedded PostgreSQL, serve runs on a database and the sandbox says what it lacks', async (t) => {
  const folder = await install(tarballs.paybell, '--omit=optional')
  const database = await cloneDatabase()
  const env = {
    PATH: process.env.PATH,
    PORT: '0',
    DATABASE_URL: database.url,
    PAYBELL_MASTER_KEY: randomBytes(32).toString('base64'),
    PAYBELL_OPERATOR_KEY: OPERATOR_KEY,
    PAYBELL_DRAIN_SECONDS: '0',
  }
  const child = spawn(process.execPath, [commandOf(folder), 'serve'], {
    cwd: folder,
    env: { ...env, PAYBELL_BASE_URL: 'http://127.0.0.1:1' },
  })
  t.after(() => child.kill('SIGKILL'))
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (printed += text))
  const ended = new Promise((resolve) => child.once('exit', resolve))
  const ready = until('it is ready', () => printed.includes('paybell.ready'), 60_000)
  await Promise.race([ready, ended.then(() => assert.fail(printed))])
  child.kill('SIGTERM')
  assert.equal(await ended, 0, printed)
  await t.test('two processes of it serve, deliver and stop', (inner) =>
    serveByTwo(inner, folder, env),
  )
  await assert.rejects(run(process.execPath, [commandOf(folder), 'sandbox'], { cwd: folder }), {
    stderr: /optional dependencies/,
  })
})

async function serveByTwo(t: TestContext, folder: string, env: NodeJS.ProcessEnv): Promise<void> {
  const child = spawn(process.execPath, [commandOf(folder), 'serve', '--processes', '2'], {
    cwd: folder,
    env: {
      ...env,
      PAYBELL_ALLOWED_NETWORKS: '127.0.0.0/8',
      PAYBELL_EXTRA_CA_FILE: CA_FILE,
    },
  })
  t.after(() => child.kill('SIGKILL'))
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (printed += text))
  const ended = new Promise((resolve) => child.once('exit', resolve))
  const ready = until('both are ready', () => {
    const lines = printed.match(/"baseUrl":"[^"]+","msg":"paybell\.ready"/g)
    return lines?.length === 2 && lines[0]?.split('"')[3]
  })
  const baseUrl = await Promise.race([ready, ended.then(() => assert.fail(printed))])
  const ask = async <T>(
    token: string,
    method: string,
    path: string,
    body: object,
    account = '',
  ) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const answer = await fetch(baseUrl + path, {
      method,
      headers: { ...headers, ...(account && { accountid: account }) },
      body: JSON.stringify(body),
    })
    const text = await answer.text()
    assert.ok(answer.ok, text)
    return JSON.parse(text || '{}') as T
  }
  const path = '/operator/v1/clients'
  const client = await ask<{ clientId: string; clientSecret: string }>(OPERATOR_KEY, 'POST', path, {
    name: 'Two',
  })
  const { id } = await ask<{ id: string }>(
    OPERATOR_KEY,
    'POST',
    `${path}/${client.clientId}/accounts`,
    {
      name: 'Main',
    },
  )
  const { access_token } = await ask<{ access_token: string }>('', 'POST', '/auth/token', client)
  const tls = { key: readCertificate('server.key'), cert: readCertificate('good.pem') }
  const receiver = await startReceiver(t, tls)
  // Enough that each process has some of them.
  const paths = Array.from({ length: 8 }, (_, number) => `/hook/${number}`)
  for (const hook of paths) {
    const body = { callbackUrl: receiver.url(hook), sharedKey: 'only-we-two-know-this' }
    await ask(access_token, 'POST', '/v1/webhooks/register', body, id)
  }
  const payment = randomUUID()
  const body = { ...SAMPLE, id: payment, version: undefined, document: undefined }
  await ask(OPERATOR_KEY, 'PUT', `/operator/v1/payments/${payment}`, body, id)
  await receiver.hasSeen(({ accepted }) => new Set(accepted.map((one) => one.path)).size === 8)
  child.kill('SIGTERM')
  assert.equal(await ended, 0, printed)
}

test('the SDK is installed without anything else, and loads', async () => {
  const folder = await makeFolder({ after }, 'installed')
  await npm(folder, 'init', '-y')
  // As a developer does it, scripts and all.
  await npm(folder, 'install', tarballs.sdk, '--no-audit', '--no-fund', '--offline')
  assert.deepEqual((await readdir(join(folder, 'node_modules'))).filter(isPackage), ['@paybell'])
  const script = `import { createReceiver, createClient } from '@paybell/sdk'
    console.log(typeof createReceiver, typeof createClient)`
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script], {
    cwd: folder,
  })
  assert.equal(stdout, 'function function\n')
})

test('the bill of materials has all that npm itself lists', async () => {
  const text = await npm(
    ROOT,
    'sbom',
    '--sbom-format=cyclonedx',
    '--omit=dev',
    '--package-lock-only',
  )
  const { components } = JSON.parse(text) as {
    components: { name: string; version: string; purl: string }[]
  }
  // Our own workspaces have no address.
  const packages = components.filter(({ purl }) => !/npm\/(%40paybell%2F|%40paybell\/)/i.test(purl))
  const listed = packages.map(({ name, version }) => `${name}@${version}`)
  const shipped = shippedIn('paybell').all
  // It leaves out some that development needs as well; those are found where they are installed, below.
  assert.deepEqual(
    listed.filter((key) => !shipped.has(key)),
    [],
  )
})

/** By name: npm may choose a later patch of what others need. */
async function assertListed(folder: string): Promise<void> {
  const text = await readFile(join(folder, 'node_modules/.package-lock.json'), 'utf8')
  const paths = Object.keys((JSON.parse(text) as { packages: object }).packages)
  const installed = new Set(paths.map((path) => path.split('node_modules/').at(-1) as string))
  installed.delete('paybell')
  const shipped = [...shippedIn('paybell').all.values()]
  const required = shipped.filter((one) => !one.isBundled && !one.isOptional)
  const missing = required.filter(({ name }) => !installed.has(name))
  const unlisted = [...installed].filter((name) => !shipped.some((one) => one.name === name))
  assert.deepEqual({ missing, unlisted }, { missing: [], unlisted: [] })
}

test('the command line of integrators is one small package without dependencies', async () => {
  const folder = await install(tarballs.cli, '--offline')
  assert.deepEqual((await readdir(join(folder, 'node_modules'))).filter(isPackage), ['@paybell'])
  assert.ok((await sizeOf(join(folder, 'node_modules'))) < MEGABYTE)
  const { stdout } = await run(process.execPath, [commandOf(folder), '--help'])
  for (const name of [
    'listen',
    'webhooks',
    'subscriptions',
    'deliveries',
    'payments',
    'events',
    'check',
    'signature',
    'receive',
    'login',
    'completion',
    'open',
    'mcp',
  ]) {
    assert.match(stdout, new RegExp(`^ +${name}\\b`, 'm'))
  }
  assert.doesNotMatch(stdout, /^ +(serve|sandbox)\b/m)
})

const isPackage = (name: string) => !name.startsWith('.')

async function hashOf(path: string): Promise<string> {
  return createHash('sha256')
    .update(await readFile(path))
    .digest('hex')
}
