// Migrations: schema.sql shows what they make, and several processes may run them at once.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { migrate } from '../../server/store/schema/migrate.ts'
import { ensurePartitions } from '../../server/store/schema/partitions.ts'
import { cloneDatabase, testServerUrl } from '../support/database.ts'
import { dumpSchema, SCHEMA_FILE } from '../support/dump-schema.ts'
import { databaseUrl, onServer } from '../support/test-server.ts'

test('schema.sql is what the migrations make (if not: npm run schema)', async () => {
  const { pool } = await cloneDatabase()
  const made = (await dumpSchema(pool)).split('\n')
  const shown = new Set((await readFile(SCHEMA_FILE, 'utf8')).split('\n'))
  assert.deepEqual(
    made.filter((line) => !shown.has(line)),
    [],
  )
  assert.equal((await readFile(SCHEMA_FILE, 'utf8')) === made.join('\n'), true)
})

test('each index of what grows with traffic says who reads by it', async () => {
  const { pool } = await cloneDatabase()
  const { rows } = await pool.query<{ name: string }>(
    `select c.relname as name from pg_index i join pg_class c on c.oid = i.indexrelid
     where i.indrelid in ('payments'::regclass, 'events'::regclass, 'pending_deliveries'::regclass,
         'final_deliveries'::regclass, 'earlier_attempts'::regclass)
       and obj_description(c.oid, 'pg_class') is null`,
  )
  assert.deepEqual(rows, [])
})

test('F24: five processes migrate an empty database at once: one does it, the others wait', async () => {
  const server = await testServerUrl()
  const name = `test_migrate_${randomBytes(6).toString('hex')}`
  await onServer(server, (client) => client.query(`create database ${name}`))
  try {
    const url = databaseUrl(server, name)
    const applied = await Promise.all(Array.from({ length: 5 }, () => migrate(url, new Date())))
    assert.equal(applied.filter((names) => names.length > 0).length, 1)
    const leases = await onServer(url, (client) => client.query('select from paybell.leases'))
    assert.equal(leases.rowCount, 64)
  } finally {
    await onServer(server, (client) => client.query(`drop database ${name} with (force)`))
  }
})

test('partitions exist days ahead, and making them again changes nothing', async () => {
  const { pool } = await cloneDatabase()
  const count = async () => (await pool.query('select from pg_inherits')).rowCount
  const now = new Date()
  const dayAfter = (days: number) => new Date(now.getTime() + days * 86_400_000)
  // Midnight may have passed since the database was made: of its seven days ahead six are left.
  const sixth = dayAfter(6).toISOString().slice(0, 10).replaceAll('-', '_')
  const { rows } = await pool.query('select to_regclass($1) as made', [`events_${sixth}`])
  assert.notEqual(rows[0]?.made, null)
  await ensurePartitions(pool, now)
  const before = await count()
  await Promise.all([1, 2, 3].map(() => ensurePartitions(pool, now)))
  assert.equal(await count(), before)
  await Promise.all([1, 2, 3].map(() => ensurePartitions(pool, dayAfter(3))))
  assert.ok(((await count()) ?? 0) > (before ?? 0))
})
