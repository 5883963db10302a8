// Starting and stopping the sandbox (decisions §11.1): real processes, ended by their own number.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { existsSync, statSync } from 'node:fs'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { limitOf } from '../support/busy-machine.ts'
import { until } from '../support/paybell.ts'
import { sampleBody } from '../support/payment-sample.ts'
import { isRunning, readPostmasterPid, readRunDir } from '../support/postmaster.ts'
import { startReceiver } from '../support/receiver.ts'
import {
  Caller,
  makeDataDir,
  makeDataDirWithCluster,
  type Sandbox,
  spawnSandbox,
  startSandbox,
} from '../support/sandbox.ts'

const UNFINISHED =
  'POST /auth/token HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{'

async function put(caller: Caller, id: string, reference: string): Promise<void> {
  const body = sampleBody({ id, version: undefined, document: undefined, reference })
  assert.ok((await caller.putPayment(id, body)).ok)
}

/** Signals it and checks that everything of it is gone. */
async function stop(sandbox: Sandbox, signal: NodeJS.Signals): Promise<void> {
  const postmaster = (await readPostmasterPid(sandbox.dataDir)) ?? assert.fail()
  const runDir = (await readRunDir(sandbox.dataDir)) ?? assert.fail()
  assert.ok(isRunning(postmaster) && existsSync(runDir))
  assert.equal(await sandbox.kill(signal), 0, sandbox.output())
  assert.ok(!isRunning(postmaster), 'the database has stopped')
  assert.ok(!existsSync(runDir), 'its socket is gone')
  assert.equal(await readPostmasterPid(sandbox.dataDir), null)
}

