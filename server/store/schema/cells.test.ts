// Two cells in one database: neither sees, locks or wakes the other, and both are the same to the letter.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { cloneDatabase, openPool } from '../../../test/support/database.ts'
import { until } from '../../../test/support/paybell.ts'
import { sampleBody } from '../../../test/support/payment-sample.ts'
import { cellOfId } from '../../core/network/cell.ts'
import { addressOfCell } from '../../core/network/database-url.ts'
import { createClient, inTransaction } from '../connection/db.ts'
import { LOCKS, takeLock, tryLock, tryLockMigrations } from '../connection/locks.ts'
import { WakeUps } from '../owed/wake-ups.ts'
import { tryLockPayments } from '../payments/payments.ts'
import { openAsAppRole } from './app-role.ts'
import { toCellMigration } from './cell-migrations.ts'
import { inspectDatabase } from './inspect-database.ts'
import { MIGRATIONS_DIR, migrate } from './migrate.ts'

const { url, pool: first } = await cloneDatabase()
const urlOfSeven = addressOfCell(url, 7)
await migrate(urlOfSeven, new Date())
const seven = openPool({ after }, urlOfSeven, 5)

/** Everything that a schema holds, as text. */
async function describeSchema(schema: string): Promise<string> {
  const { rows } = await first.query<{ line: string }>(
    `select pg_get_functiondef(p.oid) as line from pg_proc p where pronamespace = $1::text::regnamespace
     union all
     select table_name || ' ' || column_name || ' ' || data_type || ' ' || coalesce(column_default, '')
     from information_schema.columns where table_schema = $1::text
     union all
     select indexdef from pg_indexes where schemaname = $1::text
     union all
     select conname || ' ' || conrelid::regclass || ' ' || pg_get_constraintdef(oid)
     from pg_constraint where connamespace = $1::text::regnamespace
     union all
     select pg_get_triggerdef(t.oid) from pg_trigger t join pg_class c on c.oid = t.tgrelid
     where c.relnamespace = $1::text::regnamespace and not tgisinternal
     order by 1`,
    [schema],
  )
  // Tables that are on the search path are written without their schema.
  return rows
    .map(({ line }) => line.replaceAll(`${schema}.`, ''))
    .sort()
    .join('\n')
}

test('a cell is migrated into a schema of its own, which is the first one but for its name', async () => {
  const [one, other] = [await describeSchema('paybell'), await describeSchema('paybell_7')]
  assert.doesNotMatch(other, /search_path TO 'paybell'|notify\('paybell'|'paybell'::regn/)
  assert.match(other, /uuid_hash_extended\(payment_id, 7\)/)
  const renamed = other
    .replaceAll('paybell_7', 'paybell')
    .replaceAll('uuid_hash_extended(payment_id, 7)', 'uuid_hash_extended(payment_id, 0)')
    .replaceAll('select 7', 'select 0')
  assert.deepEqual(renamed.split('\n').sort(), one.split('\n').sort())
})

test('no migration names the schema in a way that another cell does not get', () => {
  for (const name of readdirSync(MIGRATIONS_DIR).filter((file) => file.endsWith('.sql'))) {
    const text = readFileSync(join(MIGRATIONS_DIR, name), 'utf8').replaceAll(/--.*$/gm, '')
    const left = toCellMigration(text, 7).replaceAll('"paybell migrate"', '')
    assert.doesNotMatch(left, /\bpaybell\b|uuid_hash_extended\([^)]*, 0\)/, name)
    assert.equal(toCellMigration(text, 0), text)
  }
})

test('what is written in one cell is not in the other', async () => {
  await seven.query(`insert into clients (id, name, created_at) values ($1, 'x', now())`, [
    randomUUID(),
  ])
  const count = 'select count(*) from clients'
  assert.deepEqual((await first.query(count)).rows, [{ count: 0 }])
  assert.deepEqual((await seven.query(count)).rows, [{ count: 1 }])
  await seven.query('delete from clients')
})

