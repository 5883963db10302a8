// A hundred days, or a whole year of them: what reads history locks a few of them at a time, and finds what lies
// on any of them.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { cloneDatabase } from '../../../test/support/database.ts'
import { countLocks } from '../../../test/support/lock-counter.ts'
import { sized } from '../../../test/support/size.ts'
import {
  attemptRecord,
  holdShard,
  idAt,
  storeClient,
  storeEndpoint,
} from '../../../test/support/stored-deliveries.ts'
import { FEED_START } from '../../core/asking/feed-cursor.ts'
import { DAY_MS } from '../../core/delivery/backoff.ts'
import { uuidFloor } from '../../core/plain/uuid.ts'
import { inTransaction } from '../connection/db.ts'
import { beginNotices, countExhausted } from '../endpoints/notices.ts'
import {
  readAttempts,
  readDeliveriesOfEvents,
  readDeliveryDetail,
} from '../history/delivery-details.ts'
import { readDeliverySlice } from '../history/delivery-lists.ts'
import { findEvent as findOwnerOfEvent } from '../history/delivery-search.ts'
import { countFit, noteItems } from '../history/delivery-selections.ts'
import { readEventsOfPayment, readPayloads } from '../history/events.ts'
import { findEvent, readFeed } from '../history/feed.ts'
import { readDatabaseGauges } from '../history/service-figures.ts'
import { readFinalCounts } from '../history/stats.ts'
import { findFinal } from '../owed/one-delivery.ts'
import { recordOutcomes } from '../owed/outcomes.ts'
import { disableFailing } from '../owed/parked.ts'
import { replayDeliveries, takeOfFewDays } from '../owed/replays.ts'
import { readPaymentSlice } from '../payments/payment-lists.ts'
import { readLatestPaymentText } from '../payments/payments.ts'
import { listAudit } from '../proofs/audit-table.ts'
import { eraseExcerpts, eraseTexts } from '../removal/erasures.ts'
import { deleteUnusedDocuments, dropOldHistory } from '../removal/retention.ts'
import { ensurePartitions } from '../schema/partitions.ts'
import { type DeliveryQuery, EVERY_DELIVERY as QUERY } from './delivery-query.ts'
import { idsWithin, readStretches, readStretchesSince, timesWithin } from './stretches.ts'

const DAYS = sized(100, 365)
/** Of the 6,400 that a PostgreSQL has room for as it comes, for all its sessions together. The table with the fewest
 *  indexes has two relations a day: to lock all of its days is always too much. */
const LOCKS_MAX = sized(180, 260)
const DAYS_BETWEEN = sized(16, 30)

const database = await cloneDatabase({ connectionsMax: 2 })
const { pool } = database
const TODAY_MS = Math.floor(Date.now() / DAY_MS) * DAY_MS
const NOON = new Date(TODAY_MS + DAY_MS / 2)
for (let day = DAYS; day > 0; day -= 8) {
  await ensurePartitions(pool, new Date(TODAY_MS - day * DAY_MS))
}
const { clientKey, accountId } = await storeClient(pool)
const endpoint = await storeEndpoint(pool, clientKey)
const epoch = await holdShard(pool)

interface Stored {
  id: string
  eventId: string
  paymentId: string
  sequence: number
  madeAt: Date
  finishedAt: Date
}

/** One payment with an update now and then; each was delivered two days later, the first only yesterday. */
const paymentId = randomUUID()
const stored: Stored[] = []
for (let day = DAYS - 5, sequence = 1; day > 0; day -= DAYS_BETWEEN, sequence++) {
  stored.push(await store(sequence, day))
}
const [oldest = assert.fail(), second = assert.fail()] = stored
const newest = stored.at(-1) ?? assert.fail()
const ids = stored.map(({ id }) => id)
const newestFirst = ids.toReversed()
const eventIds = stored.map(({ eventId }) => eventId)
await pool.query(
  `insert into payments (client_key, id, account_id, sequence, text, accepted_at, changed_at)
   values ($1, $2, $3, $4, '{"n":1}', $5, $5)`,
  [clientKey, paymentId, accountId, stored.length, oldest.madeAt],
)

