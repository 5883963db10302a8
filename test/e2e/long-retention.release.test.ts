// History that is kept for long, on a PostgreSQL 15 as it comes: its lock table has room for 6,400 relations
// in all. A year of days has ten thousand, and 16 readers of two months would lock far more. Lists must not
// notice. Skipped where there is no PostgreSQL 15.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { FEED_START } from '../../server/core/asking/feed-cursor.ts'
import { DAY_MS } from '../../server/core/delivery/backoff.ts'
import { createPool } from '../../server/store/connection/db.ts'
import { readDeliveryDetail } from '../../server/store/history/delivery-details.ts'
import { readDeliverySlice } from '../../server/store/history/delivery-lists.ts'
import { readFeed } from '../../server/store/history/feed.ts'
import { migrate } from '../../server/store/schema/migrate.ts'
import { ensurePartitions } from '../../server/store/schema/partitions.ts'
import { EVERY_DELIVERY as QUERY } from '../../server/store/sql/delivery-query.ts'
import { startInstalledPostgres } from '../support/installed-postgres.ts'
import { storeClient } from '../support/stored-deliveries.ts'

const BIN = '/usr/lib/postgresql/15/bin'
const isInstalled = existsSync(join(BIN, 'initdb')) && existsSync(join(BIN, 'postgres'))
const DAYS = 365
const AT_ONCE = 16
test(`regression: with ${DAYS} days of history, 16 lists at once are all answered`, {
  skip: isInstalled ? false : 'PostgreSQL 15 is not installed here',
}, async (t) => {
  const server = await startInstalledPostgres(BIN)
  const pool = createPool({
    url: server.url,
    connectionsMax: AT_ONCE,
    onIdleError: () => {},
    applicationName: 'paybell test',
    statementTimeoutMs: 60_000,
  })
  t.after(async () => {
    await pool.end()
    await server.stop()
  })
  await migrate(server.url, new Date())
  // For the sake of the time that the test takes; locks are the same.
  await pool.query('alter role paybell set jit = off')
  for (let day = DAYS; day > 0; day -= 8) {
    await ensurePartitions(pool, new Date(Date.now() - day * DAY_MS))
  }
  const { rows } = await pool.query('show max_locks_per_transaction')
  assert.equal(rows[0].max_locks_per_transaction, '64')
  const { clientKey } = await storeClient(pool)

  const reach = { beforeId: null, limit: 51, chunk: 51 }
  const calls = [
    () => readDeliverySlice(pool, QUERY, reach),
    () => readDeliverySlice(pool, { ...QUERY, clientKey }, reach),
    () => readDeliveryDetail(pool, randomUUID(), { clientKey: null, accountId: null }),
    () => readFeed(pool, clientKey, FEED_START, 50),
  ]
  for (let round = 0; round < 3; round++) {
    const answers = await Promise.allSettled(
      Array.from({ length: AT_ONCE }, (_, n) => calls[n % calls.length]?.()),
    )
    const refused = answers.flatMap((it) => (it.status === 'rejected' ? [String(it.reason)] : []))
    assert.deepEqual(refused, [])
  }
})
