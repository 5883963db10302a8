import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { test } from 'node:test'
import pg, { type Pool } from 'pg'
import { cloneDatabase, copyDatabase } from '../../../test/support/database.ts'
import { endsWithin } from '../../../test/support/ends-within.ts'
import { idAt, storeClient } from '../../../test/support/stored-deliveries.ts'
import { DAY_MS } from '../../core/delivery/backoff.ts'
import { uuidFloor } from '../../core/plain/uuid.ts'
import type { Db } from '../connection/db.ts'
import { ensurePartitions } from '../schema/partitions.ts'
import { deleteUnusedDocuments, dropOldHistory } from './retention.ts'

const NOW = new Date()
const OLD = new Date(NOW.getTime() - 40 * DAY_MS)

/** Copied for each test. */
const withOldDays = await cloneDatabase({ connectionsMax: 1 })
await ensurePartitions(withOldDays.pool, OLD)

async function insertEvent(pool: Pool, at: Date, hash: Buffer | null = null): Promise<string> {
  const id = uuidFloor(at.getTime()).slice(0, 24) + randomBytes(6).toString('hex')
  await pool.query(
    `insert into events (client_key, id, payment_id, account_id, sequence, kind, text, document_hash,
       document_bytes, created_at)
     values (1, $1, $2, $2, 1, 'payment.created', '{}', $3, $4, $5)`,
    [id, randomUUID(), hash, hash === null ? null : 4, at],
  )
  return id
}

async function partitionsOf(pool: Pool, table: string): Promise<number> {
  const { rowCount } = await pool.query(
    'select from pg_inherits where inhparent = $1::regclass and inhrelid::regclass::text not like $2',
    [table, '%default'],
  )
  return rowCount ?? 0
}

test('days beyond retention are dropped whole, newer ones stay', async () => {
  const { pool } = await copyDatabase(withOldDays)
  const old = await insertEvent(pool, OLD)
  const recent = await insertEvent(pool, NOW)
  const before = await partitionsOf(pool, 'events')
  const { partitions } = await dropOldHistory(pool, NOW, 30)
  assert.ok(partitions.some((name) => name.startsWith('events_')))
  assert.ok(partitions.some((name) => name.startsWith('earlier_attempts_')))
  assert.ok(partitions.some((name) => name.startsWith('final_deliveries_')))
  assert.ok((await partitionsOf(pool, 'events')) < before)
  const { rows } = await pool.query('select id from events where id in ($1, $2)', [old, recent])
  assert.deepEqual(rows, [{ id: recent }])
  // Statements know from when on they can count.
  const origin = await pool.query<{ ended_since: Date }>('select ended_since from feed_origin')
  const endedSince = origin.rows[0]?.ended_since.getTime() ?? 0
  assert.ok(endedSince > OLD.getTime() && endedSince < NOW.getTime() - 29 * DAY_MS)
})

test('D4: a day that still holds an event owed to somebody is never dropped', async () => {
  const { pool } = await copyDatabase(withOldDays)
  const { clientKey } = await storeClient(pool)
  const id = await insertEvent(pool, OLD)
  await pool.query(
    `insert into pending_deliveries (client_key, id, event_id, endpoint_id, payment_id, account_id,
       sequence, kind, shard, created_at)
     values ($5, $1, $2, $3, $3, $3, 1, 'payment.created', 1, $4)`,
    [idAt(OLD), id, randomUUID(), OLD, clientKey],
  )
  await dropOldHistory(pool, NOW, 30)
  assert.equal((await pool.query('select from events where id = $1', [id])).rowCount, 1)
  await pool.query('delete from pending_deliveries')
  await dropOldHistory(pool, NOW, 30)
  assert.equal((await pool.query('select from events where id = $1', [id])).rowCount, 0)
})

