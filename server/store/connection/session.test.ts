import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import pg from 'pg'
import { cloneDatabase, testServerUrl } from '../../../test/support/database.ts'
import { startTcpProxy } from '../../../test/support/database-proxy.ts'
import { endsWithin } from '../../../test/support/ends-within.ts'
import { onServer } from '../../../test/support/test-server.ts'
import { createClient, createPool, type Db, isDatabaseAway, PREPARED } from './db.ts'
import { CONNECT_MS_MAX, sessionOf } from './session.ts'
import { inSnapshot } from './snapshot.ts'

/** PostgreSQL lists no setting of a name that it does not know. */
const { 'paybell.cell': cell, ...SESSION } = sessionOf(0)

/** All that a session of ours depends on, the other way round. */
const CONTRARY: Record<string, string> = {
  enable_seqscan: 'on',
  search_path: 'public',
  jit: 'on',
  random_page_cost: '4',
  timezone: 'Pacific/Chatham',
  datestyle: 'German, DMY',
  default_transaction_isolation: 'serializable',
}

const { url, pool } = await cloneDatabase()
const name = new URL(url).pathname.slice(1)
await onServer(await testServerUrl(), async (client) => {
  const settings = { ...CONTRARY, statement_timeout: '1h' }
  for (const [setting, value] of Object.entries(settings)) {
    const literal = setting === 'search_path' ? value : pg.escapeLiteral(value)
    await client.query(`alter database ${name} set ${setting} = ${literal}`)
  }
})

function openPool(options: { url?: string; connectionsMax?: number } = {}) {
  const opened = createPool({
    url,
    connectionsMax: 1,
    onIdleError: () => {},
    applicationName: 'paybell test',
    ...options,
  })
  after(() => opened.end())
  return opened
}

const IN_FORCE = {
  text: `select lower(name) as name, setting from pg_settings where lower(name) = any($1)`,
  values: [[...Object.keys(SESSION), ...Object.keys(PREPARED)]],
}

test('regression: jit is off in our sessions, whatever the server, the database or the role says', async () => {
  const { rows } = await openPool().query('show jit')
  assert.deepEqual(rows, [{ jit: 'off' }])
  const client = createClient(url, 'paybell test')
  await client.connect()
  assert.deepEqual((await client.query('show jit')).rows, [{ jit: 'off' }])
  await client.end()
})

test('every setting of a session is in force from its first statement on, in a crowd, too', async () => {
  const crowd = openPool({ connectionsMax: 8 })
  const expected = new Map<string, string>(Object.entries({ ...SESSION, ...PREPARED }))
  // As many statements as connections: each is the first of its own.
  const answers = await Promise.all(Array.from({ length: 8 }, () => crowd.query(IN_FORCE)))
  assert.equal(crowd.totalCount, 8)
  for (const { rows } of answers) {
    assert.equal(rows.length, expected.size)
    for (const row of rows) assert.equal(row.setting, expected.get(row.name), row.name)
  }
  assert.deepEqual(Object.keys(CONTRARY).sort(), [...expected.keys()].sort())
  const cells = await crowd.query(`select current_setting('paybell.cell') as cell`)
  assert.deepEqual(cells.rows, [{ cell }])
  const timeouts = await crowd.query(`select current_setting('statement_timeout') as statement,
    current_setting('idle_in_transaction_session_timeout') as idle`)
  assert.deepEqual(timeouts.rows, [{ statement: '9500ms', idle: '30s' }])
})

test('regression: every session asks the server to notice a host that is gone', async () => {
  const asked = {
    text: `select name, source from pg_settings where name like 'tcp\\_%' order by 1`,
  }
  const client = createClient(url, 'paybell test')
  await client.connect()
  for (const db of [client, openPool()]) {
    const { rows } = await db.query(asked)
    assert.deepEqual(
      rows.map(({ name, source }) => [name, source]),
      ['count', 'idle', 'interval']
        .map((one) => [`tcp_keepalives_${one}`, 'session'])
        .concat([['tcp_user_timeout', 'session']]),
    )
  }
  await client.end()
})

