import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { cloneDatabase } from '../../../test/support/database.ts'
import { untilWaiting } from '../../../test/support/stored-deliveries.ts'
import { DAY_MS } from '../../core/delivery/backoff.ts'
import { type Db, inTransaction } from '../connection/db.ts'
import { dropOldHistory } from '../removal/retention.ts'
import { ensurePartitions } from '../schema/partitions.ts'
import { type AuditEntry, auditId, insertAudit, listAudit } from './audit-table.ts'

const NOW = new Date()
const ALL = { limit: 1_000, beforeId: null }

function entry(changes: Partial<AuditEntry> = {}): AuditEntry {
  return {
    actor: 'operator',
    action: 'client.create',
    object: `client:${randomUUID()}`,
    requestId: randomUUID(),
    at: NOW,
    ...changes,
  }
}

test('rows are added one by one or many at once, whatever is in their texts', async () => {
  const { pool } = await cloneDatabase()
  const odd = ['a "quoted" \\ name', '{braces},commas', 'NULL', 'ünï ☂', ' '].map((actor) =>
    entry({ actor }),
  )
  await insertAudit(pool, entry())
  await insertAudit(pool, odd)
  await insertAudit(pool, [])
  const rows = await listAudit(pool, {}, ALL)
  assert.equal(rows.length, 6)
  const [newest] = rows
  assert.deepEqual(
    rows
      .slice(0, 5)
      .map(({ actor }) => actor)
      .toReversed(),
    odd.map(({ actor }) => actor),
  )
  assert.equal(newest?.at.getTime(), NOW.getTime())
  assert.equal(newest?.requestId, odd.at(-1)?.requestId)
})

test('an entry with an id is there once, however often it is written', async () => {
  const { pool } = await cloneDatabase()
  const once = entry({ id: auditId(NOW) })
  await Promise.all([insertAudit(pool, once), insertAudit(pool, once)])
  await insertAudit(pool, once)
  assert.equal((await listAudit(pool, {}, ALL)).length, 1)
})

test('the list goes newest first, by actor, action, object and time, from one cursor to the next', async () => {
  const { pool } = await cloneDatabase()
  const hourAgo = new Date(NOW.getTime() - 3_600_000)
  const mine = entry({ actor: 'ann', at: hourAgo })
  const others = Array.from({ length: 9 }, () => entry({ action: 'payment.put' }))
  await insertAudit(pool, [mine, ...others])
  const seen: string[] = []
  for (let beforeId: string | null = null; ; ) {
    const page = await listAudit(pool, {}, { limit: 4, beforeId })
    if (page.length === 0) break
    seen.push(...page.map(({ object }) => object))
    beforeId = page.at(-1)?.id ?? null
  }
  assert.deepEqual(seen, [mine, ...others].map(({ object }) => object).toReversed())
  const find = async (filter: Parameters<typeof listAudit>[1]) =>
    (await listAudit(pool, filter, ALL)).map(({ object }) => object)
  assert.deepEqual(await find({ actor: 'ann' }), [mine.object])
  assert.deepEqual(await find({ action: 'client.create' }), [mine.object])
  assert.deepEqual(await find({ object: others[3]?.object }), [others[3]?.object])
  assert.deepEqual(await find({ to: NOW }), [mine.object])
  assert.equal((await find({ from: NOW })).length, 9)
  assert.deepEqual(await find({ actor: 'ann', from: NOW }), [])
})

test('nobody changes or removes a row, not even the owner, a superuser or a replica', async () => {
  const { pool } = await cloneDatabase()
  await insertAudit(pool, entry())
  const { rows } = await pool.query<{ name: string }>(
    `select inhrelid::regclass::text as name from pg_inherits where inhparent = 'audit'::regclass`,
  )
  assert.ok(rows.length >= 4, 'this month, the next two, and the default')
  for (const table of ['audit', ...rows.map(({ name }) => name)]) {
    for (const statement of [
      `update ${table} set actor = 'nobody'`,
      `update ${table} set actor = 'nobody' where false`,
      `delete from ${table}`,
      `truncate ${table}`,
      `set local session_replication_role = replica; delete from ${table}`,
    ]) {
      await assert.rejects(
        inTransaction(pool, (db) => db.query(statement)),
        { code: '42501', message: /the audit is append-only/ },
        statement,
      )
    }
  }
  await assert.rejects(
    pool.query(
      `insert into audit select * from audit on conflict (id) do update set actor = 'nobody'`,
    ),
    /the audit is append-only/,
  )
  assert.equal((await listAudit(pool, {}, ALL)).length, 1)
})

