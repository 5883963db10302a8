// Partitions are made one by one and gently: what stands in the way of one stops neither the others nor
// anybody who reads or writes, and rows that fell into a default partition come out of it.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import type { Pool, PoolClient } from 'pg'
import { cloneDatabase, readMadeAt } from '../../../test/support/database.ts'
import type { Owner } from '../../../test/support/owner.ts'
import { until } from '../../../test/support/until.ts'
import { DAY_MS } from '../../core/delivery/backoff.ts'
import { uuidFloor } from '../../core/plain/uuid.ts'
import { takeNatsLease } from '../connection/consumer-lease.ts'
import { readFinalCounts } from '../history/stats.ts'
import { dropOldHistory } from '../removal/retention.ts'
import { readDefaultRows } from './default-partitions.ts'
import { type MigrateOptions, migrate } from './migrate.ts'
import { ensurePartitions } from './partitions.ts'

const NOW = (await readMadeAt((await cloneDatabase()).pool)).getTime()
const LATER = NOW + 40 * DAY_MS
/** As a start that gives up soon. */
const FEW = { triesMax: 2, pauseMs: 10 }

const dayName = (table: string, ms: number) =>
  `${table}_${new Date(ms).toISOString().slice(0, 10).replaceAll('-', '_')}`

const monthName = (ms: number) => `${dayName('audit', ms).slice(0, -2)}01`

async function isThere(pool: Pool, name: string): Promise<boolean> {
  const { rows } = await pool.query('select to_regclass($1) is not null as there', [name])
  return rows[0].there
}

async function insertEvent(pool: Pool, ms: number): Promise<string> {
  const id = uuidFloor(ms).slice(0, 24) + randomUUID().slice(24)
  await pool.query(
    `insert into events (client_key, id, payment_id, account_id, sequence, kind, text, created_at)
     values (1, $1, $2, $2, 1, 'payment.created', '{}', now())`,
    [id, randomUUID()],
  )
  return id
}

async function insertFinal(pool: Pool, finishedAtMs: number): Promise<void> {
  await pool.query(
    `insert into final_deliveries (client_key, id, event_id, endpoint_id, payment_id, account_id,
       sequence, kind, created_at, state, attempts, finished_at)
     values (1, $1, $1, $1, $1, $1, 1, 'payment.created', $2, 'CANCELLED', 0, $2)`,
    [randomUUID(), new Date(finishedAtMs)],
  )
}

async function placeOf(pool: Pool, table: string, id: string): Promise<string[]> {
  const { rows } = await pool.query<{ name: string }>(
    `select tableoid::regclass::text as name from ${table} where id = $1`,
    [id],
  )
  return rows.map(({ name }) => name)
}

/** Resolves when a session of this database waits for another one's transaction: other tests share the server. */
async function waitedFor(pool: Pool): Promise<void> {
  await until('a session waits', async () => {
    const { rows } = await pool.query(
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    )
    return rows.length > 0
  })
}

/** As pg_dump does: it reads, and lets go when it is told to, or the test is over. */
async function startReader(t: Owner, pool: Pool, table = 'events'): Promise<PoolClient> {
  const reader = await pool.connect()
  t.after(() => reader.release(true))
  await reader.query('begin')
  await reader.query(`lock table ${table} in access share mode`)
  return reader
}

test('regression: the process that consumes NATS stops no other at the turn of the month', async (t) => {
  const { pool, url } = await cloneDatabase()
  const cautiousMs = () => performance.now()
  const held = await takeNatsLease({ url, cautiousMs, onLost: () => {} })
  t.after(() => held?.release())
  const { left } = await ensurePartitions(pool, new Date(LATER))
  assert.deepEqual(left, [])
  for (const table of ['events', 'final_deliveries', 'earlier_attempts']) {
    assert.ok(await isThere(pool, dayName(table, LATER)))
  }
  assert.ok(await isThere(pool, monthName(LATER)))
  // A process that starts a month later is not stopped either, nor is one of the version before.
  await migrate(url, new Date(LATER + 40 * DAY_MS), { lockTries: FEW })
  await pool.query('select ensure_audit_partitions($1)', [new Date(LATER + 400 * DAY_MS)])
  assert.ok(await isThere(pool, monthName(LATER + 400 * DAY_MS)))
})

