// What is published, as strangers install it: packed, installed from the tarballs into empty folders without
// development dependencies and without install scripts, and run.

import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { cloneDatabase } from '../support/database.ts'
import { makeFolder, npm } from '../support/packed-sdk.ts'
import { until } from '../support/paybell.ts'
import { startReceiver } from '../support/receiver.ts'
import { Caller, startSandbox } from '../support/sandbox.ts'

const run = promisify(execFile)
const BUILD = fileURLToPath(new URL('../../packages/build.ts', import.meta.url))
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
  const page = await (await fetch(`${sandbox.baseUrl}/console/sign-in`)).text()
  const script = /src="([^"]+\.js)"/.exec(page)?.[1] as string
  assert.equal((await fetch(new URL(script, `${sandbox.baseUrl}/console/`))).status, 200)
  assert.equal(await sandbox.kill('SIGTERM'), 0)
})

test('without the embedded PostgreSQL, serve runs on a database and the sandbox says what it lacks', async (t) => {
  const folder = await install(tarballs.paybell, '--omit=optional')
  const database = await cloneDatabase()
  const child = spawn(process.execPath, [commandOf(folder), 'serve'], {
    cwd: folder,
    env: {
      PATH: process.env.PATH,
      PORT: '0',
      DATABASE_URL: database.url,
      PAYBELL_MASTER_KEY: randomBytes(32).toString('base64'),
      PAYBELL_OPERATOR_KEY: 'an-operator-key-of-thirty-two-characters',
      PAYBELL_BASE_URL: 'http://127.0.0.1:1',
      PAYBELL_DRAIN_SECONDS: '0',
    },
  })
  t.after(() => child.kill('SIGKILL'))
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (printed += text))
  const ended = new Promise((resolve) => child.once('exit', resolve))
  const ready = until('it is ready', () => printed.includes('paybell.ready'), 60_000)
  await Promise.race([ready, ended.then(() => assert.fail(printed))])
  child.kill('SIGTERM')
  assert.equal(await ended, 0, printed)
  await assert.rejects(run(process.execPath, [commandOf(folder), 'sandbox'], { cwd: folder }), {
    stderr: /optional dependencies/,
  })
})

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
