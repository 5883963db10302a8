// Kill -9 of the program and of the server: no committed row is lost, nothing is left over, and the next
// start always works. Every process killed here was started here.
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, afterEach, type TestContext, test } from 'node:test'
import pg from 'pg'
import { until } from '../../test/support/until.ts'
import { type EmbeddedDatabase, startEmbedded } from './database.ts'
import { findProcesses } from './leftovers.ts'
import { superviseEmbedded } from './supervisor.ts'

const small = { ephemeral: true, sharedBuffersMb: 16, maxConnections: 10, log: () => {} }

// One data directory for all: each test must leave it usable for the next.
const parent = await mkdtemp(join(tmpdir(), 'embedded-test-'))
const dataDir = join(parent, 'data')
const clusterDir = join(dataDir, 'pg')
const started: EmbeddedDatabase[] = []

afterEach(async () => {
  for (const database of started.splice(0)) await database.stop()
})
after(() => rm(parent, { recursive: true, force: true }))

async function query(url: string, sql: string) {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  return client.query(sql).finally(() => client.end())
}

/** A separate program that holds a database; on SIGINT it queries it, then stops it. */
async function startHolder(t: TestContext) {
  const script = `
    import pg from 'pg'
    const { startEmbedded } = await import(${JSON.stringify(import.meta.resolve('./database.ts'))})
    const options = ${JSON.stringify({ ...small, dataDir })}
    const database = await startEmbedded({ ...options, log() {} })
    const ask = async (sql) => {
      const client = new pg.Client({ connectionString: database.url })
      await client.connect()
      return (await client.query(sql).finally(() => client.end())).rows[0]
    }
    process.on('SIGINT', async () => {
      // A server that also got the Ctrl-C would have handled it before a later signal: once it has reloaded
      // its settings, it has handled all earlier ones.
      const { loaded } = await ask('select pg_conf_load_time()::text as loaded, pg_reload_conf()')
      let answer
      do answer = await ask('select 42 as answer, pg_conf_load_time()::text as loaded')
      while (answer.loaded === loaded)
      await database.stop()
      process.stdout.write(JSON.stringify(answer.answer) + '\\n', () => process.exit(0))
    })
    process.stdout.write(JSON.stringify({ url: database.url, postmaster: database.pid }) + '\\n')
    setInterval(() => {}, 1e6)`
  const holder = spawn(process.execPath, ['--input-type=module', '-e', script], {
    cwd: import.meta.dirname,
    detached: true, // A process group of its own, as a terminal would give it.
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.after(() => holder.kill('SIGKILL'))
  const lines = createInterface({ input: holder.stdout })[Symbol.asyncIterator]()
  const nextLine = async () => JSON.parse(`${(await lines.next()).value}`)
  return { holder, nextLine, ...((await nextLine()) as { url: string; postmaster: number }) }
}

async function killHard(holder: ChildProcess): Promise<void> {
  const gone = once(holder, 'exit')
  holder.kill('SIGKILL')
  await gone
}

const folderOf = (url: string) => new URL(url).searchParams.get('host') ?? ''
const isThere = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  )

test('another program is refused; after kill -9 of the holder its database stops by itself', async (t) => {
  const { holder, url } = await startHolder(t)
  const inUse = new RegExp(`in use by process ${holder.pid}\\b`)
  await assert.rejects(startEmbedded({ ...small, dataDir }), inUse)
  await killHard(holder)
  await until('no server', () => findProcesses(clusterDir).length === 0)
  await until('no socket folder', async () => !(await isThere(folderOf(url))))
})

test('a postmaster orphaned by kill -9 is stopped before the next start, and no committed row is lost', async (t) => {
  const { holder, url, postmaster } = await startHolder(t)
  await query(url, 'create table kept as select generate_series(1, 1000) as n')
  const busy = new pg.Client({ connectionString: url })
  busy.on('error', () => {})
  await busy.connect()
  await busy.query('begin; insert into kept values (-1)') // Still open, so it may be lost.

  for (const pid of watchdogsOf(holder.pid)) process.kill(pid, 'SIGKILL')
  await killHard(holder)
  assert.ok(process.kill(postmaster, 0), 'the orphan lives')

  const next = await startEmbedded({ ...small, dataDir })
  started.push(next)
  assert.equal(next.tookOver, 'recovered')
  assert.ok(!findProcesses(clusterDir).includes(postmaster))
  assert.equal(await isThere(folderOf(url)), false)
  const { rows } = await query(next.url, 'select count(*)::int as n from kept')
  assert.equal(rows[0].n, 1000)
  await busy.end()
})

test('of two starts at once after kill -9, one wins and the other refuses', async (t) => {
  const { holder } = await startHolder(t)
  await killHard(holder)
  const starts = await Promise.allSettled([
    startEmbedded({ ...small, dataDir }),
    startEmbedded({ ...small, dataDir }),
  ])
  for (const start of starts) if (start.status === 'fulfilled') await start.value.stop()
  assert.deepEqual(starts.map((start) => start.status).sort(), ['fulfilled', 'rejected'])
})

test('a postmaster killed -9 is replaced under the same url, and no committed row is lost', async () => {
  const up = Promise.withResolvers<void>()
  const down = Promise.withResolvers<void>()
  const options = { ...small, dataDir, onUp: up.resolve, onDown: down.resolve }
  const database = await superviseEmbedded(options)
  started.push(database)
  const { url, pid } = database
  await query(url, 'create table answers as select 42 as answer')
  const busy = new pg.Client({ connectionString: url })
  busy.on('error', () => {})
  await busy.connect()

  assert.ok(pid)
  process.kill(pid, 'SIGKILL')
  await down.promise
  await assert.rejects(query(url, 'select 1'))
  await up.promise
  assert.equal(database.url, url)
  assert.notEqual(database.pid, pid)
  assert.equal((await query(url, 'select answer from answers')).rows[0].answer, 42)
  await busy.end()
})

test('stop() during a restart ends both, and nothing runs afterwards', async () => {
  const down = Promise.withResolvers<void>()
  const database = await superviseEmbedded({ ...small, dataDir, onDown: down.resolve })
  process.kill(database.pid ?? assert.fail(), 'SIGKILL')
  await down.promise
  await database.stop()
  await assert.rejects(database.restart(), /has been stopped/)
  assert.deepEqual(findProcesses(clusterDir), [])
  assert.equal(await isThere(folderOf(database.url)), false)
})

test('a Ctrl-C to the whole process group leaves the database up until the program stops it', async (t) => {
  const { holder, nextLine, url } = await startHolder(t)
  const ended = once(holder, 'exit')
  process.kill(-(holder.pid ?? assert.fail()), 'SIGINT')
  assert.equal(await nextLine(), 42)
  assert.deepEqual((await ended)[0], 0)
  assert.deepEqual(findProcesses(clusterDir), [])
  assert.equal(await isThere(folderOf(url)), false)
})

function watchdogsOf(parent: number | undefined): number[] {
  if (process.platform !== 'linux') return []
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && isWatchdogOf(name, parent))
    .map(Number)
}

function isWatchdogOf(pid: string, parent: number | undefined): boolean {
  try {
    const parentPid = /^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
    return Number(parentPid) === parent && command.includes('paybell-watchdog')
  } catch {
    return false
  }
}