/** As upkeep does it: a lock that is not to be had at once is left for the next round. */
async function makeAll(db: Db, now: Date): Promise<void> {
  for (let rounds = 0; rounds < 20; rounds++) {
    if ((await ensurePartitions(db, now)).left.length === 0) return
  }
  assert.fail('something was left in 20 rounds')
}

test('months are made ahead, also by several at once, and retention leaves all of them alone', async () => {
  const { pool } = await cloneDatabase()
  const later = new Date(NOW.getTime() + 400 * DAY_MS)
  await Promise.all([1, 2, 3].map(() => makeAll(pool, later)))
  await insertAudit(pool, [entry(), entry({ at: later })])
  const { rows } = await pool.query('select from audit_default')
  assert.equal(rows.length, 0, 'each month has a partition of its own')
  await dropOldHistory(pool, new Date(later.getTime() + 400 * DAY_MS), 1)
  assert.equal((await listAudit(pool, {}, ALL)).length, 2)
})

test('regression: entries of a month without a partition get one, and the guard stays on', async () => {
  const { pool } = await cloneDatabase()
  const later = new Date(NOW.getTime() + 400 * DAY_MS)
  const past = new Date(NOW.getTime() - 100 * DAY_MS)
  await insertAudit(pool, [entry({ at: later }), entry({ at: past })])
  assert.equal((await pool.query('select from audit_default')).rowCount, 2)
  const { moved, left } = await ensurePartitions(pool, later)
  assert.deepEqual(left, [])
  assert.equal(moved.filter(({ partition }) => partition.startsWith('audit_')).length, 2)
  assert.equal((await pool.query('select from audit_default')).rowCount, 0)
  assert.equal((await listAudit(pool, {}, ALL)).length, 2)
  for (const table of ['audit_default', ...moved.map(({ partition }) => partition)]) {
    await assert.rejects(pool.query(`delete from ${table}`), /the audit is append-only/)
  }
})

test('one object among very many is found without reading all of them', async () => {
  const { pool } = await cloneDatabase()
  await pool.query(
    `insert into audit select (left(replace(audit_id_floor($1::timestamptz at time zone 'UTC')::text, '-', ''), 12)
         || '7' || lpad(to_hex(n), 19, '0'))::uuid,
       $1, 'feeder', 'payment.put', 'payment:' || md5(n::text), gen_random_uuid()
     from generate_series(1, 60000) as n`,
    [NOW],
  )
  const wanted = await pool.query<{ object: string }>(
    'select object from audit order by id limit 1 offset 777',
  )
  const object = wanted.rows[0]?.object as string
  await pool.query('vacuum analyze audit')
  const plan = await pool.query<Record<string, string>>(
    `explain (analyze, buffers off, costs off, timing off)
     select * from audit where object = '${object}' order by id desc limit 51`,
  )
  const text = plan.rows.map((row) => row['QUERY PLAN']).join('\n')
  assert.match(text, /audit_\w+_object_actor_action_idx/, text)
  const removed = [...text.matchAll(/Rows Removed by (?:Index Recheck|Filter): (\d+)/g)]
  const read = removed.reduce((sum, match) => sum + Number(match[1]), 0)
  assert.ok(read < 12_000, `${read} rows were read for one:\n${text}`)
  assert.equal((await listAudit(pool, { object }, ALL)).length, 1)
})

test('two that add the same rows in different orders do not deadlock', async () => {
  const { pool } = await cloneDatabase()
  const [first, second] = [1, 2].map(() => entry({ id: auditId(NOW) })) as [AuditEntry, AuditEntry]
  let other: Promise<void> | undefined
  await inTransaction(pool, async (db) => {
    await insertAudit(db, first)
    other = inTransaction(pool, (db) => insertAudit(db, [second, first]))
    await untilWaiting(pool, 'insert into audit')
    await insertAudit(db, second)
  })
  await other
  assert.equal((await listAudit(pool, {}, ALL)).length, 2)
})
