// A kept hour that no holder of the master key has written is not believed, whatever someone does to its row; and
// what a statement costs in round trips.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import pg from 'pg'
import { cloneDatabase } from '../../../test/support/database.ts'
import { StatedEndpoint } from '../../../test/support/stated-endpoint.ts'
import { until } from '../../../test/support/until.ts'
import { DAY_MS } from '../../core/delivery/backoff.ts'
import { HOUR_MS } from '../../core/proofs/statement.ts'
import { inTransaction } from '../../store/connection/db.ts'
import { Sealer } from '../../store/secrets/sealing.ts'
import { viewAnyStatement } from './view-statement.ts'

const { pool } = await cloneDatabase()
const HOUR = Date.UTC(2026, 3, 7, 9)
const SPAN = { fromMs: HOUR, toMs: HOUR + HOUR_MS }
const nowMs = HOUR + 5 * HOUR_MS
const clock = { nowMs: () => nowMs, monotonicMs: () => performance.now() }
const masterKey = randomBytes(32)

/** An endpoint that has got one event of the hour, which is kept. */
async function keepOne(sealer = new Sealer([masterKey])) {
  const stated = await StatedEndpoint.create(pool)
  const one = await inTransaction(pool, (db) => stated.make(db, new Date(HOUR + 1)))
  await stated.end(one, 'DELIVERED', new Date(HOUR + 2))
  const forged: number[] = []
  const ask = (by = sealer, span = SPAN) => {
    const onForgedHours = (_: string, count: number) => void forged.push(count)
    return viewAnyStatement({ pool, clock, sealer: by, onForgedHours }, stated.key.id, span)
  }
  // Beyond its event: while a transaction elsewhere in the cluster is older than the event, it counts as one that came since.
  await until('it is kept for good', async () => {
    await ask()
    const kept = await pool.query(
      `select from statement_hours h where h.endpoint_id = $1
         and h.place > (select max(e.place) from events e where e.client_key = $2)`,
      [stated.key.id, stated.key.clientKey],
    )
    return kept.rows.length > 0
  })
  const change = (sql: string) =>
    pool.query(`update statement_hours set ${sql} where endpoint_id = '${stated.key.id}'`)
  return { stated, one, forged, ask, change }
}

const FORGERIES: readonly [name: string, sql: string][] = [
  ['more delivered', 'delivered = 12345'],
  ['nothing lost', 'delivered = 0, cancelled = 1'],
  ['another digest', `ids_digest = decode(repeat('ab', 32), 'hex')`],
  ['a place that nothing is above', 'delivered = 2, place = 9223372036854775807'],
  ['only a place that nothing is above', 'place = 9223372036854775807'],
  ['another number of replays', 'reopened = reopened + 1'],
  ['the hour before', `delivered = 7, hour = hour - interval '1 hour'`],
]

for (const [name, sql] of FORGERIES) {
  test(`regression: a kept hour with ${name} is counted again, and said`, async () => {
    const { forged, ask, change } = await keepOne()
    const wide = { fromMs: HOUR - HOUR_MS, toMs: SPAN.toMs }
    const before = await ask(undefined, wide)
    await pool.query('delete from statement_hours where hour = $1', [new Date(wide.fromMs)])
    await change(sql)
    const { delivered, hours } = await ask(undefined, wide)
    assert.deepEqual([delivered, hours], [1, before.hours])
    assert.equal(forged.length, 1)
    await ask(undefined, wide)
    assert.equal(forged.length, 1, 'what was counted again has taken its place')
  })
}

test('regression: the row of another endpoint, with its authentication, is counted again', async () => {
  const { stated, one, forged, ask } = await keepOne()
  const other = await keepOne()
  await pool.query('delete from final_deliveries where id = $1', [other.one.id])
  await pool.query('delete from statement_hours where endpoint_id = $1', [other.stated.key.id])
  await pool.query(
    `insert into statement_hours (client_key, endpoint_id, hour, reopened, delivered, superseded,
       exhausted, cancelled, ids_digest, place, authentication)
     select $1, $2, hour, reopened, delivered, superseded, exhausted, cancelled, ids_digest, place,
       authentication from statement_hours where endpoint_id = $3`,
    [other.stated.key.clientKey, other.stated.key.id, stated.key.id],
  )
  assert.equal((await other.ask()).delivered, 0)
  assert.deepEqual([other.forged, forged], [[1], []])
  assert.equal((await ask()).delivered, 1, one.id)
})

