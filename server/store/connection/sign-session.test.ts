import assert from 'node:assert/strict'
import { before, type TestContext, test } from 'node:test'
import { cloneDatabase, type TestDatabase } from '../../../test/support/database.ts'
import { startTcpProxy } from '../../../test/support/database-proxy.ts'
import { endsWithin } from '../../../test/support/ends-within.ts'
import { until } from '../../../test/support/paybell.ts'
import { createClient } from './db.ts'
import { openSignSession } from './sign-session.ts'

/** However busy the machine is, it opens in time. */
const OPEN_MS_MAX = 30_000

let database: TestDatabase
before(async () => {
  database = await cloneDatabase()
})

async function open(t: TestContext, onEnd = () => {}) {
  const sign = await openSignSession({ url: database.url, openMsMax: OPEN_MS_MAX }, onEnd)
  t.after(() => sign.close())
  return sign
}

/** Of the session that has this sign. */
async function asSuperuser(t: TestContext, sql: string, values: unknown[] = []) {
  const client = createClient(database.url, 'test')
  await client.connect()
  t.after(() => client.end())
  return client.query(sql, values)
}

const IS_OF = `locktype = 'advisory' and objid = split_part($1, '/', 2)::oid`

test('a sign has ended when its session has, however that came about, and not before', async (t) => {
  const [one, other] = [await open(t), await open(t)]
  assert.notEqual(one.name, other.name)
  assert.deepEqual(await one.beat([other.name]), [])
  assert.deepEqual(await other.beat([one.name]), [])
  other.close()
  await until('the server has noticed', async () => (await one.beat([other.name])).length > 0)
  assert.deepEqual(await one.beat([other.name]), [other.name])
})

test('one whose session was ended by the server is told, and its beat fails', async (t) => {
  let isTold = false
  const one = await open(t, () => {
    isTold = true
  })
  const watcher = await open(t)
  await asSuperuser(t, `select pg_terminate_backend(pid) from pg_locks where ${IS_OF}`, [one.name])
  await until('it is told', () => isTold)
  await assert.rejects(one.beat([]))
  await until('others see it', async () => (await watcher.beat([one.name])).length > 0)
})

test('signs of another server say nothing: it alone knows whether they have ended', async (t) => {
  const one = await open(t)
  const [, key] = one.name.split('/')
  assert.deepEqual(await one.beat([`1/${key}`, '1/5', 'nonsense', '']), [])
})

test('two who ask about the same sign at once do not meet', async (t) => {
  const [one, other, gone] = [await open(t), await open(t), await open(t)]
  gone.close()
  await until('the server has noticed', async () => (await one.beat([gone.name])).length > 0)
  const ask = async (by: typeof one) => {
    for (let n = 0; n < 25; n++) assert.deepEqual(await by.beat([gone.name]), [gone.name])
  }
  await Promise.all([ask(one), ask(other)])
})

test('regression: a server that says nothing is given up in time, also when it has taken the connection', async (t) => {
  for (const silentFrom of [undefined, 'pg_try_advisory_lock']) {
    const proxy = await startTcpProxy(t, database.url, { silentFrom })
    proxy.isSilent = silentFrom === undefined
    // A statement alone would wait for 10 s, and a connection for as long as its address says.
    const url = new URL(proxy.url)
    url.searchParams.set('connect_timeout', '600')
    const options = { url: url.href, openMsMax: 2_000 }
    await endsWithin(9_000, () => assert.rejects(openSignSession(options, () => {})))
    assert.ok(proxy.isSilent, 'it was not refused')
  }
})