test('regression: one row in a default partition does not stop the partitions of any table', async () => {
  const { pool } = await cloneDatabase()
  const day = LATER + 2 * DAY_MS
  const id = await insertEvent(pool, day)
  await insertFinal(pool, day)
  assert.deepEqual(await placeOf(pool, 'events', id), ['events_default'])
  const { moved, left } = await ensurePartitions(pool, new Date(LATER))
  assert.deepEqual(left, [])
  assert.deepEqual(moved, [
    { partition: dayName('events', day), rows: 1 },
    { partition: dayName('final_deliveries', day), rows: 1 },
  ])
  assert.deepEqual(await placeOf(pool, 'events', id), [dayName('events', day)])
  assert.ok(await isThere(pool, dayName('earlier_attempts', LATER + 7 * DAY_MS)))
  // In the counts nothing has ended and nothing has gone.
  assert.equal((await readFinalCounts(pool)).CANCELLED, 1)
})

test('a table in the way of one partition stops no other', async () => {
  const { pool } = await cloneDatabase()
  const taken = dayName('events', LATER)
  await pool.query(`create table ${taken} (in_the_way boolean)`)
  const { left, missingToday } = await ensurePartitions(pool, new Date(LATER))
  assert.deepEqual(
    left.map(({ partition }) => partition),
    [taken],
  )
  assert.match(left[0]?.reason ?? '', /is no partition of events/)
  assert.deepEqual(missingToday, left)
  assert.ok(await isThere(pool, dayName('events', LATER + DAY_MS)))
  assert.ok(await isThere(pool, dayName('final_deliveries', LATER)))
})

test('regression: two processes that make the same partition at once both go on', async (t) => {
  const { pool } = await cloneDatabase()
  const other = await pool.connect()
  t.after(() => other.release(true))
  const partition = dayName('earlier_attempts', LATER)
  // As the other process stands after its look and before its commit; ours has not seen its table.
  await other.query('begin')
  await other.query(`create table ${partition} (like earlier_attempts)`)
  const round = ensurePartitions(pool, new Date(LATER))
  await waitedFor(pool)
  await other.query('commit')
  const { left } = await round
  assert.deepEqual(
    left.map((of) => [of.partition, of.isPassing]),
    [[partition, true]],
  )
})

test('regression: a start beside a long reader neither waits for it nor stops writers', async (t) => {
  const { pool, url } = await cloneDatabase()
  const ahead = dayName('events', NOW + 7 * DAY_MS)
  await pool.query(`drop table ${ahead}`)
  const reader = await startReader(t, pool)
  let isReady = false
  const left: string[] = []
  const starting = migrate(url, new Date(NOW), {
    onPartitions: (partitions) => left.push(...partitions.left.map(({ partition }) => partition)),
  }).then(() => {
    isReady = true
  })
  // Each of them would end with a statement timeout, if it had to wait for the one that starts.
  while (!isReady) await insertEvent(pool, NOW)
  await starting
  assert.deepEqual(left, [ahead])
  await reader.query('commit')
  assert.deepEqual((await ensurePartitions(pool, new Date(NOW))).made, [ahead])
})

test('regression: a start fails for want of a lock only when today has no partition', async (t) => {
  const { pool, url } = await cloneDatabase()
  const today = dayName('final_deliveries', NOW)
  await pool.query(`drop table ${today}`)
  const reader = await startReader(t, pool, 'final_deliveries')
  const { rows } = await reader.query('select pg_backend_pid() as pid')
  await assert.rejects(
    migrate(url, new Date(NOW), { lockTries: FEW }),
    ({ message }: Error) =>
      message.startsWith(`today's partitions cannot be made: ${today} (`) &&
      message.includes(`session ${rows[0].pid} (paybell test) uses the tables`),
  )
  const starting = migrate(url, new Date(NOW), { lockTries: { triesMax: 1_000, pauseMs: 10 } })
  await reader.query('commit')
  await starting
  assert.ok(await isThere(pool, today))
})

