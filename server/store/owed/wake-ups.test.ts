import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { cloneDatabase } from '../../../test/support/database.ts'
import { startTcpProxy } from '../../../test/support/database-proxy.ts'
import { nextTick } from '../../../test/support/engine-parts.ts'
import { until } from '../../../test/support/until.ts'
import { type WakeUp, WakeUps } from './wake-ups.ts'

const { pool, url } = await cloneDatabase()

class Listener {
  readonly heard: WakeUp[] = []
  readonly errors: Error[] = []
  gaps = 0
  readonly wakeUps: WakeUps

  constructor(t: Pick<TestContext, 'after'>, processId: string = randomUUID(), way = url) {
    this.wakeUps = new WakeUps({
      url: way,
      processId,
      onError: (error) => void this.errors.push(error),
    })
    t.after(() => this.wakeUps.stop())
  }

  start(): Promise<void> {
    return this.wakeUps.start({
      onWakeUp: (wakeUp) => void this.heard.push(wakeUp),
      onGap: () => void this.gaps++,
    })
  }

  get shards(): number[] {
    return this.heard.flatMap(({ shards }) => shards)
  }

  get endpointIds(): string[] {
    return this.heard.flatMap(({ endpoints }) => endpoints.map(({ endpointId }) => endpointId))
  }
}

async function startListeners(t: TestContext, count: number): Promise<Listener[]> {
  const listeners = Array.from({ length: count }, () => new Listener(t))
  await Promise.all(listeners.map((listener) => listener.start()))
  return listeners
}

async function connections(): Promise<number> {
  const { rows } = await pool.query(
    `select count(*) as count from pg_stat_activity
     where application_name = 'paybell wake-ups' and datname = current_database()`,
  )
  return rows[0]?.count
}

const notify = (payload: string) => pool.query('select pg_notify($1, $2)', ['paybell', payload])

test('two processes hear each other, and nobody hears itself', async (t) => {
  const [one, other] = (await startListeners(t, 2)) as [Listener, Listener]
  const lane = { clientKey: 4, endpointId: randomUUID(), shard: 9 }
  one.wakeUps.announceWork(17)
  one.wakeUps.announceEndpoint(lane)
  await until('the other heard', () => other.heard.length > 0)
  assert.deepEqual(other.shards, [17])
  assert.deepEqual(other.heard[0]?.endpoints, [lane])
  other.wakeUps.announceWork(3)
  await until('the one heard', () => one.heard.length > 0)
  assert.deepEqual(one.shards, [3])
  assert.deepEqual(other.shards, [17])
})

test('a retry is announced with its time, and a change right after it does not take it back', async (t) => {
  const [one, other] = (await startListeners(t, 2)) as [Listener, Listener]
  const lane = { clientKey: 4, endpointId: randomUUID(), shard: 9 }
  one.wakeUps.announceEndpoint({ ...lane, retriedAtMs: 1_000 })
  one.wakeUps.announceEndpoint(lane)
  await until('the other heard', () => other.heard.length > 0)
  assert.deepEqual(other.heard[0]?.endpoints, [{ ...lane, retriedAtMs: 1_000 }])
})

test('many announcements travel in one message, each thing once', async (t) => {
  const [one, other] = (await startListeners(t, 2)) as [Listener, Listener]
  for (let n = 0; n < 1_000; n++) one.wakeUps.announceWork(n % 64)
  await until('heard', () => other.heard.length > 0)
  assert.equal(other.heard.length, 1)
  assert.equal(new Set(other.shards).size, 64)
  assert.equal(other.shards.length, 64)
})

test('at most one message in 25 ms, however much there is to tell', async (t) => {
  const [one, other] = (await startListeners(t, 2)) as [Listener, Listener]
  t.mock.timers.enable({ apis: ['setTimeout'] })
  for (let ms = 0; ms < 100; ms++) {
    one.wakeUps.announceWork(ms % 64)
    t.mock.timers.tick(1)
    await nextTick()
  }
  assert.ok(other.heard.length <= 4)
  t.mock.timers.reset()
})

test('more endpoints than a message may hold go in several', async (t) => {
  const [one, other] = (await startListeners(t, 2)) as [Listener, Listener]
  const ids = Array.from({ length: 120 }, () => randomUUID())
  for (const endpointId of ids) {
    one.wakeUps.announceEndpoint({ clientKey: 2_147_483_647, endpointId, shard: 63 })
  }
  await until('all heard', () => other.endpointIds.length === 120)
  assert.deepEqual(new Set(other.endpointIds), new Set(ids))
  assert.equal(other.heard.length, 3)
  assert.deepEqual(one.errors, [])
})