test('regression: rows of the version before, and of a master key that is gone, are counted again and accuse no one', async () => {
  const { forged, ask, change } = await keepOne()
  await change('authentication = null, place = null, delivered = 9')
  assert.equal((await ask()).delivered, 1)
  const { rows } = await pool.query('select from statement_hours where authentication is null')
  assert.equal(rows.length, 0, 'it is kept with its authentication now')
  await change('delivered = 9')
  const next = new Sealer([randomBytes(32)])
  assert.equal((await ask(next)).delivered, 1)
  assert.deepEqual(forged, [])
  assert.equal((await ask(next)).delivered, 1)
})

test('while two master keys are configured, what either has kept is read and not counted', async () => {
  const [old, next] = [masterKey, randomBytes(32)]
  const { one, ask } = await keepOne(new Sealer([old]))
  await pool.query('delete from final_deliveries where id = $1', [one.id])
  assert.equal((await ask(new Sealer([next, old]))).delivered, 1, 'read')
  assert.equal((await ask(new Sealer([next]))).delivered, 0, 'counted')
})

/** Everything that is sent to the database while some work is done. */
async function countQueries(work: () => Promise<unknown>): Promise<number> {
  const { query } = pg.Client.prototype
  let count = 0
  pg.Client.prototype.query = function (this: pg.Client, ...given: never) {
    count++
    return query.apply(this, given)
  } as never
  try {
    await work()
  } finally {
    pg.Client.prototype.query = query
  }
  return count
}

const MONTH = { fromMs: HOUR - 31 * DAY_MS, toMs: HOUR }

async function asker(createdAt: Date) {
  const stated = await StatedEndpoint.create(pool)
  await pool.query('update endpoints set created_at = $1 where id = $2', [createdAt, stated.key.id])
  const sealer = new Sealer([masterKey])
  // As beside a database that takes its time for everything.
  let monotonicMs = 0
  const slow = { nowMs: () => nowMs, monotonicMs: () => (monotonicMs += 200) }
  const ask = (span = MONTH) => viewAnyStatement({ pool, clock: slow, sealer }, stated.key.id, span)
  const rows = async () => {
    const found = await pool.query<{ count: number }>(
      'select count(*) as count from statement_hours where endpoint_id = $1',
      [stated.key.id],
    )
    return found.rows[0]?.count
  }
  return { ask, rows }
}

test('regression: a month of nothing costs a few round trips, however slow the database is, and each hour one row', async () => {
  await keepOne()
  const { ask, rows } = await asker(new Date(MONTH.fromMs))
  const first = await countQueries(ask)
  assert.equal(await rows(), 744)
  const again = await countQueries(ask)
  assert.ok(first < 100, `${first} queries`)
  assert.ok(again < 40, `${again} queries`)
  console.log(`# a month of nothing: ${first} queries, then ${again}`)
})

test('regression: hours before the endpoint existed cost nothing that stays', async () => {
  await keepOne()
  const { ask, rows } = await asker(new Date(MONTH.toMs - 90 * 60_000))
  await ask()
  assert.equal(await rows(), 2, 'the hour in which it was made, and the one after')
  for (const year of ['0000', '0001', '0100', '1969']) {
    const fromMs = Date.parse(`${year}-01-01T00:00:00Z`)
    const queries = await countQueries(async () => {
      const { isFinal, hours } = await ask({ fromMs, toMs: fromMs + 31 * DAY_MS })
      assert.deepEqual([isFinal, hours.length], [true, 744])
    })
    assert.ok(queries < 100, `${queries} queries`)
  }
  assert.equal(await rows(), 2)
})