test('a file goes when neither an event nor a payment names it, and not before', async () => {
  const { pool } = await copyDatabase(withOldDays)
  const [unused, inEvent, inPayment, fresh] = [1, 2, 3, 4].map((n) => Buffer.alloc(32, n))
  for (const hash of [unused, inEvent, inPayment]) {
    await pool.query('insert into documents values (1, $1, $2, $3)', [hash, 'AAAA', OLD])
  }
  await pool.query('insert into documents values (1, $1, $2, $3)', [fresh, 'AAAA', NOW])
  await insertEvent(pool, NOW, inEvent)
  await pool.query(
    `insert into payments (client_key, id, account_id, sequence, text, document_hash, accepted_at, changed_at)
     values (1, $1, $1, 1, '{}', $2, $3, $3)`,
    [randomUUID(), inPayment, OLD],
  )
  const before = new Date(NOW.getTime() - 30 * DAY_MS)
  assert.deepEqual(await deleteUnusedDocuments(pool, before, null, 10), { count: 1, next: null })
  const { rows } = await pool.query<{ hash: Buffer }>('select hash from documents order by hash')
  assert.deepEqual(
    rows.map(({ hash }) => hash[0]),
    [2, 3, 4],
  )
})

test('regression: files that an event still names do not keep others from being looked at', async () => {
  const { pool } = await copyDatabase(withOldDays)
  const hashes = [1, 2, 3, 4, 5].map((n) => Buffer.alloc(32, n))
  for (const hash of hashes) {
    await pool.query('insert into documents values (1, $1, $2, $3)', [hash, 'AAAA', OLD])
  }
  for (const hash of hashes.slice(0, 4)) await insertEvent(pool, OLD, hash)
  const before = new Date(NOW.getTime() - 30 * DAY_MS)
  const first = await deleteUnusedDocuments(pool, before, null, 4)
  assert.deepEqual(first, { count: 0, next: { clientKey: 1, hash: hashes[3] } })
  const second = await deleteUnusedDocuments(pool, before, first.next, 4)
  assert.deepEqual(second, { count: 1, next: null })
  const { rows } = await pool.query<{ hash: Buffer }>('select hash from documents order by hash')
  assert.deepEqual(
    rows.map(({ hash }) => hash[0]),
    [1, 2, 3, 4],
  )
})

test('regression: a look at what is owed that fails stops no other partition', async () => {
  const { pool } = await copyDatabase(withOldDays)
  const cutOff = Object.assign(new pg.DatabaseError('canceling statement', 0, 'error'), {
    code: '57014',
  })
  // As a look at a table that is too large would.
  const db: Db = {
    query: (config, values) =>
      String(config).includes('pending_deliveries')
        ? Promise.reject(cutOff)
        : pool.query(config as string, values),
  }
  const { partitions, failed } = await dropOldHistory(db, NOW, 30)
  assert.ok(failed.every(({ partition }) => partition.startsWith('events_')))
  assert.ok(failed.length > 0)
  for (const table of ['final_deliveries_', 'earlier_attempts_']) {
    assert.ok(partitions.some((name) => name.startsWith(table)))
  }
})

test('a partition that is being read is left for the next round, and nobody waits for long', async () => {
  const { pool } = await copyDatabase(withOldDays)
  const reader = await pool.connect()
  await reader.query('begin')
  await reader.query('select * from earlier_attempts')
  // The reader goes on until this has ended, and a statement of this pool for two minutes.
  const { partitions } = await endsWithin(60_000, () => dropOldHistory(pool, NOW, 30))
  assert.ok(!partitions.some((name) => name.startsWith('earlier_attempts_')))
  await reader.query('commit')
  reader.release()
  const again = await dropOldHistory(pool, NOW, 30)
  assert.ok(again.partitions.some((name) => name.startsWith('earlier_attempts_')))
})

test('regression: a partition that cannot be dropped stops no other', async () => {
  const { pool } = await copyDatabase(withOldDays)
  const held = `events_${OLD.toISOString().slice(0, 10).replaceAll('-', '_')}`
  await pool.query(`create view a_report as select * from ${held}`)
  const { partitions, failed } = await dropOldHistory(pool, NOW, 30)
  assert.deepEqual(
    failed.map(({ partition }) => partition),
    [held],
  )
  assert.match(failed[0]?.reason ?? '', /other objects depend on it/)
  assert.ok(partitions.some((name) => name.startsWith('events_')))
  assert.ok(partitions.some((name) => name.startsWith('final_deliveries_')))
})
