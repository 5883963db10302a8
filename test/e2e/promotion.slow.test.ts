// A standby that lacks the primary's last transactions is promoted: transaction ids begin again where the
// standby was, and readers of the event feed must not notice. On a real PostgreSQL 15, where there is one.

import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { Pool } from 'pg'
import { FEED_START, type FeedPosition } from '../../server/core/asking/feed-cursor.ts'
import { UuidMaker } from '../../server/core/plain/uuid.ts'
import { type FeedEvent, readFeed } from '../../server/store/history/feed.ts'
import { saveEventsAndFanOut } from '../../server/store/payments/accept.ts'
import { migrate } from '../../server/store/schema/migrate.ts'
import { openPool } from '../support/database.ts'
import { startInstalledPostgres, startStandby } from '../support/installed-postgres.ts'
import { storeClient } from '../support/stored-deliveries.ts'
import { onServer } from '../support/test-server.ts'

const BIN = '/usr/lib/postgresql/15/bin'
const isInstalled = ['initdb', 'postgres', 'pg_basebackup'].every((it) => existsSync(join(BIN, it)))
const ids = new UuidMaker(() => Date.now(), randomBytes)

type Client = { clientKey: number; accountId: string }

/** Each in a transaction of its own. */
async function write(pool: Pool, client: Client, count: number): Promise<string[]> {
  const written: string[] = []
  for (let n = 0; n < count; n++) {
    const id = ids.next()
    const event = {
      ...client,
      id,
      paymentId: randomUUID(),
      sequence: 1,
      kind: 'payment.created',
      text: '{}',
      documentHash: null,
      documentBytes: null,
    }
    await saveEventsAndFanOut(pool, [event], new Date())
    written.push(id)
  }
  return written
}

/** What a reader finds that goes on from a position: as many as are expected, or all there are in a while. */
async function read(pool: Pool, client: Client, after: FeedPosition, count: number) {
  let events: readonly FeedEvent[] = []
  for (const limit = performance.now() + 5_000; performance.now() < limit; await delay(10)) {
    events = (await readFeed(pool, client.clientKey, after, 1_000)).events
    if (events.length >= count) break
  }
  return events
}

test('regression: after a failover to a standby that lags, readers of the feed miss nothing', {
  skip: isInstalled ? false : 'PostgreSQL 15 is not installed here',
}, async (t) => {
  const primary = await startInstalledPostgres(BIN)
  const stops: (() => Promise<void> | void)[] = [() => primary.stop()]
  t.after(async () => {
    for (const stop of stops.toReversed()) await stop()
  })
  const open = (url: string) => openPool({ after: (stop) => stops.push(stop) }, url, 2)
  await migrate(primary.url, new Date())
  const old = open(primary.url)
  const client = await storeClient(old)
  const kept = await write(old, client, 20)

  const standby = await startStandby(BIN, primary)
  stops.push(() => standby.stop())
  await write(old, client, 300)
  const seen = (await read(old, client, FEED_START, 320)).at(-1) ?? assert.fail('nothing was read')

  await onServer(standby.url, (connection) => connection.query('select pg_promote()'))
  const promoted = open(standby.url)
  const written = await write(promoted, client, 100)
  const found = await read(promoted, client, seen, 100)
  assert.deepEqual(
    found.map(({ id }) => id),
    written,
    `the reader finds ${found.length} of 100`,
  )
  assert.deepEqual(
    (await read(promoted, client, FEED_START, 120)).map(({ id }) => id),
    [...kept, ...written],
  )
  const { rows } = await promoted.query<{ timeline: number }>('select feed_timeline() as timeline')
  assert.equal(rows[0]?.timeline, 2)
})