async function store(sequence: number, day: number): Promise<Stored> {
  const madeAt = new Date(NOON.getTime() - day * DAY_MS)
  const finishedAt = new Date(
    sequence === 1 ? NOON.getTime() - DAY_MS : madeAt.getTime() + 2 * DAY_MS,
  )
  const row = { id: idAt(madeAt), eventId: idAt(madeAt), paymentId, sequence, madeAt, finishedAt }
  await pool.query(
    `insert into events (client_key, id, payment_id, account_id, sequence, kind, text, created_at)
     values ($1, $2, $3, $4, $5, 'payment.updated', '{}', $6)`,
    [clientKey, row.eventId, paymentId, accountId, sequence, madeAt],
  )
  await pool.query(
    `insert into final_deliveries (client_key, id, event_id, endpoint_id, payment_id, account_id,
       sequence, kind, created_at, state, attempts, finished_at, last_outcome, last_status,
       attempted_at, duration_ms)
     values ($1, $2, $3, $4, $5, $6, $7, 'payment.updated', $8, 'DELIVERED', 2, $9, 'answered', 200,
       $9, 5)`,
    [
      clientKey,
      row.id,
      row.eventId,
      endpoint.endpointId,
      paymentId,
      accountId,
      sequence,
      madeAt,
      finishedAt,
    ],
  )
  await pool.query(
    `insert into earlier_attempts (client_key, delivery_id, attempt, at, duration_ms, outcome)
     values ($1, $2, 1, $3, 5, 'timeout')`,
    [clientKey, row.id, madeAt],
  )
  return row
}

const OWNER = { clientKey, accountId: null }
const counter = countLocks(pool)

/** Often enough that PostgreSQL would make one plan for all parameters of what has a name. */
const ROUNDS = 6

async function withFewLocks(name: string, read: (of: typeof pool) => Promise<unknown>) {
  counter.takeMax()
  for (let round = 0; round < ROUNDS; round++) await read(counter.pool)
  const locks = counter.takeMax()
  assert.ok(locks > 0 && locks <= LOCKS_MAX, `${name} locks ${locks} relations`)
}

async function readAll(of: typeof pool, query: Partial<DeliveryQuery>, limit: number) {
  const seen: string[] = []
  for (let beforeId: string | null = null; ; ) {
    const slice = await readDeliverySlice(
      of,
      { ...QUERY, ...query },
      { beforeId, limit, chunk: 50 },
    )
    seen.push(...slice.items.map(({ id }) => id))
    beforeId = slice.items.length === limit ? (slice.items.at(-1)?.id ?? null) : slice.downTo
    if (beforeId === null) return seen
  }
}

const LISTS: Readonly<Record<string, Partial<DeliveryQuery>>> = {
  'everything, for the operator': {},
  'of a client': { clientKey },
  'of an endpoint': { clientKey, endpointId: endpoint.endpointId },
  'delivered ones': { states: ['DELIVERED'] },
  'of a time': { fromMs: oldest.madeAt.getTime(), toMs: NOON.getTime() },
  'of a payment': { payments: [{ clientKey, paymentId }] },
}

test('regression: a list of deliveries locks a few days at a time and shows all of them', async () => {
  for (const [name, query] of Object.entries(LISTS)) {
    counter.takeMax()
    assert.deepEqual(
      await readAll(counter.pool, query, name === 'of a client' ? 5 : 100),
      newestFirst,
    )
    assert.ok(counter.takeMax() <= LOCKS_MAX, name)
  }
  const reach = { beforeId: null, limit: 1, chunk: 50 }
  await withFewLocks('the first page', (of) => readDeliverySlice(of, QUERY, reach))
  const rare: Partial<DeliveryQuery> = { states: ['EXHAUSTED', 'CANCELLED'] }
  assert.deepEqual(await readAll(counter.pool, rare, 5), [])
  const ofEvent = { event: { clientKey, eventId: oldest.eventId } }
  assert.deepEqual(await readAll(counter.pool, ofEvent, 5), [oldest.id])
  assert.deepEqual(await readAll(counter.pool, { deliveryId: second.id }, 5), [second.id])
  assert.deepEqual(await readAll(counter.pool, { deliveryId: randomUUID() }, 5), [])
  assert.ok(counter.takeMax() <= LOCKS_MAX)
})

