// Migrating beside healthy processes, long readers and each other: nothing waits for ever, no writer stops,
// and a migration whose text has changed is told by name.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { appendFile, cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Pool } from 'pg'
import { cloneDatabase } from '../../../test/support/database.ts'
import type { Owner } from '../../../test/support/owner.ts'
import { until } from '../../../test/support/paybell.ts'
import { MIGRATIONS_DIR, migrate } from './migrate.ts'

/** The migrations of this program, and one more that changes a busy table. */
async function copyMigrations(t: Owner): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'paybell-migrations-'))
  t.after(() => rm(dir, { recursive: true, force: true }))
  await cp(MIGRATIONS_DIR, dir, { recursive: true })
  await writeFile(join(dir, '9999_try.sql'), 'alter table payments add column tried text;\n')
  return dir
}

async function readPayments(t: Owner, pool: Pool) {
  const reader = await pool.connect()
  t.after(() => reader.release(true))
  await reader.query('begin')
  await reader.query('lock table payments in access share mode')
  return reader
}

async function insertPayment(pool: Pool): Promise<void> {
  await pool.query(
    `insert into payments (client_key, id, account_id, sequence, text, accepted_at, changed_at)
     values (1, $1, $1, 1, '{}', now(), now())`,
    [randomUUID()],
  )
}

test('regression: a migration beside a long reader stops no writer, and is done when it can be', async (t) => {
  const { pool, url } = await cloneDatabase()
  const migrationsDir = await copyMigrations(t)
  const reader = await readPayments(t, pool)
  const migrating = migrate(url, new Date(), {
    migrationsDir,
    lockTries: { triesMax: 10_000, pauseMs: 10 },
  })
  // It has tried, given up and come back: what it had to wait for is over again and again.
  const tries = await pool.connect()
  t.after(() => tries.release())
  const waits = async () => {
    const { rows } = await tries.query<{ waits: boolean }>(
      `select exists (select from pg_locks where not granted
         and relation = 'payments'::regclass and mode = 'AccessExclusiveLock') as waits`,
    )
    return rows[0]?.waits
  }
  for (const isWaiting of [true, false, true, false]) {
    await until(`waits: ${isWaiting}`, async () => {
      const before = await waits()
      // It queues for the lock too, so that it is done just when the migration gives up.
      await insertPayment(pool)
      return before === isWaiting || (await waits()) === isWaiting
    })
  }
  await reader.query('commit')
  assert.deepEqual(await migrating, ['9999_try'])
})

test('regression: a migration that gets no lock says who is in the way, and has changed nothing', async (t) => {
  const { pool, url } = await cloneDatabase()
  const migrationsDir = await copyMigrations(t)
  const reader = await readPayments(t, pool)
  const { rows } = await reader.query('select pg_backend_pid() as pid')
  await assert.rejects(
    migrate(url, new Date(), { migrationsDir, lockTries: { triesMax: 2, pauseMs: 10 } }),
    ({ message }: Error) =>
      message.startsWith('the schema could not be migrated: a lock was not to be had in 2 tries') &&
      message.includes(`session ${rows[0].pid} (paybell test)`),
  )
  const applied = await pool.query(`select from migrations where name = '9999_try'`)
  assert.equal(applied.rowCount, 0)
})

test('regression: migrations of an upgrade are committed one by one, and one that gets no lock holds none before it', async (t) => {
  const { pool, url } = await cloneDatabase()
  const migrationsDir = await copyMigrations(t)
  await writeFile(
    join(migrationsDir, '9998_first.sql'),
    'alter table events add column tried text;\n',
  )
  const reader = await readPayments(t, pool)
  const lockTries = { triesMax: 2, pauseMs: 10 }
  await assert.rejects(
    migrate(url, new Date(), { migrationsDir, lockTries }),
    /goes on where it stopped/,
  )
  const { rows } = await pool.query(`select name from migrations where name like '99%'`)
  assert.deepEqual(rows, [{ name: '9998_first' }])
  await reader.query('commit')
  assert.deepEqual(await migrate(url, new Date(), { migrationsDir }), ['9999_try'])
})

test('regression: a migration whose text has changed is told by name, and nothing is done', async (t) => {
  const { pool, url } = await cloneDatabase()
  const migrationsDir = await copyMigrations(t)
  await appendFile(join(migrationsDir, '0001_first.sql'), '-- a word more\n')
  await assert.rejects(migrate(url, new Date(), { migrationsDir }), {
    message:
      'migration 0001_first is not the one that this database was made with: the text has changed since',
  })
  const applied = await pool.query(`select from migrations where name = '9999_try'`)
  assert.equal(applied.rowCount, 0)
})

test('a database from before hashes were kept gets those of today, line ends left aside', async (t) => {
  const { pool, url } = await cloneDatabase()
  await pool.query('delete from migration_hashes')
  const migrationsDir = await copyMigrations(t)
  await writeFile(join(migrationsDir, '9999_try.sql'), 'create table tried ();\r\n')
  assert.deepEqual(await migrate(url, new Date(), { migrationsDir }), ['9999_try'])
  const { rows } = await pool.query(
    `select (select count(*) from migrations) as applied, (select count(*) from migration_hashes) as noted`,
  )
  assert.equal(rows[0].noted, rows[0].applied)
  await writeFile(join(migrationsDir, '9999_try.sql'), 'create table tried ();\n')
  assert.deepEqual(await migrate(url, new Date(), { migrationsDir }), [])
})

test('a schema that a newer version has changed is left as it is', async (t) => {
  const { url } = await cloneDatabase()
  const migrationsDir = await copyMigrations(t)
  assert.deepEqual(await migrate(url, new Date(), { migrationsDir }), ['9999_try'])
  assert.deepEqual(await migrate(url, new Date()), [])
})

test('regression: a migration whose process freezes in its middle gives its locks up', async (t) => {
  const { pool, url } = await cloneDatabase()
  const migrationsDir = await copyMigrations(t)
  const file = join(migrationsDir, '9999_try.sql')
  await writeFile(
    file,
    `create table tried as select current_setting('idle_in_transaction_session_timeout') as idle;\n`,
  )
  await migrate(url, new Date(), { migrationsDir })
  assert.deepEqual((await pool.query('select idle from tried')).rows, [{ idle: '30s' }])
})
