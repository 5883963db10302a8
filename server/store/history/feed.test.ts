import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { before, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { Pool } from 'pg'
import { PATIENCE_MS } from '../../../test/support/busy-machine.ts'
import { cloneDatabase, type TestDatabase } from '../../../test/support/database.ts'
import { until } from '../../../test/support/paybell.ts'
import { storeClient } from '../../../test/support/stored-deliveries.ts'
import { FEED_START, type FeedPosition } from '../../core/asking/feed-cursor.ts'
import { DAY_MS } from '../../core/delivery/backoff.ts'
import { UuidMaker, uuidTimeMs } from '../../core/plain/uuid.ts'
import { type Db, inTransaction } from '../connection/db.ts'
import { saveEventsAndFanOut } from '../payments/accept.ts'
import { lockPayments } from '../payments/payments.ts'
import { watchClosedDays } from '../removal/closed-days.ts'
import { dropOldHistory } from '../removal/retention.ts'
import { carryFeedOver } from '../schema/feed-origin.ts'
import { ensurePartitions } from '../schema/partitions.ts'
import { type FeedEvent, readFeed } from './feed.ts'

const ids = new UuidMaker(() => Date.now(), randomBytes)
let database: TestDatabase
let pool: Pool

before(async () => {
  database = await cloneDatabase({ connectionsMax: 30 })
  pool = database.pool
})

type Client = { clientKey: number; accountId: string }

function event(client: Client, paymentId: string = randomUUID(), sequence = 1) {
  return {
    ...client,
    id: ids.next(),
    paymentId,
    sequence,
    kind: 'payment.created',
    text: '{}',
    documentHash: null,
    documentBytes: null,
  }
}

async function save(db: Db, ...events: ReturnType<typeof event>[]): Promise<string[]> {
  await saveEventsAndFanOut(db, events, new Date())
  return events.map(({ id }) => id)
}

async function feedOf(of: Pool, client: Client, after: FeedPosition = FEED_START, limit = 1_000) {
  return (await readFeed(of, client.clientKey, after, limit)).events
}

async function idsOf(of: Pool, client: Client): Promise<string[]> {
  return (await feedOf(of, client)).map(({ id }) => id)
}

/** Not always at once: the server's own upkeep writes in transactions, too. */
async function untilFeedIs(of: Pool, client: Client, expected: readonly unknown[]): Promise<void> {
  await until('the feed has all', async () => {
    return (await feedOf(of, client)).length >= expected.length
  })
  assert.deepEqual(await idsOf(of, client), expected)
}

test('8 writers commit at once, roll back and dawdle: two readers see every event once, in one order', async () => {
  const client = await storeClient(pool)
  const other = await storeClient(pool)
  const shared = Array.from({ length: 6 }, () => randomUUID())
  const sequences = new Map<string, number>()
  const committed: string[] = []
  let writing = 8
  const dice = () => Math.floor(Math.random() * 1_000)

  const write = async () => {
    for (let turn = 0; turn < 25; turn++) {
      const db = await pool.connect()
      try {
        await db.query('begin')
        const roll = dice()
        // Now and then a foreign transaction: it has written something of its own long before.
        if (roll % 3 === 0) {
          await db.query('select pg_current_xact_id()')
          await delay(roll % 25)
        }
        const mine = shared.filter(() => dice() % 4 === 0)
        await lockPayments(db, mine)
        const events = mine.map((id) => event(client, id, (sequences.get(id) ?? 0) + 1))
        events.push(event(client), event(other))
        if (dice() % 2) await delay(dice() % 5)
        const saved = await save(db, ...events)
        if (dice() % 2) await delay(dice() % 15)
        const isKept = dice() % 5 > 0
        // Numbers are taken under the payments' locks, and only by what will commit.
        if (isKept) for (const { paymentId, sequence } of events) sequences.set(paymentId, sequence)
        await db.query(isKept ? 'commit' : 'rollback')
        if (isKept) committed.push(...saved.slice(0, -1))
      } finally {
        db.release()
      }
    }
    writing -= 1
  }

  const read = async (limit: number) => {
    const seen: FeedEvent[] = []
    for (const limitMs = performance.now() + PATIENCE_MS; performance.now() < limitMs; ) {
      const isLast = writing === 0 && seen.length >= committed.length
      const page = await feedOf(pool, client, seen.at(-1) ?? FEED_START, limit)
      seen.push(...page)
      if (page.length === 0) {
        if (isLast) return seen
        await delay(1)
      }
    }
    return seen
  }

  const [one, two] = await Promise.all([
    read(7),
    read(100),
    ...Array.from({ length: 8 }, write),
  ] as const)
  assert.equal(new Set(one.map(({ id }) => id)).size, one.length, 'one twice')
  assert.deepEqual(new Set(one.map(({ id }) => id)), new Set(committed))
  assert.deepEqual(
    one.map(({ id }) => id),
    two.map(({ id }) => id),
  )
  for (const paymentId of shared) {
    const numbers = one.filter((e) => e.paymentId === paymentId).map(({ sequence }) => sequence)
    assert.deepEqual(
      numbers,
      numbers.map((_, index) => index + 1),
      'a payment went backwards',
    )
  }
})

test('a transaction that stays open holds the feed at its place, and nothing is passed over', async () => {
  const client = await storeClient(pool)
  const [first] = await save(pool, event(client))
  const slow = await pool.connect()
  await slow.query('begin')
  const [late] = await save(slow, event(client))
  const [quick] = await save(pool, event(client))
  await untilFeedIs(pool, client, [first])
  await slow.query('commit')
  slow.release()
  await untilFeedIs(pool, client, [first, late, quick])
})

test('update 2 of a payment stands behind update 1, also out of a transaction that is older', async () => {
  const client = await storeClient(pool)
  const paymentId = randomUUID()
  const old = await pool.connect()
  await old.query('begin')
  await old.query('select pg_current_xact_id()')
  const [first] = await save(pool, event(client, paymentId, 1))
  const [second] = await save(old, event(client, paymentId, 2))
  await old.query('commit')
  old.release()
  // Seen although nobody writes any more: a place is never ahead of all transactions.
  await untilFeedIs(pool, client, [first, second])
})

test('an event of a day long past, written now, stands at the end', async () => {
  const client = await storeClient(pool)
  const [today] = await save(pool, event(client))
  const old = new UuidMaker(() => Date.now() - 20 * DAY_MS, randomBytes)
  const [late] = await save(pool, { ...event(client), id: old.next() })
  await untilFeedIs(pool, client, [today, late])
})

test('a page is read through the index, whatever else the table holds', async () => {
  const client = await storeClient(pool)
  const { rows } = await pool.query<{ 'QUERY PLAN': string }>(
    `explain select id from events
     where client_key = $1 and (place, sequence, id) > (5, 1, $2::uuid) and place < 1000
     order by place, sequence, id limit 10`,
    [client.clientKey, randomUUID()],
  )
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
  assert.doesNotMatch(plan, /-> {2}(Incremental )?Sort|Seq Scan/)
  assert.match(plan, /client_key_place_sequence_id_idx/)
})

test('a dump restored into another cluster: old cursors go on, new events stand behind all old ones', async () => {
  const moved = await cloneDatabase()
  const client = await storeClient(moved.pool)
  const [one, two] = await save(moved.pool, event(client), event(client))
  await untilFeedIs(moved.pool, client, [one, two])
  const [first, last] = await feedOf(moved.pool, client)
  assert.equal(await carryFeedOver(moved.pool), false)
  // As if those two had been written where transaction ids were a thousand million further on.
  await moved.pool.query('update events set place = place + 1000000000')
  await moved.pool.query('update feed_origin set system_identifier = system_identifier + 1')
  assert.deepEqual(await idsOf(moved.pool, client), [], 'hidden: their transactions seem to run')
  const db = await moved.pool.connect()
  await db.query('begin')
  assert.equal(await carryFeedOver(db), true)
  await db.query('commit')
  db.release()
  const [three] = await save(moved.pool, event(client))
  await untilFeedIs(moved.pool, client, [one, two, three])
  const shifted = (at: FeedEvent | undefined, by: number) => ({
    ...(at ?? assert.fail()),
    position: String(Number(at?.position) + by),
  })
  const rest = await feedOf(moved.pool, client, shifted(first, 1_000_000_000))
  assert.deepEqual(
    rest.map(({ id }) => id),
    [two, three],
  )
  // A reader that had seen more than the dump holds misses nothing of what is written now.
  const ahead = await feedOf(moved.pool, client, shifted(last, 1_900_000_000))
  assert.deepEqual(
    ahead.map(({ id }) => id),
    [three],
  )
  assert.equal(await carryFeedOver(moved.pool), false)
})

test('regression: events written after a promotion stand behind all that readers have seen', async () => {
  const promoted = await cloneDatabase()
  const client = await storeClient(promoted.pool)
  const [before] = await save(promoted.pool, event(client))
  await untilFeedIs(promoted.pool, client, [before])
  const [seen = assert.fail()] = await feedOf(promoted.pool, client)
  // The primary went on for a thousand transactions, which the standby never got, and a reader has read
  // what was written in them.
  const cursor = { ...seen, position: String(BigInt(seen.position) + 1_000n) }
  const promote = (timeline: number) =>
    promoted.pool.query(`create or replace function feed_timeline() returns integer
      language sql volatile parallel safe as 'select ${timeline}'`)
  await promote(2)
  const written = await save(promoted.pool, event(client), event(client))
  await untilFeedIs(promoted.pool, client, [before, ...written])
  const read = await feedOf(promoted.pool, client, cursor)
  assert.deepEqual(
    read.map(({ id }) => id),
    written,
  )
  // Nothing had to notice it, and nothing does so later.
  assert.equal(await carryFeedOver(promoted.pool), false)

  // And once more, on from there.
  await promote(3)
  const [third] = await save(promoted.pool, event(client))
  const last = read.at(-1) ?? assert.fail()
  await untilFeedIs(promoted.pool, client, [before, ...written, third])
  const ahead = { ...last, position: String(BigInt(last.position) + 1_000_000_000n) }
  assert.deepEqual(
    (await feedOf(promoted.pool, client, ahead)).map(({ id }) => id),
    [third],
  )
})

test('places rise with the timeline, whatever transaction ids do', async () => {
  const { rows } = await pool.query<{ place: string }>(
    `select place_of(id, timeline, 7, 3)::text as place from (values
       -- Before the origin: another cluster's timeline counts for nothing.
       (5000::bigint, 1), (5000, 3), (9000, 3), (10, 4), (8000, 4), (3, 900), (4, 500003)
     ) as v (id, timeline)`,
  )
  const places = rows.map(({ place }) => BigInt(place))
  assert.deepEqual(places.slice(0, 3), [5_007n, 5_007n, 9_007n])
  for (const [index, place] of places.entries()) {
    if (index > 1) assert.ok(place > (places[index - 1] ?? 0n), `${index}`)
    // What a cursor has room for (core/asking/feed-cursor.ts).
    assert.match(String(place), /^\d{1,18}$/)
  }
})

test('a feed that the version before has carried over gets its timeline back', async () => {
  const { pool: old } = await cloneDatabase()
  const client = await storeClient(old)
  const [one] = await save(old, event(client))
  await old.query('alter table events alter column place set default feed_place(1099511627776)')
  await old.query('update feed_origin set shift = 1099511627776')
  const [two] = await save(old, event(client))
  await untilFeedIs(old, client, [one, two])
  assert.equal(await inTransaction(old, carryFeedOver), true)
  const [three] = await save(old, event(client))
  await untilFeedIs(old, client, [one, two, three])
  assert.equal(await carryFeedOver(old), false)
})

test('what an open transaction holds back is told, so that it does not count as seen', async () => {
  const client = await storeClient(pool)
  const slow = await pool.connect()
  await slow.query('begin')
  await slow.query('select pg_current_xact_id()')
  const [hidden = assert.fail()] = await save(pool, event(client))
  const held = await readFeed(pool, client.clientKey, FEED_START, 10, Date.now())
  assert.deepEqual(held.events, [])
  assert.equal(held.heldSinceMs, uuidTimeMs(hidden))
  await slow.query('commit')
  slow.release()
  await untilFeedIs(pool, client, [hidden])
  const { heldSinceMs } = await readFeed(pool, client.clientKey, FEED_START, 10, Date.now())
  assert.equal(heldSinceMs, null)
})

test('a reader finds events that were made hours before it looked last and committed after it', async () => {
  const client = await storeClient(pool)
  const [first] = await save(pool, event(client))
  await untilFeedIs(pool, client, [first])
  const [seen = assert.fail()] = await feedOf(pool, client)
  const earlier = new UuidMaker(() => Date.now() - DAY_MS / 2, randomBytes)
  const [late] = await save(pool, { ...event(client), id: earlier.next() })
  await untilFeedIs(pool, client, [first, late])
  const read = await readFeed(pool, client.clientKey, seen, 10, Date.now())
  assert.deepEqual(
    read.events.map(({ id }) => id),
    [late],
  )
})

/** A process that starts while the clock is days behind. */
function datedBack(client: Client, days: number) {
  return {
    ...event(client),
    id: new UuidMaker(() => Date.now() - days * DAY_MS, randomBytes).next(),
  }
}

for (const [what, days] of [
  ['that is over', 5],
  ['that has no partition', 400],
] as const) {
  test(`regression: an event that a clock has dated into a day ${what} is read by those who have passed that day`, async () => {
    const { pool } = await cloneDatabase()
    const client = await storeClient(pool)
    await ensurePartitions(pool, new Date(Date.now() - 7 * DAY_MS))
    assert.deepEqual(await watchClosedDays(pool, new Date()), [])
    await untilFeedIs(pool, client, await save(pool, event(client)))
    const [seen] = (await feedOf(pool, client)) as [FeedEvent]
    const late = await save(pool, datedBack(client, days), datedBack(client, days))
    const next = await save(pool, event(client))
    const read = async () => {
      const { events } = await readFeed(pool, client.clientKey, seen, 100, Date.now())
      return events.map(({ id }) => id)
    }
    await until('the feed is settled', async () => (await read()).includes(next[0] as string))
    assert.deepEqual((await read()).toSorted(), [...late, ...next].toSorted())
  })
}

test('regression: a page that ends in what came late leaves out nothing that came before it', async () => {
  const { pool } = await cloneDatabase()
  const client = await storeClient(pool)
  for (const days of [28, 21, 14, 7]) {
    await ensurePartitions(pool, new Date(Date.now() - days * DAY_MS))
  }
  const first = await save(pool, datedBack(client, 25))
  assert.deepEqual(await watchClosedDays(pool, new Date()), [])
  const second = await save(pool, event(client))
  const third = await save(pool, datedBack(client, 25))
  const fourth = await save(pool, event(client))
  const all = [...first, ...second, ...third, ...fourth]
  await untilFeedIs(pool, client, all)
  const read: FeedEvent[] = []
  for (;;) {
    const page = await feedOf(pool, client, read.at(-1) ?? FEED_START, 2)
    read.push(...page)
    if (page.length === 0) break
  }
  assert.deepEqual(
    read.map(({ id }) => id),
    all,
  )
})

test('what is accepted in time meets no trigger, and a day that goes takes its note along', async () => {
  const { pool } = await cloneDatabase()
  const client = await storeClient(pool)
  await ensurePartitions(pool, new Date(Date.now() - 7 * DAY_MS))
  await watchClosedDays(pool, new Date())
  await save(pool, event(client), event(client))
  const notes = async () => (await pool.query('select day from late_days')).rowCount
  assert.equal(await notes(), 0)
  const { rows } = await pool.query<{ name: string }>(
    `select tgrelid::regclass::text as name from pg_trigger
     where tgname = 'late_day_is_noted' order by 1`,
  )
  const today = new Date().toISOString().slice(0, 10).replaceAll('-', '_')
  const watched = rows.map(({ name }) => name)
  assert.ok(watched.length >= 7 && watched.includes('events_default'), watched.join(' '))
  assert.ok(watched.every((name) => name < `events_${today}` || name === 'events_default'))
  await save(pool, datedBack(client, 5))
  assert.equal(await notes(), 1)
  await dropOldHistory(pool, new Date(), 2)
  assert.equal(await notes(), 0)
})