test('no lock of one cell is in the way of another: named ones, migrations, payments', async () => {
  const id = randomUUID()
  await inTransaction(first, async (db) => {
    await takeLock(db, LOCKS.signingKeys)
    await takeLock(db, LOCKS.finalCounts)
    assert.equal((await tryLockPayments(db, [id])).busy.size, 0)
    await inTransaction(seven, async (other) => {
      for (const lock of Object.values(LOCKS)) assert.ok(await tryLock(other, lock))
      assert.equal((await tryLockPayments(other, [id])).busy.size, 0)
      // And within the cell they hold.
      await inTransaction(seven, async (third) => {
        assert.equal(await tryLock(third, LOCKS.notices), false)
        assert.equal((await tryLockPayments(third, [id])).busy.size, 1)
      })
    })
    await inTransaction(first, async (third) => {
      assert.equal(await tryLock(third, LOCKS.finalCounts), false)
    })
  })
  const clients = [createClient(url, 'paybell test'), createClient(urlOfSeven, 'paybell test')]
  for (const client of clients) {
    await client.connect()
    assert.ok(await tryLockMigrations(client))
  }
  for (const client of clients) await client.end()
})

test('a wake-up, and record_payment, wake the processes of their own cell', async (t) => {
  const heard: string[] = []
  const listen = async (name: string, address: string) => {
    const wakeUps = new WakeUps({ url: address, processId: name, onError: () => {} })
    await wakeUps.start({
      onWakeUp: ({ shards }) => heard.push(`${name}: ${shards}`),
      onGap: () => {},
    })
    t.after(() => wakeUps.stop())
    return wakeUps
  }
  const one = await listen('first', url)
  await listen('seven', urlOfSeven)
  const [, sender] = [await listen('first too', url), await listen('seven too', urlOfSeven)]
  sender.announceWork(17)
  await until('its own cell hears of it', async () => heard.includes('seven: 17'))
  one.announceWork(18)
  await until('its own cell hears of it', async () => heard.includes('first too: 18'))

  const key = await seven.query<{ key: number }>(
    `insert into clients (id, name, created_at) values ($1, 'x', now()) returning client_key as key`,
    [randomUUID()],
  )
  const [account, endpoint, payment] = [randomUUID(), randomUUID(), randomUUID()]
  const clientKey = key.rows[0]?.key
  await seven.query(
    `insert into accounts (client_key, id, name, created_at) values ($1, $2, 'a', now())`,
    [clientKey, account],
  )
  await insertEndpoint(clientKey as number, endpoint)
  // As a company does it, in a session of its own.
  await first.query('select paybell_7.record_payment($1, $2)', [
    account,
    sampleBody({ id: payment }).toString(),
  ])
  await until('record_payment has woken its cell', async () => heard.includes('seven: 5'))
  assert.deepEqual(
    heard.filter((line) => line.startsWith('first')),
    ['first too: 18'],
  )
  const { rows } = await seven.query<{ id: string }>(
    'select id from events union all select id from pending_deliveries',
  )
  assert.deepEqual(
    rows.map(({ id }) => cellOfId(id)),
    [7, 7],
  )
})

async function insertEndpoint(clientKey: number, id: string): Promise<void> {
  await seven.query(
    `insert into endpoints (client_key, id, kind, account_id, url, href_hash, shared_key, shard,
       status, created_at, changed_at)
     values ($1, $2, 'subscription', null, 'https://x.example/', '\\x00', '\\x00', 5, 'ACTIVE', now(), now())`,
    [clientKey, id],
  )
}

test('the role of the service, and doctor, look at the cell that they are given', async () => {
  const role = `cell_${randomUUID().slice(0, 8)}`
  const opened = await openAsAppRole(urlOfSeven, role, 'x')
  const facts = await inspectDatabase(opened)
  assert.deepEqual(facts.schema?.missingMigrations, [])
  assert.deepEqual(facts.server.lostSettings, [])
  assert.ok(facts.server.days > 0)
  const asFirst = createClient(opened.replace(/[?&]paybell_cell=7/, ''), 'paybell test')
  await asFirst.connect()
  await assert.rejects(asFirst.query('select from paybell.clients'), /permission denied/)
  assert.deepEqual((await asFirst.query('select count(*) from paybell_7.clients')).rows, [
    { count: 1 },
  ])
  await asFirst.end()
  const empty = await inspectDatabase(addressOfCell(url, 8))
  assert.equal(empty.schema, null)
})
