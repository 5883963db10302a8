// The embedded database as its users meet it: started, stopped, refused, killed.
import assert from 'node:assert/strict'
import {
  chmod,
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, afterEach, test } from 'node:test'
import pg from 'pg'
import { findBinaries, reachableBinaries } from './binaries.ts'
import { type EmbeddedDatabase, type EmbeddedOptions, startEmbedded } from './database.ts'
import { findProcesses } from './leftovers.ts'
import { chooseRunAs } from './run-as.ts'
import { makeRunDir, removeRunDir } from './run-dir.ts'

// One data directory for most tests, one after the other: only a first start is slow.
const parent = await mkdtemp(join(tmpdir(), 'embedded-test-'))
const dataDir = join(parent, 'data')
const started: EmbeddedDatabase[] = []

afterEach(async () => {
  for (const database of started.splice(0)) await database.stop()
})
after(() => rm(parent, { recursive: true, force: true }))

async function start(more: Partial<EmbeddedOptions> = {}) {
  const small = { ephemeral: true, sharedBuffersMb: 16, maxConnections: 10, log: () => {} }
  const database = await startEmbedded({ dataDir, ...small, ...more })
  started.push(database)
  return database
}

async function query(database: EmbeddedDatabase, sql: string) {
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  return client.query(sql).finally(() => client.end())
}

test('from nothing to a private, durable PostgreSQL 18; what it stored is there next time', async () => {
  const first = await start({ ephemeral: false })
  assert.equal(first.tookOver, 'fresh')
  assert.match(first.version, /^18\./)
  const { rows } = await query(
    first,
    `select current_setting('listen_addresses') as tcp, current_setting('fsync') as fsync,
       current_setting('data_checksums') as checksums, current_setting('shared_buffers') as buffers,
       (select datlocale from pg_database where datname = 'postgres') as locale`,
  )
  assert.deepEqual(rows[0], {
    tcp: '',
    fsync: 'on',
    checksums: 'on',
    buffers: '16MB',
    locale: 'C.UTF-8',
  })
  await query(first, 'create table kept as select 42 as answer')

  const socketDir = new URL(first.url).searchParams.get('host') ?? ''
  assert.equal((await stat(socketDir)).mode & 0o777, 0o700)
  const stranger = new URL(first.url)
  stranger.password = 'guess'
  const refused = new pg.Client({ connectionString: stranger.href })
  await assert.rejects(refused.connect(), /password authentication failed/)

  await Promise.all([first.stop(), first.stop()])
  await assert.rejects(stat(socketDir), { code: 'ENOENT' })
  assert.deepEqual(findProcesses(join(dataDir, 'pg')), [])
  assert.deepEqual((await readdir(dataDir)).sort(), ['lock', 'pg', 'pg.log'])

  const second = await start()
  assert.equal(second.tookOver, 'clean')
  assert.equal((await query(second, 'select answer from kept')).rows[0].answer, 42)
})

test('a second start on a live data directory refuses, naming the holder, and harms nothing', async () => {
  const first = await start()
  await assert.rejects(start(), (error: Error) => {
    assert.match(error.message, new RegExp(`in use by process ${process.pid}\\b`))
    assert.match(error.message, /PAYBELL_DATA_DIR/)
    return true
  })
  // The refusal must not have dropped the lock of this process either.
  await assert.rejects(start(), /in use/)
  assert.equal((await query(first, 'select 1 as one')).rows[0].one, 1)
})

test('two data directories run side by side, also below a path too long for a socket', async () => {
  const deep = join(parent, 'd'.repeat(60), 'e'.repeat(60))
  const [one, two] = await Promise.all([start(), start({ dataDir: deep })])
  await query(one, 'create table here ()')
  await assert.rejects(query(two, 'select from here'), /does not exist/)
})

test('a cluster that a crash left half-made is thrown away, a foreign folder is not', async () => {
  await mkdir(join(dataDir, 'pg.unfinished-abc', 'base'), { recursive: true })
  const database = await start()
  await database.stop()
  assert.deepEqual((await readdir(dataDir)).sort(), ['lock', 'pg', 'pg.log'])

  const versionFile = join(dataDir, 'pg', 'PG_VERSION')
  await rm(versionFile)
  await assert.rejects(start(), /is not a database/)
  await writeFile(versionFile, '17\n')
  await assert.rejects(start(), /made by PostgreSQL 17/)
  await writeFile(versionFile, '18\n')
  await start()
})

test('a recycled pid in postmaster.pid neither blocks the start nor gets its process killed', async () => {
  const first = await start()
  await first.stop()
  // This process is alive, belongs to us, and is no postgres.
  const lines = [process.ppid, join(dataDir, 'pg'), 1, 5432, '/tmp', '', '', 'ready', '']
  await writeFile(join(dataDir, 'pg', 'postmaster.pid'), lines.join('\n'))
  const second = await start()
  assert.equal((await query(second, 'select 1 as one')).rows[0].one, 1)
  assert.ok(process.kill(process.ppid, 0))
})

test("a failed start says what PostgreSQL's log says, and leaves nothing over", async () => {
  const first = await start()
  await first.stop()
  const config = join(dataDir, 'pg', 'postgresql.conf')
  const good = await readFile(config, 'utf8')
  await writeFile(config, `${good}\nno_such_setting = 1\n`)
  await assert.rejects(start(), /ended while it was starting.*no_such_setting/s)
  assert.deepEqual(findProcesses(join(dataDir, 'pg')), [])
  await writeFile(config, good)
  assert.equal((await start()).tookOver, 'clean')
})

const notRoot =
  process.getuid?.() !== 0 && 'only root can make folders that its server cannot enter'

test('root: a data directory below closed folders works, and stays closed', {
  skip: notRoot,
}, async () => {
  // mkdtemp gave the parent mode 0700.
  const first = await start()
  assert.equal((await stat(dirname(dataDir))).mode & 0o777, 0o700)
  assert.equal((await stat(dataDir)).mode & 0o777, 0o700)
  assert.notEqual((await stat(join(dataDir, 'pg'))).uid, 0)
  await first.stop()
  // Restored from a backup by root: owner and mode are root's, and are put right again.
  await rename(join(dataDir, 'pg'), join(dataDir, 'copy'))
  await cp(join(dataDir, 'copy'), join(dataDir, 'pg'), { recursive: true })
  await chmod(join(dataDir, 'pg'), 0o755)
  await query(await start(), 'select answer from kept')
})

test('root: programs in a closed folder are copied to where the server can run them', {
  skip: notRoot,
}, async (t) => {
  const closed = await mkdtemp(join(tmpdir(), 'embedded-test-'))
  t.after(async () => {
    await removeRunDir(closed)
    await rm(closed, { recursive: true, force: true })
  })
  const { postgres } = await findBinaries()
  for (const part of ['bin', 'lib']) {
    await cp(join(dirname(dirname(postgres)), part), join(closed, 'native', part), {
      recursive: true,
      verbatimSymlinks: true,
    })
  }
  const programs = { initdb: '', pg_ctl: '', postgres: join(closed, 'native', 'bin', 'postgres') }
  const runAs = await chooseRunAs(closed, join(closed, 'pg'))
  const runDir = await makeRunDir(closed, runAs)
  const reachable = reachableBinaries(programs, runAs, runDir)
  assert.equal(reachable.postgres, join(runDir, 'native', 'bin', 'postgres'))
})