test('regression: what is looked up by its id locks a few days', async () => {
  await withFewLocks('a delivery', async (of) => {
    for (const { id } of [second, newest]) {
      assert.equal((await readDeliveryDetail(of, id, OWNER))?.id, id)
      assert.equal((await readDeliveryDetail(of, id, { clientKey: null, accountId: null }))?.id, id)
    }
    for (const strange of [randomUUID(), uuidFloor(2 ** 48 - 1)]) {
      assert.equal(await readDeliveryDetail(of, strange, OWNER), null)
    }
  })
  assert.equal(await readDeliveryDetail(counter.pool, uuidFloor(0), OWNER), null)
  const detail = await readDeliveryDetail(counter.pool, oldest.id, OWNER)
  await withFewLocks('its attempts', async (of) => {
    const attempts = await readAttempts(of, detail ?? assert.fail())
    assert.deepEqual(
      attempts.map(({ attempt, outcome }) => [attempt, outcome]),
      [
        [1, 'timeout'],
        [2, 'answered'],
      ],
    )
  })
  await withFewLocks('an event', async (of) => {
    assert.equal((await findEvent(of, OWNER, second.eventId))?.sequence, 2)
    assert.equal((await findOwnerOfEvent(of, second.eventId))?.clientKey, clientKey)
  })
  await withFewLocks('payloads', async (of) => {
    const found = await readPayloads(
      of,
      eventIds.map((eventId) => ({ clientKey, eventId })),
    )
    assert.equal(found.size, eventIds.length)
  })
  assert.equal(await inTransaction(counter.pool, (db) => findFinal(db, OWNER, uuidFloor(0))), null)
  await withFewLocks('what can be replayed', (of) =>
    inTransaction(of, async (db) => {
      assert.equal((await findFinal(db, OWNER, second.id))?.hasPayload, true)
    }),
  )
})

test('regression: events are read with few locks, and in their order', async () => {
  await withFewLocks('of a payment', async (of) => {
    for (const limit of [5, 100]) {
      const seen: number[] = []
      for (let beforeSequence: number | null = null; ; ) {
        const page = { limit, beforeSequence }
        const events = await readEventsOfPayment(of, clientKey, paymentId, page)
        seen.push(...events.map(({ sequence }) => sequence))
        if (events.length < limit) break
        beforeSequence = seen.at(-1) ?? null
      }
      assert.deepEqual(seen, stored.map(({ sequence }) => sequence).toReversed())
    }
  })
  await withFewLocks('with their deliveries', async (of) => {
    const found = await readDeliveriesOfEvents(of, clientKey, eventIds)
    assert.deepEqual(
      eventIds.map((id) => found.get(id)?.map((delivery) => delivery.id)),
      ids.map((id) => [id]),
    )
  })
  await withFewLocks('the newest', (of) => readLatestPaymentText(of, clientKey))
  await withFewLocks('the feed', async (of) => {
    for (const limit of [5, 100]) {
      const seen: string[] = []
      let after = FEED_START
      let seenUntilMs = 0
      for (;;) {
        const { events } = await readFeed(of, clientKey, after, limit, seenUntilMs)
        seen.push(...events.map(({ id }) => id))
        const last = events.at(-1)
        if (last === undefined || events.length < limit) break
        after = last
        seenUntilMs = stored.find(({ eventId }) => eventId === last.id)?.madeAt.getTime() ?? 0
      }
      assert.deepEqual(seen, eventIds)
    }
  })
})

