// What is not kept for ever goes, and nothing else does.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import type { Pool } from 'pg'
import { cloneDatabase } from '../../test/support/database.ts'
import {
  idAt,
  storeClient,
  storeEndpoint,
  storePending,
} from '../../test/support/stored-deliveries.ts'
import { DAY_MS } from '../core/delivery/backoff.ts'
import { forgetDocuments, forgetPayments } from './forget-old.ts'

const NOW_MS = Date.parse('2026-11-17T09:30:00Z')
const clock = { nowMs: () => NOW_MS, monotonicMs: () => 0 }
const daysAgo = (days: number) => new Date(NOW_MS - days * DAY_MS)

function depsOf(pool: Pool, days: { payments?: number }) {
  return { pool, clock, config: { paymentRetentionDays: days.payments ?? null } }
}

async function storePayment(pool: Pool, clientKey: number, accepted: Date, changed = accepted) {
  const id = randomUUID()
  await pool.query(
    `insert into payments (client_key, id, account_id, sequence, text, accepted_at, changed_at)
     values ($1, $2, $2, 1, '{}', $3, $4)`,
    [clientKey, id, accepted, changed],
  )
  return id
}

async function paymentIds(pool: Pool): Promise<Set<string>> {
  const { rows } = await pool.query<{ id: string }>('select id from payments')
  return new Set(rows.map(({ id }) => id))
}

test('regression: payments whose last change is long past and that owe no delivery are removed', async () => {
  const { pool } = await cloneDatabase()
  const one = await storeClient(pool)
  const other = await storeClient(pool)
  const endpoint = await storeEndpoint(pool, one.clientKey)
  const kept: string[] = []
  for (const { clientKey } of [one, other]) {
    for (let n = 0; n < 5; n++) await storePayment(pool, clientKey, daysAgo(500 + n))
    kept.push(await storePayment(pool, clientKey, daysAgo(399)))
    // First written long ago, and changed since.
    kept.push(await storePayment(pool, clientKey, daysAgo(600), daysAgo(3)))
  }
  const owed = await storePayment(pool, one.clientKey, daysAgo(550))
  await storePending(pool, endpoint, { payment_id: owed, id: idAt(daysAgo(550)) })

  assert.equal(await forgetPayments(depsOf(pool, {})), 0, 'for ever, unless it is asked for')
  assert.equal(await forgetPayments(depsOf(pool, { payments: 400 }), 2), 10)
  assert.deepEqual(await paymentIds(pool), new Set([...kept, owed]))
  assert.equal(await forgetPayments(depsOf(pool, { payments: 400 }), 2), 0)
  await pool.query('delete from pending_deliveries')
  assert.equal(await forgetPayments(depsOf(pool, { payments: 400 })), 1)
  assert.deepEqual(await paymentIds(pool), new Set(kept))
})

test('a payment that is being written is passed over, not waited for', async () => {
  const { pool } = await cloneDatabase()
  const { clientKey } = await storeClient(pool)
  const busy = await storePayment(pool, clientKey, daysAgo(500))
  await storePayment(pool, clientKey, daysAgo(500))
  const writer = await pool.connect()
  await writer.query('begin')
  await writer.query('update payments set changed_at = $2 where id = $1', [busy, daysAgo(0)])
  assert.equal(await forgetPayments(depsOf(pool, { payments: 400 })), 1)
  await writer.query('commit')
  writer.release()
  assert.equal(await forgetPayments(depsOf(pool, { payments: 400 })), 0)
  assert.deepEqual(await paymentIds(pool), new Set([busy]))
})

test('a round has a limit of time, and the next one goes on', async () => {
  const { pool } = await cloneDatabase()
  const { clientKey } = await storeClient(pool)
  for (let n = 0; n < 4; n++) await storePayment(pool, clientKey, daysAgo(500 + n))
  let asked = 0
  const slow = { ...clock, monotonicMs: () => asked++ * 40_000 }
  const deps = { ...depsOf(pool, { payments: 400 }), clock: slow }
  assert.equal(await forgetPayments(deps, 2), 2)
  assert.equal(await forgetPayments(deps, 2), 2)
})

test('regression: a round looks at all files, and one that is cut off is gone on with', async () => {
  const { pool } = await cloneDatabase()
  for (let n = 1; n <= 5; n++) {
    const created = daysAgo(n === 3 ? 1 : 40)
    await pool.query('insert into documents values (1, $1, $2, $3)', [
      Buffer.alloc(32, n),
      'AAAA',
      created,
    ])
  }
  let asked = 0
  const late = { nowMs: () => NOW_MS, monotonicMs: () => 40_000 * asked++ }
  const config = { retentionDays: 30 }
  const first = await forgetDocuments({ pool, clock: late, config }, null, 2)
  assert.deepEqual(first, { count: 3, next: { clientKey: 1, hash: Buffer.alloc(32, 4) } })
  const second = await forgetDocuments({ pool, clock, config }, first.next, 2)
  assert.deepEqual(second, { count: 1, next: null })
  const { rows } = await pool.query<{ hash: Buffer }>('select hash from documents')
  assert.deepEqual(
    rows.map(({ hash }) => hash[0]),
    [3],
  )
})
