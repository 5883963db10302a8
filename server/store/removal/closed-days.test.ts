import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { cloneDatabase } from '../../../test/support/database.ts'
import { until } from '../../../test/support/paybell.ts'
import { DAY_MS } from '../../core/delivery/backoff.ts'
import { ensurePartitions } from '../schema/partitions.ts'
import { vacuumClosedDays } from './closed-days.ts'

const NOW = new Date(Math.floor(Date.now() / DAY_MS) * DAY_MS + DAY_MS / 2)
const dayName = (table: string, days: number) =>
  `${table}_${new Date(NOW.getTime() + days * DAY_MS).toISOString().slice(0, 10).replaceAll('-', '_')}`

const { pool } = await cloneDatabase()

async function optionsOf(table: string): Promise<readonly string[]> {
  const { rows } = await pool.query('select reloptions as of from pg_class where relname = $1', [
    table,
  ])
  return rows[0]?.of ?? []
}

test('no insert brings autovacuum to a day, wherever its partition comes from; its age does', async () => {
  await ensurePartitions(pool, new Date(NOW.getTime() + 40 * DAY_MS))
  for (const table of ['events', 'final_deliveries', 'earlier_attempts']) {
    for (const days of [0, 40]) {
      const options = await optionsOf(dayName(table, days))
      assert.deepEqual(options.toSorted(), [
        'autovacuum_analyze_scale_factor=1',
        'autovacuum_analyze_threshold=100000',
        'autovacuum_vacuum_insert_threshold=-1',
      ])
    }
  }
  const audit = await optionsOf(`${dayName('audit', 0).slice(0, -2)}01`)
  assert.ok(audit.includes('autovacuum_vacuum_insert_scale_factor=1'), String(audit))
})

test('a day is vacuumed, frozen and analyzed once, when it is over', async () => {
  await ensurePartitions(pool, new Date(NOW.getTime() - 2 * DAY_MS))
  const yesterday = dayName('final_deliveries', -1)
  await pool.query(
    `insert into final_deliveries (client_key, id, event_id, endpoint_id, payment_id, account_id,
       sequence, kind, created_at, state, attempts, finished_at)
     values (1, $1, $1, $1, $1, $1, 1, 'payment.created', $2, 'CANCELLED', 0, $2)`,
    [randomUUID(), new Date(NOW.getTime() - DAY_MS)],
  )
  const atMidnight = new Date(NOW.getTime() - DAY_MS / 2)
  const early = await vacuumClosedDays(pool, atMidnight)
  assert.ok(!early.vacuumed.includes(yesterday), 'its last rows may still come')
  const { vacuumed, left } = await vacuumClosedDays(pool, NOW)
  assert.deepEqual(left, [])
  for (const table of ['events', 'final_deliveries', 'earlier_attempts']) {
    assert.ok(vacuumed.includes(dayName(table, -1)))
    assert.ok(!vacuumed.includes(dayName(table, 0)), 'today goes on')
  }
  const { reltuples, age } = await frozen(yesterday)
  assert.equal(reltuples, 1)
  assert.ok(age < 1_000_000, 'a plain vacuum freezes what is fifty times as old')
  assert.deepEqual(await vacuumClosedDays(pool, NOW), { vacuumed: [], left: [] })
})

/** A vacuum passes over what it may not freeze yet, because some connection to the server is just beginning. Then the
 *  server is made to forget that it was there. */
async function frozen(table: string): Promise<{ reltuples: number; age: number }> {
  return until(`${table} is frozen`, async () => {
    const { rows } = await pool.query(
      `select c.reltuples, c.relallvisible = c.relpages as is_visible, age(c.relfrozenxid) as age
       from pg_class c where c.relname = $1`,
      [table],
    )
    if (rows[0].is_visible) return rows[0]
    await pool.query(`select pg_stat_reset_single_table_counters($1::regclass)`, [table])
    assert.deepEqual((await vacuumClosedDays(pool, NOW)).vacuumed, [table])
    return undefined
  })
}