test('a default partition that cannot be looked into stops nothing', async (t) => {
  const { pool, url } = await cloneDatabase()
  const holder = await pool.connect()
  t.after(() => holder.release(true))
  await holder.query('begin')
  await holder.query('lock table events_default in access exclusive mode')
  const left: string[] = []
  const onPartitions: MigrateOptions['onPartitions'] = (partitions) =>
    left.push(...partitions.left.map(({ partition }) => partition))
  await migrate(url, new Date(NOW), { lockTries: FEW, onPartitions })
  assert.deepEqual(left, ['events_default'])
})

test('more rows than a moment suffices for stay, until the operator has the time', async () => {
  const { pool } = await cloneDatabase()
  const ids = [await insertEvent(pool, LATER), await insertEvent(pool, LATER)]
  const { left } = await ensurePartitions(pool, new Date(LATER), { rowsMovedMax: 1 })
  assert.deepEqual(
    left.map(({ partition, isPassing }) => [partition, isPassing]),
    [[dayName('events', LATER), false]],
  )
  assert.match(left[0]?.reason ?? '', /events_default holds more than 1 rows .* "paybell migrate"/)
  assert.equal(await isThere(pool, dayName('events', LATER)), false)
  const { moved } = await ensurePartitions(pool, new Date(LATER), { rowsMovedMax: null })
  assert.deepEqual(moved, [{ partition: dayName('events', LATER), rows: 2 }])
  for (const id of ids)
    assert.deepEqual(await placeOf(pool, 'events', id), [dayName('events', LATER)])
})

test('rows of days that are over get their partition too, and go when their time is over', async () => {
  const { pool } = await cloneDatabase()
  const [old, older] = [NOW - 3 * DAY_MS, NOW - 50 * DAY_MS]
  const kept = await insertEvent(pool, old)
  const gone = await insertEvent(pool, older)
  await insertFinal(pool, old)
  assert.deepEqual(await readDefaultRows(pool), {
    events: 2,
    final_deliveries: 1,
    earlier_attempts: 0,
    audit: 0,
  })
  const { moved } = await ensurePartitions(pool, new Date(NOW))
  assert.equal(moved.length, 3)
  assert.deepEqual(await placeOf(pool, 'events', kept), [dayName('events', old)])
  const { events, final_deliveries } = await readDefaultRows(pool)
  assert.deepEqual([events, final_deliveries], [0, 0])
  await dropOldHistory(pool, new Date(NOW), 30)
  assert.deepEqual(await placeOf(pool, 'events', gone), [])
})

test('a partition has every index and constraint that its siblings have, as parts of the whole', async () => {
  const { pool } = await cloneDatabase()
  await ensurePartitions(pool, new Date(LATER))
  for (const table of ['events', 'final_deliveries', 'earlier_attempts', 'audit']) {
    const partition = table === 'audit' ? monthName(LATER) : dayName(table, LATER)
    const shapeOf = async (name: string) => {
      const { rows } = await pool.query(
        `select
           (select count(*)::int from pg_index where indrelid = $1::regclass) as indexes,
           (select count(*)::int from pg_index x join pg_inherits i on i.inhrelid = x.indexrelid
            where x.indrelid = $1::regclass) as attached,
           (select array_agg(conname::text order by conname) from pg_constraint
            where conrelid = $1::regclass and contype = 'c') as checks,
           (select array_agg(attname || ' ' || attnotnull || ' ' || attstorage::text
              || coalesce(pg_get_expr(d.adbin, d.adrelid), '') order by attnum)
            from pg_attribute a
            left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
            where attrelid = $1::regclass and attnum > 0) as columns`,
        [name],
      )
      return rows[0]
    }
    const shape = await shapeOf(partition)
    assert.deepEqual(shape, await shapeOf(`${table}_default`))
    assert.equal(shape.attached, shape.indexes)
    assert.ok(shape.indexes > 0)
  }
})
