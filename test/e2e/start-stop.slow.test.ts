// Starting and stopping the sandbox (decisions §11.1): real processes, ended by their own number. A start is dear: what
// can be asked of one start is asked of it.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { existsSync, statSync } from 'node:fs'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { limitOf } from '../support/busy-machine.ts'
import { Caller } from '../support/caller.ts'
import { until } from '../support/paybell.ts'
import { isRunning, readPostmasterPid, readRunDir } from '../support/postmaster.ts'
import { startReceiver } from '../support/receiver.ts'
import {
  makeDataDir,
  makeDataDirWithCluster,
  type Sandbox,
  spawnSandbox,
  startSandbox,
} from '../support/sandbox.ts'

interface Listed {
  items: { state: string; event: string; attempts: number }[]
}

interface Seen {
  received: { status: number; signatureValid: boolean | null }[]
}

const UNFINISHED =
  'POST /auth/token HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{'

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

/** Kept connections, and requests that never end. */
async function leaveOpen(t: TestContext, baseUrl: string): Promise<void> {
  const agent = new Agent({ keepAlive: true })
  t.after(() => agent.destroy())
  await new Promise((resolve, reject) => {
    const call = request(`${baseUrl}/livez`, { agent }, (response) => {
      response.resume().on('end', resolve)
    })
    call.on('error', reject).end()
  })
  const { hostname, port } = new URL(baseUrl)
  for (const beginning of ['GET /livez HTTP/1.1\r\nHo', UNFINISHED]) {
    const socket = connect(Number(port), hostname).on('error', () => {})
    t.after(() => socket.destroy())
    socket.write(beginning)
  }
}

async function asOperator<T>(sandbox: Sandbox, path: string): Promise<T> {
  const headers = { authorization: `Bearer ${sandbox.operatorKey}` }
  const answer = await fetch(`${sandbox.baseUrl}${path}`, { headers })
  assert.equal(answer.status, 200, path)
  return answer.json() as Promise<T>
}

async function countClients(sandbox: Sandbox): Promise<number> {
  return (await asOperator<{ totalElements: number }>(sandbox, '/operator/v1/clients'))
    .totalElements
}

test('two starts of one sandbox, and all between them', async (t) => {
  const receiver = await startReceiver(t)
  const dataDir = await makeDataDirWithCluster(t)
  const first = await startSandbox(t, {
    dataDir,
    command: ['npm', 'start'],
    env: { PAYBELL_SANDBOX_SEED: 'on', PAYBELL_TIME_SCALE: '50' },
  })
  const { baseUrl, operatorKey, clientId, clientSecret, accountId } = first
  const caller = new Caller(first)

  await t.test('npm start prints how to begin, and leaves a file of it', async () => {
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
  })

  await t.test(
    'the first start shows a delivery that failed twice, and leaves the printed client alone',
    async () => {
      const delivered = await until('both updates are delivered', async () => {
        const { items } = await asOperator<Listed>(first, '/operator/v1/deliveries')
        return items.length === 2 && items.every(({ state }) => state === 'DELIVERED') && items
      })
      assert.deepEqual(
        delivered.map(({ event, attempts }) => [event, attempts]),
        [
          ['payment.due', 1],
          ['payment.created', 3],
        ],
      )
      const view = await asOperator<Seen>(first, '/sandbox/receiver/demo')
      assert.deepEqual(
        view.received.map(({ status }) => status),
        [200, 200, 500, 500],
      )
      assert.ok(view.received.every(({ signatureValid }) => signatureValid))
      assert.equal(await countClients(first), 2)
      const own = (await (await caller.get('/v1/webhooks')).json()) as { totalElements: number }
      assert.equal(own.totalElements, 0)
      const subscription = { callbackUrl: `${baseUrl}/x`, sharedKey: 'k' }
      const subscribed = (await (await caller.subscribe(subscription)).json()) as {
        reference: string
      }
      assert.equal(subscribed.reference, 'SPECIMEN')
    },
  )

  await t.test(
    'F27: a second sandbox on the same data directory refuses in one sentence, and leaves the first alone',
    async () => {
      const other = spawnSandbox(t, { dataDir })
      const code = await other.exit
      assert.ok(typeof code === 'number' && code > 0, `${code}`)
      const lines = other.output().trim().split('\n')
      assert.equal(lines.length, 1, other.output())
      const [, pid] = /data directory .* is in use by process (\d+)/.exec(other.output()) ?? []
      assert.ok(isRunning(Number(pid ?? assert.fail(other.output()))))
      assert.equal((await fetch(`${baseUrl}/readyz`)).status, 200)
      const file = await readFile(join(dataDir, 'sandbox.json'), 'utf8').catch(() => null)
      assert.ok(file, 'the first one’s sandbox.json is still there')
    },
  )

  await t.test('SIGINT reaches it through npm, and stops everything with exit code 0', async () => {
    receiver.answer = 500
    await caller.register(receiver.url(), 'key')
    const id = randomUUID()
    for (const reference of ['1', '2', '3']) await caller.write(id, reference)
    await receiver.hasSeen(({ received }) => received.length >= 1)
    await stop(first, 'SIGINT')
  })

  receiver.answer = 200
  const second = await startSandbox(t, {
    dataDir,
    env: { PAYBELL_TIMESCALE: '1000', PAYBELL_SANDBOX_SEED: 'on' },
  })

  await t.test(
    'regression: it prints a misspelt setting, its welcome, and then the request id of what it refuses',
    async () => {
      const [line, ...rest] = second.output().split('\n')
      assert.match(line ?? '', /PAYBELL_TIMESCALE is not a setting.* mean PAYBELL_TIME_SCALE\?/)
      // No other line of the log: the only braces are those of the call to paste.
      assert.match(rest.join('\n'), /^Paybell sandbox is ready[^{}]*\{"clientId"[^{}]*\}'\n[^{}]*$/)
      const refused = await fetch(`${second.baseUrl}/v1/webhooks/list`)
      assert.equal(refused.status, 401)
      const id = refused.headers.get('x-request-id') ?? assert.fail()
      await until('it is in the log', () => second.output().includes(`"requestId":"${id}"`))
    },
  )

  await t.test(
    'the next start has the same credentials and all data, adds none, and sends what was owed',
    async () => {
      assert.deepEqual(
        [second.operatorKey, second.clientId, second.clientSecret, second.accountId],
        [operatorKey, clientId, clientSecret, accountId],
      )
      await receiver.hasSeen(({ accepted }) => accepted.length === 3)
      assert.deepEqual(receiver.sequences(), [1, 2, 3])
      const list = await (await new Caller(second).get('/v1/webhooks/list')).json()
      assert.equal((list as { totalElements: number }).totalElements, 1)
      assert.equal(await countClients(second), 2, 'no demo shop is added again')
    },
  )

  await t.test(
    'F19: kept connections, an attempt that hangs and requests that never end do not keep it from stopping',
    async () => {
      await leaveOpen(t, second.baseUrl)
      receiver.answer = 'hang'
      const before = receiver.received.length
      await new Caller(second).write()
      await receiver.hasSeen(({ received }) => received.length > before)
      const askedAt = performance.now()
      const stopped = stop(second, 'SIGTERM')
      second.process.kill('SIGTERM') // Twice is the same as once.
      await stopped
      const tookMs = performance.now() - askedAt
      assert.ok(tookMs < limitOf(25_000), `within the deadline of the attempt: ${tookMs}`)
    },
  )
})

// They mostly wait, once they have started.
describe('a start that fails, or is broken off', { concurrency: true }, () => {
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