// They mostly wait, once they have started: some side by side, and not so many that all start slowly.
describe('start and stop', { concurrency: 3 }, () => {
  test('SIGINT and SIGTERM stop everything with exit code 0; the next start has the same credentials, all data, and sends what was owed', async (t) => {
    const receiver = await startReceiver(t)
    const first = await startSandbox(t)
    const { dataDir, baseUrl, operatorKey, clientId, clientSecret, accountId } = first
    const file = join(dataDir, 'sandbox.json')
    const facts = JSON.parse(await readFile(file, 'utf8'))
    assert.deepEqual(facts, { baseUrl, operatorKey, clientId, clientSecret, accountId })
    assert.equal(statSync(file).mode & 0o777, 0o600)
    for (const text of [baseUrl, operatorKey, clientId, clientSecret, accountId, 'curl ']) {
      assert.ok(first.output().includes(text), `the welcome has ${text}`)
    }
    const link = /(\S+\/console)\/sign-in#(\S+)/.exec(first.output())
    const opened = await fetch(`${link?.[1]}/session`, {
      method: 'POST',
      headers: { 'x-paybell-console': '1', 'content-type': 'application/json' },
      body: JSON.stringify({ link: link?.[2] }),
    })
    assert.equal(opened.status, 204, 'the link of the welcome signs in')

    const caller = new Caller(first)
    receiver.answer = 500
    await caller.register(receiver.url(), 'key')
    const id = randomUUID()
    for (const reference of ['1', '2', '3']) await put(caller, id, reference)
    await receiver.hasSeen(({ received }) => received.length >= 1)
    await stop(first, 'SIGINT')

    receiver.answer = 200
    const second = await startSandbox(t, { dataDir })
    assert.equal(second.operatorKey, operatorKey)
    assert.equal(second.clientId, clientId)
    assert.equal(second.clientSecret, clientSecret)
    assert.equal(second.accountId, accountId)
    await receiver.hasSeen(({ accepted }) => accepted.length === 3)
    assert.deepEqual(receiver.sequences(), [1, 2, 3])
    const list = await (await new Caller(second).get('/v1/webhooks/list')).json()
    assert.equal((list as { totalElements: number }).totalElements, 1)
    await stop(second, 'SIGTERM')
  })

  test('F19: kept connections, an attempt that hangs and requests that never end do not keep the sandbox from stopping', async (t) => {
    const receiver = await startReceiver(t)
    const sandbox = await startSandbox(t)
    const agent = new Agent({ keepAlive: true })
    t.after(() => agent.destroy())
    await new Promise((resolve, reject) => {
      const call = request(`${sandbox.baseUrl}/livez`, { agent }, (response) => {
        response.resume().on('end', resolve)
      })
      call.on('error', reject).end()
    })
    const { hostname, port } = new URL(sandbox.baseUrl)
    for (const beginning of ['GET /livez HTTP/1.1\r\nHo', UNFINISHED]) {
      const socket = connect(Number(port), hostname).on('error', () => {})
      t.after(() => socket.destroy())
      socket.write(beginning)
    }
    const caller = new Caller(sandbox)
    receiver.answer = 'hang'
    await caller.register(receiver.url(), 'key')
    await put(caller, randomUUID(), '1')
    await receiver.hasSeen(({ received }) => received.length === 1)
    const askedAt = performance.now()
    const exit = sandbox.kill('SIGTERM')
    sandbox.process.kill('SIGTERM') // Twice is the same as once.
    assert.equal(await exit, 0)
    const tookMs = performance.now() - askedAt
    assert.ok(tookMs < limitOf(18_000), `within the deadline of the attempt: ${tookMs}`)
  })

  test('F27: a second sandbox on the same data directory refuses in one sentence, and leaves the first alone', async (t) => {
    const first = await startSandbox(t)
    const second = spawnSandbox(t, { dataDir: first.dataDir })
    const code = await second.exit
    assert.ok(typeof code === 'number' && code > 0, `${code}`)
    const lines = second.output().trim().split('\n')
    assert.equal(lines.length, 1, second.output())
    assert.match(second.output(), /data directory .* is in use by process \d+/)
    assert.ok(lines[0]?.includes(`process ${first.process.pid}`))
    assert.equal((await fetch(`${first.baseUrl}/readyz`)).status, 200)
    const file = await readFile(join(first.dataDir, 'sandbox.json'), 'utf8').catch(() => null)
    assert.ok(file, 'the first one’s sandbox.json is still there')
    assert.equal(await first.kill('SIGINT'), 0)
  })

  test('npm start gets the signal through to the service: exit code 0, nothing is left', async (t) => {
    const npm = ['npm', 'start'] as const
    const sandbox = await startSandbox(t, { command: npm })
    assert.match(sandbox.output(), /Paybell sandbox is ready/)
    await stop(sandbox, 'SIGINT')
  })

  test('regression: a sandbox prints a misspelt setting, its welcome, and then the request id of what it refuses', async (t) => {
    const sandbox = await startSandbox(t, { env: { PAYBELL_TIMESCALE: '1000' } })
    const caller = new Caller(sandbox)
    assert.equal((await caller.get('/v1/webhooks/list')).status, 200)
    const [first, ...rest] = sandbox.output().split('\n')
    assert.match(first ?? '', /PAYBELL_TIMESCALE is not a setting.* mean PAYBELL_TIME_SCALE\?/)
    // No other line of the log: the only braces are those of the call to paste.
    assert.match(rest.join('\n'), /^Paybell sandbox is ready[^{}]*\{"clientId"[^{}]*\}'\n[^{}]*$/)
    const refused = await fetch(`${sandbox.baseUrl}/v1/webhooks/list`)
    assert.equal(refused.status, 401)
    const id = refused.headers.get('x-request-id') ?? assert.fail()
    await until('it is in the log', () => sandbox.output().includes(`"requestId":"${id}"`))
  })

  test('a signal while the sandbox is still starting stops it too', async (t) => {
    const dataDir = await makeDataDir(t)
    const sandbox = spawnSandbox(t, { dataDir })
    // The database is being made, or just up: the service is not there yet.
    const isUnderWay = async () => (await readdir(dataDir)).length > 1
    await until('the start is under way', isUnderWay, 90_000)
    const code = await sandbox.kill('SIGINT')
    assert.equal(code, 0, sandbox.output())
    const postmaster = await readPostmasterPid(dataDir)
    assert.ok(postmaster === null || !isRunning(postmaster))
  })

  test('a port that is taken fails with one sentence and an exit code, and the database stops', async (t) => {
    const receiver = await startReceiver(t)
    const dataDir = await makeDataDirWithCluster(t)
    const sandbox = spawnSandbox(t, { dataDir, env: { PORT: `${receiver.port}` } })
    const code = await sandbox.exit
    assert.ok(typeof code === 'number' && code > 0, `${code}`)
    assert.match(sandbox.output(), new RegExp(`port ${receiver.port} .* is taken.* with PORT`))
    assert.doesNotMatch(sandbox.output(), /\n\s+at /, 'no stack')
    assert.equal(await readPostmasterPid(dataDir), null)
  })

  test('regression: a data folder that is a file fails with one sentence that names the setting', async (t) => {
    const dataDir = join(await makeDataDir(t), 'file')
    await writeFile(dataDir, 'not a folder')
    const sandbox = spawnSandbox(t, { dataDir })
    assert.equal(await sandbox.exit, 1)
    assert.match(sandbox.output(), /^paybell: the data directory .* PAYBELL_DATA_DIR\.\n$/)
  })
})