test('regression: counts, notices, selections and upkeep lock a few days at a time', async () => {
  await inTransaction(pool, (db) => beginNotices(db, new Date(NOON.getTime() - 60 * DAY_MS)))
  await withFewLocks('notices', (of) => countExhausted(of, 0, NOON))
  await pool.query(
    `insert into endpoint_health (client_key, endpoint_id, failing_since) values ($1, $2, $3)`,
    [clientKey, endpoint.endpointId, new Date(NOON.getTime() - 9 * DAY_MS)],
  )
  await withFewLocks('endpoints that only fail', (of) =>
    disableFailing(
      of,
      [{ shard: endpoint.shard, epoch }],
      new Date(NOON.getTime() - 7 * DAY_MS),
      NOON,
    ),
  )
  await withFewLocks('recording', (of) =>
    recordOutcomes(
      of,
      [
        attemptRecord({
          ...{ clientKey, id: oldest.id, shard: endpoint.shard, epoch, paymentId },
          ...{ endpointId: endpoint.endpointId, attempt: 2, atMs: oldest.finishedAt.getTime() },
          ...{ firstAttemptAtMs: 0, deadlineAtMs: NOON.getTime() },
        }),
      ],
      NOON,
    ),
  )
  const recorded = await pool.query('select from earlier_attempts where attempt = 2')
  assert.equal(recorded.rowCount, 0, 'what the history has is not recorded a second time')
  await withFewLocks('statistics', (of) => readFinalCounts(of))
  await withFewLocks('gauges', (of) => readDatabaseGauges(of, NOON, 5_000))
  await withFewLocks('the audit', (of) => listAudit(of, {}, { limit: 50, beforeId: null }))
  await withFewLocks('payments', (of) =>
    readPaymentSlice(
      of,
      {
        ...{ clientId: null, accountId: null, state: null, fromMs: null, toMs: null },
        ...{ paymentId: null, externalId: null },
      },
      { before: null, limit: 50, chunk: 50 },
    ),
  )
  await withFewLocks('retention', (of) => dropOldHistory(of, NOON, 3_650))
  await withFewLocks('files', (of) => deleteUnusedDocuments(of, NOON, null, 1_000))

  const selected = stored.map(({ id, finishedAt }) => ({
    ...{ clientKey, id, endpointId: endpoint.endpointId, finishedAtMs: finishedAt.getTime() },
  }))
  await withFewLocks('what a job would do', async (of) => {
    assert.equal(await countFit(of, 'replay', selected), selected.length)
  })
  await withFewLocks('what a job will do', (of) =>
    inTransaction(of, async (db) => {
      assert.equal(await noteItems(db, randomUUID(), 'replay', selected), selected.length)
      await db.query('delete from job_items')
    }),
  )
})

test('regression: a job replays what a few days hold, and then goes on', async () => {
  let keys = await Promise.all(
    ids.map((id) =>
      inTransaction(pool, async (db) => (await findFinal(db, OWNER, id)) ?? assert.fail()),
    ),
  )
  let replayed = 0
  counter.takeMax()
  while (keys.length > 0) {
    const some = takeOfFewDays(keys)
    const moved = await inTransaction(counter.pool, (db) => replayDeliveries(db, some, NOON))
    assert.equal(moved.length, some.length)
    replayed += moved.length
    keys = keys.slice(some.length)
  }
  assert.equal(replayed, ids.length)
  const locks = counter.takeMax()
  assert.ok(locks <= LOCKS_MAX, `a job locks ${locks} relations`)
})

test('stretches follow one another without a gap, and hold every instant', async () => {
  const stretches = await readStretches(pool, 'final_deliveries')
  assert.ok(stretches.length > DAYS / 15)
  assert.equal(stretches[0]?.toMs, Number.POSITIVE_INFINITY)
  assert.equal(stretches.at(-1)?.fromMs, Number.NEGATIVE_INFINITY)
  for (const [index, { fromMs }] of stretches.slice(0, -1).entries()) {
    assert.equal(stretches[index + 1]?.toMs, fromMs)
  }
  const since = await readStretchesSince(pool, 'events', TODAY_MS - 40 * DAY_MS)
  assert.equal(since[0]?.fromMs, TODAY_MS - 40 * DAY_MS)
  assert.equal(since.at(-1)?.toMs, Number.POSITIVE_INFINITY)

  const all = { fromMs: Number.NEGATIVE_INFINITY, toMs: Number.POSITIVE_INFINITY }
  assert.equal(timesWithin(all, 'x'), 'true')
  assert.equal(idsWithin({ fromMs: 1, toMs: 2 ** 60 }, 'x'), `x >= uuid '${uuidFloor(1)}'`)
})

test('erasing a payment locks the days of its events, and looks at the others in passing', async () => {
  counter.takeMax()
  await inTransaction(counter.pool, async (db) => {
    const erased = await eraseTexts(db, { clientKey, paymentId }, NOON)
    assert.equal(erased.eventIds.length, eventIds.length)
    await eraseExcerpts(db, clientKey, erased.eventIds)
  })
  const locks = counter.takeMax()
  assert.ok(locks <= LOCKS_MAX, `it locks ${locks} relations`)
  const { rows } = await pool.query(`select from events where text not like '%"erasedAt":"%'`)
  assert.equal(rows.length, 0)
})
