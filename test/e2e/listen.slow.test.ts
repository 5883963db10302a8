// `paybell listen` as developers run it: a process of its own, without an open port, that forwards to a
// real receiver. Its callbacks are deliveries like any other: attempts, order, retries, replays, none lost.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { retryPolicy } from '../../server/core/delivery/backoff.ts'
import { shardOf } from '../../server/core/delivery/endpoint.ts'
import { Caller, type SandboxFacts } from '../support/caller.ts'
import { type Started, startCommand } from '../support/command-line.ts'
import { freePort } from '../support/free-port.ts'
import type { Owner } from '../support/owner.ts'
import { type Paybell, SHORT_LEASES, startPaybell, until } from '../support/paybell.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { startServe, untilServed } from '../support/served.ts'

const MAIN = fileURLToPath(new URL('../../cli/main.ts', import.meta.url))

async function makeConfigDir(t: Owner): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'paybell-config-'))
  t.after(() => rm(dir, { recursive: true, force: true }))
  return dir
}

interface ListenOptions {
  configDir: string
  to?: Receiver
  args?: readonly string[]
  url?: string
}

async function listen(t: Owner, facts: SandboxFacts, options: ListenOptions): Promise<Started> {
  const forwardTo = options.to ? ['--forward-to', options.to.url()] : []
  const args = ['listen', '--name', 'laptop', ...forwardTo, ...(options.args ?? [])]
  const started = startCommand(t, args, {
    env: {
      PAYBELL_URL: options.url ?? facts.baseUrl,
      PAYBELL_CLIENT_ID: facts.clientId,
      PAYBELL_CLIENT_SECRET: facts.clientSecret,
      PAYBELL_ACCOUNT_ID: facts.accountId,
      XDG_CONFIG_HOME: options.configDir,
    },
  })
  await started.hasPrinted(/Listening as laptop/)
  return started
}

/** With a terminal, which has keys; null where no program can make one. */
async function listenAtTerminal(t: Owner, facts: SandboxFacts, to: Receiver) {
  const command = [process.execPath, MAIN, 'listen', '--name', 'laptop', '--forward-to', to.url()]
  const child = spawn('script', ['-qfec', command.join(' '), '/dev/null'], {
    env: {
      ...process.env,
      PAYBELL_URL: facts.baseUrl,
      PAYBELL_CLIENT_ID: facts.clientId,
      PAYBELL_CLIENT_SECRET: facts.clientSecret,
      PAYBELL_ACCOUNT_ID: facts.accountId,
      XDG_CONFIG_HOME: await makeConfigDir(t),
    },
  })
  t.after(() => {
    child.kill()
  })
  const isThere = await once(child, 'spawn').then(
    () => true,
    () => false,
  )
  if (!isThere) return null
  let printed = ''
  child.stdout.on('data', (chunk: Buffer) => {
    printed += chunk.toString()
  })
  await until('it takes keys', () => printed.includes('Press r'))
  return child
}

interface Item {
  id: string
  endpointUrl: string
  state: string
  attempts: number
  sequence: number
}

async function deliveries(caller: Caller): Promise<readonly Item[]> {
  const answer = await caller.get('/v1/deliveries?limit=200')
  return ((await answer.json()) as { items: Item[] }).items
}

async function attemptsOf(caller: Caller, id: string): Promise<(number | string | null)[]> {
  const { attemptLog } = (await (await caller.get(`/v1/deliveries/${id}`)).json()) as {
    attemptLog: { status: number | null; error: string | null }[]
  }
  return attemptLog.map(({ status, error }) => status ?? error)
}

function allDelivered(caller: Caller, count: number): Promise<readonly Item[]> {
  return until('all are delivered', async () => {
    const items = await deliveries(caller)
    return items.length === count && items.every(({ state }) => state === 'DELIVERED') && items
  })
}

async function end(listening: Started): Promise<string> {
  listening.process.kill('SIGINT')
  const { code, stderr } = await listening.ended
  assert.equal(code, 0, stderr)
  return stderr
}

