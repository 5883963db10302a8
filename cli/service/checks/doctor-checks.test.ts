// What `paybell doctor` says of the schema: newer is a note, because the version before works on it; a
// migration with another text is a failure, by name.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { cloneDatabase } from '../../../test/support/database.ts'
import type { Check } from '../../basics/doctor-check.ts'
import { runChecks } from './doctor-checks.ts'

async function checksOf(databaseUrl: string, name: string): Promise<readonly Check[]> {
  const input = {
    env: {
      DATABASE_URL: databaseUrl,
      PAYBELL_MASTER_KEY: randomBytes(32).toString('base64'),
      PAYBELL_OPERATOR_KEY: randomBytes(32).toString('base64url'),
    },
    dataDir: join(tmpdir(), 'paybell-no-sandbox-here'),
    serviceUrl: 'http://127.0.0.1:9',
    egress: [],
  }
  const checks: Check[] = []
  for await (const check of runChecks(input)) if (check.name === name) checks.push(check)
  return checks
}

test('regression: a newer schema is a note, because the version before works on it', async () => {
  const { pool, url } = await cloneDatabase()
  assert.deepEqual(await checksOf(url, 'migrations'), [
    { name: 'migrations', status: 'ok', detail: 'the schema is up to date' },
  ])
  await pool.query(`insert into migrations (name, run_on) values ('9999_next', now())`)
  const [check, ...more] = await checksOf(url, 'migrations')
  assert.deepEqual(more, [])
  assert.equal(check?.status, 'warning')
  assert.match(check?.detail ?? '', /newer than this program, which works on it: 9999_next$/)
})

test('regression: a schema that this role may not use is not said to be missing', async (t) => {
  const { pool, url } = await cloneDatabase()
  const role = `stranger_${randomBytes(4).toString('hex')}`
  await pool.query(`create role ${role} login password 'a long password'`)
  t.after(async () => {
    await pool.query(`drop role ${role}`)
  })
  const asStranger = new URL(url)
  asStranger.username = role
  asStranger.password = 'a long password'
  const [check] = await checksOf(asStranger.href, 'migrations')
  assert.equal(check?.status, 'failed')
  assert.equal(check?.detail, 'this role may not use the schema')
  assert.match(check?.remedy ?? '', /--app-role/)
})

test('a schema that is newer and lacks something all the same is a failure', async () => {
  const { pool, url } = await cloneDatabase()
  await pool.query(`update migrations set name = '9999_next' where name = '0010_console_sessions'`)
  const [check] = await checksOf(url, 'migrations')
  assert.equal(check?.status, 'failed')
  assert.match(check?.detail ?? '', /not applied yet: 0010_console_sessions/)
})

test('regression: a migration with another text is reported by name', async () => {
  const { pool, url } = await cloneDatabase()
  await pool.query(`update migration_hashes set hash = repeat('0', 64) where name ~ '^000[12]_'`)
  const [check, ...more] = await checksOf(url, 'migrations')
  assert.deepEqual(more, [])
  assert.equal(check?.status, 'failed')
  assert.equal(
    check?.detail,
    'migrations 0001_first, 0002_reads are not those that this database was made with: the text has changed since',
  )
})

test('rows that had no partition to go to are worth a look', async () => {
  const { pool, url } = await cloneDatabase()
  await pool.query(
    `insert into earlier_attempts (client_key, delivery_id, attempt, at, duration_ms, outcome)
     values (1, gen_random_uuid(), 1, now() - interval '2 days', 1, 'answered')`,
  )
  const checks = await checksOf(url, 'partitions')
  assert.deepEqual(
    checks.map(({ status }) => status),
    ['ok', 'warning'],
  )
  assert.equal(checks[1]?.detail, 'rows had no partition to go to: 1 of earlier_attempts')
})