test('only what a pool prepares is kept from reading whole tables', async () => {
  const show = async (db: Db) => (await db.query('show enable_seqscan')).rows[0]?.enable_seqscan
  const one = openPool()
  assert.equal(await show(one), 'off')
  // Lists plan for the tables as they are.
  assert.equal(await inSnapshot(one, show), 'on')
  assert.equal(await show(one), 'off')
  // Migrations, the doctor, wake-ups.
  const client = createClient(url, 'paybell test')
  await client.connect()
  assert.equal(await show(client), 'on')
  await client.end()
})

test('regression: what the address sets for itself does not take our settings away', async () => {
  const own = new URL(url)
  own.searchParams.set('options', '-c work_mem=7MB')
  const { rows } = await openPool({ url: own.href }).query(
    `select current_setting('search_path') as path, current_setting('work_mem') as memory`,
  )
  assert.deepEqual(rows, [{ path: 'paybell', memory: '7MB' }])
})

test('regression: a connection begins with nothing that PgBouncer refuses', async (t) => {
  const proxy = await startTcpProxy(t, url)
  await openPool({ url: proxy.url }).query('select 1')
  const client = createClient(proxy.url, 'paybell test')
  await client.connect()
  await client.end()
  assert.equal(proxy.firstBytes.length, 2)
  for (const packet of proxy.firstBytes) {
    // A length and a version, then names and values, each ended by a zero.
    const words = packet.subarray(8).toString().split('\0')
    const names = words.filter((_, index) => index % 2 === 0 && words[index] !== '')
    // PgBouncer takes these four, and refuses all else unless it is told to ignore it.
    const taken = ['user', 'database', 'application_name', 'client_encoding']
    assert.deepEqual(
      names.filter((word) => !taken.includes(word)),
      [],
    )
  }
})

test('regression: TLS as most addresses ask for it prints no warning', async () => {
  const warnings: Error[] = []
  const note = (warning: Error) => warnings.push(warning)
  process.on('warning', note)
  const client = createClient('postgres://x@127.0.0.1:1/x?sslmode=require', 'paybell test')
  await assert.rejects(client.connect(), /ECONNREFUSED/)
  // Warnings come a turn later.
  await new Promise(setImmediate)
  process.off('warning', note)
  assert.deepEqual(warnings, [])
})

test('a connection that cannot be set up is none, and the pool goes on', async (t) => {
  const role = `limited_${name}`
  await pool.query(`create role ${role} login password 'x' connection limit 1`)
  t.after(() => pool.query(`drop role ${role}`))
  const limited = new URL(url)
  limited.username = role
  limited.password = 'x'
  const small = openPool({ url: limited.href, connectionsMax: 2 })
  const held = await small.connect()
  await assert.rejects(small.query('select 1'), isDatabaseAway)
  held.release()
  assert.equal((await small.query('select 1 as one')).rows[0]?.one, 1)
})

test('regression: a server that takes the connection and says nothing is away after the time to connect', async (t) => {
  const proxy = await startTcpProxy(t, url)
  proxy.isSilent = true
  const isLate = (error: unknown) => {
    assert.match(String(error), /timeout exceeded when trying to connect/)
    return isDatabaseAway(error)
  }
  // A second, because the address says so.
  const asked = `${proxy.url}?connect_timeout=1`
  await endsWithin(CONNECT_MS_MAX, async () => {
    await assert.rejects(createClient(asked, 'paybell test').connect(), isLate)
    await assert.rejects(openPool({ url: asked }).query('select 1'), isDatabaseAway)
  })
  const startedAt = performance.now()
  await assert.rejects(createClient(proxy.url, 'paybell test').connect(), isLate)
  assert.ok(performance.now() - startedAt > CONNECT_MS_MAX - 5, 'the usual time')
})