describe('paybell listen', { concurrency: true }, () => {
  test('forwards the exact bytes, shows what happens, and a replay appears', async (t) => {
    const paybell = await startPaybell(t, { env: { PAYBELL_TIME_SCALE: '50' } })
    const { caller } = paybell
    const receiver = await startReceiver(t)
    const configDir = await makeConfigDir(t)
    receiver.answer = ({ headers }, response) => {
      if (headers['x-paybell-attempt'] !== '1') return 200
      response.writeHead(500).end('no such table: payments\nat line 7')
      return undefined
    }
    const listening = await listen(t, paybell, { configDir, to: receiver })
    await caller.write()
    const [delivery] = await allDelivered(caller, 1)
    const { id, endpointUrl, attempts } = delivery ?? assert.fail()
    assert.deepEqual([endpointUrl, attempts], ['listener:laptop', 2])
    assert.deepEqual(await attemptsOf(caller, id), [500, 200])
    await listening.hasPrinted(/<-- \[200\] POST http:\/\/127\.0\.0\.1:\d+\/hook \(\d+ ms\)/)
    const shown = listening.stdout()
    const arrived = `--> payment.created [${id}] seq 1 attempt`
    assert.ok(shown.includes(`${arrived} 1 signature ok\n`), shown)
    assert.match(shown, /<-- \[500\] POST .*\n {4}no such table: payments\n {4}at line 7\n/)
    const keyFile = join(configDir, 'paybell', 'listeners.json')
    assert.equal((await stat(keyFile)).mode & 0o777, 0o600)
    const [kept] = Object.values(JSON.parse(await readFile(keyFile, 'utf8'))) as {
      sharedKey: string
    }[]
    const key = kept?.sharedKey ?? assert.fail()
    assert.ok(listening.stderr().includes(`Shared key: ${key}`))
    const { headers, body, rawHeaders } = receiver.accepted[0] ?? assert.fail()
    assert.equal(headers['x-paybell-hmac'], createHmac('sha256', key).update(body).digest('hex'))
    assert.ok(rawHeaders.includes('X-Paybell-Sequence'), 'names as the service sends them')
    const exact = await caller.get(`/v1/events/${headers['webhook-id']}`)
    assert.deepEqual(Buffer.from(await exact.arrayBuffer()), body)
    const replay = await caller.call('POST', `/v1/deliveries/${id}/replay`)
    assert.equal(replay.status, 202)
    await receiver.hasSeen(({ accepted }) => accepted.length === 2)
    assert.equal(receiver.accepted[1]?.headers['x-paybell-replay'], 'true')
    await listening.hasPrinted(/attempt 3 replay signature ok/)
    await until('it is recorded', async () => (await attemptsOf(caller, id)).length === 3)
    receiver.answer = 200
    const list = (await (await caller.get('/v1/listeners')).json()) as { content: Item[] }
    const tested = await caller.call('POST', `/v1/listeners/${list.content[0]?.id}/test`)
    assert.equal(((await tested.json()) as { delivered: boolean }).delivered, true)
    await listening.hasPrinted(/\[test\] seq 1 attempt 1 test signature ok/)
    assert.match(await end(listening), /Stopped after 4 callbacks/)
  })

  test('r sends the last one again: at once while it is pending, as a replay when it has ended', async (t) => {
    // As after days of failures: what arrives again was hurried by the key.
    const sixHours = { baseMs: 21_600_000, capMs: 43_200_000, jitter: 0 }
    const paybell = await startPaybell(t, { timing: { retry: { ...retryPolicy(), ...sixHours } } })
    const { caller } = paybell
    const receiver = await startReceiver(t)
    receiver.answer = 401
    const terminal = await listenAtTerminal(t, paybell, receiver)
    if (terminal === null) return t.skip('there is no `script` to make a terminal with')
    await caller.write()
    await receiver.hasSeen(({ received }) => received.length === 1)
    const { id } = await until('the 401 is recorded', async () => {
      return (await deliveries(caller)).find(({ attempts }) => attempts === 1)
    })
    receiver.answer = 200
    terminal.stdin.write('r')
    await allDelivered(caller, 1)
    terminal.stdin.write('r')
    await receiver.hasSeen(({ accepted }) => accepted.length === 2)
    assert.equal(receiver.accepted[1]?.headers['x-paybell-replay'], 'true')
    await until(
      'it is recorded',
      async () => (await attemptsOf(caller, id)).join() === '401,200,200',
    )
    terminal.stdin.write('q')
    await once(terminal, 'exit')
  })

  test('without a listener all waits, and comes in order with the same key, failures or not', async (t) => {
    const paybell = await startPaybell(t, { env: { PAYBELL_TIME_SCALE: '100' } })
    const { caller } = paybell
    const receiver = await startReceiver(t)
    const configDir = await makeConfigDir(t)
    await end(await listen(t, paybell, { configDir, to: receiver }))
    const [a, b] = [await caller.write(), await caller.write()]
    for (const reference of ['2', '3']) {
      await caller.write(a, reference)
      await caller.write(b, reference)
    }
    const held = await deliveries(caller)
    assert.deepEqual(
      held.map(({ attempts }) => attempts),
      Array(6).fill(0),
    )
    // The second update of a is refused twice: its third waits, those of b do not.
    receiver.answer = ({ headers, body }) => {
      const isSecond = headers['x-paybell-sequence'] === '2' && body.includes(a)
      return isSecond && Number(headers['x-paybell-attempt']) < 3 ? 204 : 200
    }
    const args = ['--json', '--count', '8']
    const listening = await listen(t, paybell, { configDir, to: receiver, args })
    assert.match(listening.stderr(), /6 callbacks waited for you/)
    const { code, stdout } = await listening.ended
    assert.equal(code, 0)
    await allDelivered(caller, 6)
    for (const payment of [a, b]) {
      const accepted = receiver.accepted.filter(({ body }) => body.includes(payment))
      assert.deepEqual(receiver.sequences(accepted), [1, 2, 3])
    }
    const lines = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    assert.equal(lines.length, 8)
    assert.deepEqual(lines.filter(({ status }) => status === 204).length, 2)
    for (const line of lines) {
      assert.deepEqual([line.signature, line.recorded, line.error], ['ok', true, null])
      assert.match(line.deliveryId, /^[0-9a-f-]{36}$/)
    }
  })

  test('a receiver that is not there, and --fresh, and --forget', async (t) => {
    const paybell = await startPaybell(t)
    const { caller } = paybell
    const receiver = await startReceiver(t)
    const port = receiver.port
    await receiver.close()
    const configDir = await makeConfigDir(t)
    const closed = `http://127.0.0.1:${port}/hook`
    const args = ['--forward-to', closed]
    const listening = await listen(t, paybell, { configDir, args })
    await caller.write()
    await listening.hasPrinted(/<-- \[connect-error\] POST/)
    await listening.hasPrinted(/Nothing listens at 127\.0\.0\.1:\d+\. Start your receiver/)
    await until('it is recorded', async () => (await deliveries(caller))[0]?.attempts === 1)
    await end(listening)
    // Shown, and taken; what has waited is dropped.
    const fresh = await listen(t, paybell, { configDir, args: ['--fresh', '--forget'] })
    await until('it is cancelled', async () => (await deliveries(caller))[0]?.state === 'CANCELLED')
    await caller.write()
    await fresh.hasPrinted(/<-- \[200\] shown, not forwarded/)
    await end(fresh)
    const list = (await (await caller.get('/v1/listeners')).json()) as { content: Item[] }
    assert.deepEqual(list.content, [])
  })

  test('one process is asked, another owns the shard', async (t) => {
    const first = await startPaybell(t)
    const second = await startPaybell(t, { beside: first })
    const receiver = await startReceiver(t)
    const configDir = await makeConfigDir(t)
    const { caller } = first
    const listening = await listen(t, first, { configDir, to: receiver })
    const list = (await (await caller.get('/v1/listeners')).json()) as { content: Item[] }
    const shard = shardOf(list.content[0]?.id ?? assert.fail())
    const owner = await until('the shards are shared out', () => {
      const isShared = [first, second].every((one) => shardsOf(one).length === 32)
      return isShared && [first, second].find((one) => shardsOf(one).includes(shard))
    })
    // The one that does not own it is asked from now on.
    await end(listening)
    const asked = owner === first ? second : first
    const elsewhere = await listen(t, first, { configDir, to: receiver, url: asked.baseUrl })
    for (let n = 0; n < 5; n++) await caller.write()
    const items = await allDelivered(caller, 5)
    for (const { id } of items) assert.deepEqual(await attemptsOf(caller, id), [200])
    assert.equal(receiver.received.length, 5)
    await end(elsewhere)
  })

  test('it survives a server that is killed and started again, and so does what was in its hands', async (t) => {
    const receiver = await startReceiver(t)
    const made = await startPaybell(t)
    await made.stop()
    const baseUrl = `http://127.0.0.1:${await freePort()}`
    const facts = { ...made, baseUrl }
    const caller = new Caller(facts)
    const env = {
      PORT: new URL(baseUrl).port,
      PAYBELL_MASTER_KEY: made.masterKey.toString('base64'),
      PAYBELL_OPERATOR_KEY: made.operatorKey,
    }
    const killed = startServe(t, made.database, env)
    await untilServed(killed)
    const configDir = await makeConfigDir(t)
    const listening = await listen(t, facts, { configDir, to: receiver })
    const answer = Promise.withResolvers<void>()
    receiver.answer = (_, response) => {
      void answer.promise.then(() => response.end())
      return undefined
    }
    await caller.write()
    await receiver.hasSeen(({ received }) => received.length === 1)
    killed.process.kill('SIGKILL')
    assert.equal((await killed.ended).code, 'SIGKILL')
    await listening.hasPrinted(/cannot be reached: .*Trying again/)
    receiver.answer = 200
    answer.resolve()
    // Which takes over what the dead one held in a moment, and not after half a minute.
    const again = { beside: made, env: { PORT: env.PORT }, leasePolicy: SHORT_LEASES }
    await startPaybell(t, again)
    await caller.write()
    await listening.hasPrinted(/Connected again\./)
    await allDelivered(caller, 2)
    assert.equal(new Set(receiver.accepted.map(({ headers }) => headers['webhook-id'])).size, 2)
    await end(listening)
  })
})

function shardsOf(paybell: Paybell): readonly number[] {
  return (paybell.app.deps.engine as unknown as { shards: readonly number[] }).shards
}