test('regression: what is not ours is passed over, whatever it holds', async (t) => {
  const [listener] = (await startListeners(t, 1)) as [Listener]
  const foreign = [
    ...['', 'hello', 'null', '[]', '{}', '{"shards":[],"endpoints":{}}'],
    ...['{"shards":["1"],"endpoints":[]}', '{"shards":[],"endpoints":[null]}'],
    ...['{"shards":[],"endpoints":[{"clientKey":1,"endpointId":"x","shard":1}]}'],
    `{"shards":[],"endpoints":[{"endpointId":"${randomUUID()}","shard":1}]}`,
  ]
  for (const payload of foreign) await notify(payload)
  await notify('{"from":"another","shards":[5],"endpoints":[]}')
  await until('the last is heard', () => listener.heard.length > 0)
  assert.deepEqual(listener.shards, [5])
  assert.equal(listener.heard.length, 1)
})

test('F22: a killed connection is made again, and the gap is told', async (t) => {
  const [one, other] = (await startListeners(t, 2)) as [Listener, Listener]
  await pool.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where application_name = 'paybell wake-ups' and datname = current_database()`,
  )
  // Told while nobody is connected: sent when there is a connection again.
  await until('the loss is noticed', () => one.errors.length > 0)
  one.wakeUps.announceWork(33)
  await until('both are back', () => one.gaps === 1 && other.gaps === 1)
  one.wakeUps.announceWork(34)
  await until('heard', () => other.shards.includes(34))
})

test('regression: what was announced while the connection was lost is told when it is back', async (t) => {
  const [one, other] = (await startListeners(t, 2)) as [Listener, Listener]
  const { rows } = await pool.query<{ pid: number }>(
    `select pid from pg_stat_activity
     where application_name = 'paybell wake-ups' and datname = current_database()
     order by backend_start, pid`,
  )
  // Not known which of them is whose: both announce, and only one of them is cut off.
  await pool.query('select pg_terminate_backend($1)', [rows[0]?.pid])
  await until('the loss is noticed', () => one.errors.length + other.errors.length > 0)
  const [lost, listening] = one.errors.length > 0 ? [one, other] : [other, one]
  lost.wakeUps.announceWork(12)
  await until('heard', () => listening.shards.includes(12))
})

test('regression: a connection that no longer answers is replaced, and wake-ups go on', async (t) => {
  const proxy = await startTcpProxy(t, url)
  const [one, other] = [new Listener(t, randomUUID(), proxy.url), new Listener(t)]
  await Promise.all([one.start(), other.start()])
  proxy.isSilent = true
  one.wakeUps.announceWork(40)
  await until('the silence is noticed', () => one.errors.length > 0)
  proxy.isSilent = false
  await until('it is back', () => one.gaps === 1)
  one.wakeUps.announceWork(41)
  await until('heard', () => other.shards.includes(41))
  await one.wakeUps.stop()
})

test('regression: stopping while it is connecting leaves no connection behind', async (t) => {
  await until('the others are gone', async () => (await connections()) === 0)
  const listener = new Listener(t)
  const starting = listener.start()
  await listener.wakeUps.stop()
  await starting
  await until('gone', async () => (await connections()) === 0)
  listener.wakeUps.announceWork(1)
  await listener.wakeUps.stop()
})

test('a database that is away at the start is not an error of the start', async (t) => {
  const elsewhere = new URL(url)
  elsewhere.pathname = '/no_such_database'
  const errors: Error[] = []
  const wakeUps = new WakeUps({
    url: elsewhere.href,
    processId: randomUUID(),
    onError: (error) => void errors.push(error),
  })
  t.after(() => wakeUps.stop())
  await wakeUps.start({ onWakeUp() {}, onGap() {} })
  assert.ok(errors.length > 0)
  wakeUps.announceWork(1)
})

test('that leases have moved is told, and it is the last thing that a process tells', async (t) => {
  const [one, other] = (await startListeners(t, 2)) as [Listener, Listener]
  one.wakeUps.announceLeases()
  await until('heard', () => other.heard.length > 0)
  assert.equal(other.heard[0]?.leases, true)
  assert.deepEqual(other.shards, [])
  one.wakeUps.announceWork(3)
  await until('heard', () => other.shards.includes(3))
  assert.equal(other.heard[1]?.leases, undefined, 'told once')
  one.wakeUps.announceLeases()
  await one.wakeUps.stop()
  await until('heard', () => other.heard.length > 2)
  assert.equal(other.heard[2]?.leases, true)
})
