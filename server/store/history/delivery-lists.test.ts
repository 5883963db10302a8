// The merge of what is owed and what has ended, against a list kept in memory: whatever is asked for, in
// pages and chunks of any size, every match comes exactly once and in order.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { cloneDatabase } from '../../../test/support/database.ts'
import { sized } from '../../../test/support/size.ts'
import { storeClient, storeEndpoint } from '../../../test/support/stored-deliveries.ts'
import type { OutcomeFilter } from '../../core/asking/outcome-filter.ts'
import { DAY_MS } from '../../core/delivery/backoff.ts'
import { DELIVERY_STATES, type DeliveryState } from '../../core/delivery/delivery.ts'
import { uuidFloor } from '../../core/plain/uuid.ts'
import { ensurePartitions } from '../schema/partitions.ts'
import { type DeliveryQuery, EVERY_DELIVERY } from '../sql/delivery-query.ts'
import { readDeliverySlice } from './delivery-lists.ts'

const { pool } = await cloneDatabase()
const STARTED_MS = Date.parse('2026-03-02T09:30:00.400Z')
/** Over 40 days, so that what has ended lies in several stretches, some of it 20 days after it was made. */
const STEP_MS = 2 * DAY_MS
for (let day = 0; day <= 60; day += 8) {
  await ensurePartitions(pool, new Date(STARTED_MS + day * DAY_MS))
}
const LAST: readonly Row['last'][] = [
  [null, null],
  ['timeout', null],
  ['answered', 404],
  ['answered', 503],
]
const JOB = randomUUID()
const KINDS = ['payment.created', 'payment.due', 'payment.paid']

interface Row {
  clientKey: number
  id: string
  eventId: string
  endpointId: string
  shard: number
  paymentId: string
  accountId: string
  sequence: number
  kind: string
  state: DeliveryState
  createdAtMs: number
  /** What the last attempt came to, and the status of an answer. */
  last: readonly [string | null, number | null]
}

const rows = await storeHistory()

/** Three clients, two endpoints and two accounts each; several deliveries in one millisecond. */
async function storeHistory(): Promise<readonly Row[]> {
  const stored: Row[] = []
  for (let client = 0; client < 3; client++) {
    const { clientKey, accountId } = await storeClient(pool)
    const endpoints = [await storeEndpoint(pool, clientKey), await storeEndpoint(pool, clientKey)]
    const accounts = [accountId, randomUUID()]
    for (let payment = 0; payment < sized(6, 12); payment++) {
      const paymentId = randomUUID()
      for (let sequence = 1; sequence <= 3; sequence++) {
        const ms = STARTED_MS + ((payment * 7 + sequence * 3 + client) % 20) * STEP_MS
        const eventId = idAt(ms)
        for (const { endpointId, shard } of endpoints) {
          stored.push({
            clientKey,
            id: idAt(ms),
            eventId,
            endpointId,
            shard,
            paymentId,
            accountId: accounts[payment % 2] as string,
            sequence,
            kind: KINDS[sequence - 1] as string,
            state: DELIVERY_STATES[(stored.length * 7) % 5] as DeliveryState,
            // The clock is read before the id is made.
            createdAtMs: ms - (stored.length % 3),
            last: LAST[(stored.length * 3) % LAST.length] as Row['last'],
          })
        }
      }
    }
  }
  for (const row of stored) await store(row)
  await pool.query(
    `insert into job_deliveries (job_id, delivery_id, client_key, endpoint_id)
     select $1, *, $1 from unnest($2::uuid[], $3::int[])`,
    [JOB, ...ofJob(stored)],
  )
  return stored.toSorted((a, b) => (a.id < b.id ? 1 : -1))
}

function isOfJob(row: Row): boolean {
  return row.sequence !== 2
}

function ofJob(stored: readonly Row[]) {
  const some = stored.filter(isOfJob)
  return [some.map(({ id }) => id), some.map(({ clientKey }) => clientKey)]
}

/** A UUIDv7 of this millisecond. */
function idAt(ms: number): string {
  return `${uuidFloor(ms).slice(0, 14)}7${randomUUID().slice(15)}`
}

async function store(row: Row): Promise<void> {
  const shared = [
    row.clientKey,
    row.id,
    row.eventId,
    row.endpointId,
    row.paymentId,
    row.accountId,
    row.sequence,
    row.kind,
    new Date(row.createdAtMs),
  ]
  await pool.query(
    `insert into events (client_key, id, payment_id, account_id, sequence, kind, text, created_at)
     values ($1, $2, $3, $4, $5, $6, '{}', $7) on conflict do nothing`,
    [...shared.slice(0, 1), row.eventId, ...shared.slice(4)],
  )
  await (row.state === 'PENDING'
    ? pool.query(
        `insert into pending_deliveries (client_key, id, event_id, endpoint_id, payment_id, account_id,
           sequence, kind, created_at, shard, last_outcome, last_status)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
        [...shared, row.shard, ...row.last],
      )
    : pool.query(
        `insert into final_deliveries (client_key, id, event_id, endpoint_id, payment_id, account_id,
           sequence, kind, created_at, state, attempts, finished_at, last_outcome, last_status,
           attempted_at, duration_ms)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 1, $11, $12, $13,
           case $10 when 'DELIVERED' then $9::timestamptz end, case $10 when 'DELIVERED' then 5 end)`,
        [
          ...shared,
          row.state,
          new Date(row.createdAtMs + 10 * DAY_MS * (row.sequence - 1)),
          ...lastOf(row),
        ],
      ))
}

function lastOf({ state, last }: Row): Row['last'] {
  return state === 'DELIVERED' ? ['answered', 200] : last
}

async function readAll(
  query: DeliveryQuery,
  limit: number,
  chunk: number,
  between: () => Promise<void> = async () => {},
): Promise<readonly { id: string; state: string }[]> {
  const seen: { id: string; state: string }[] = []
  let beforeId: string | null = null
  for (let pages = 0; pages < 2_000; pages++) {
    const slice = await readDeliverySlice(pool, query, { beforeId, limit, chunk })
    assert.ok(slice.items.length <= limit)
    seen.push(...slice.items)
    // A full page may have left out what was looked at below it.
    const last = slice.items.length === limit ? slice.items.at(-1)?.id : null
    beforeId = last ?? slice.downTo
    if (beforeId === null) return seen
    await between()
  }
  return assert.fail('the list has no end')
}

const OUTCOMES: readonly OutcomeFilter[] = [
  { codes: ['timeout'], statuses: [], isUntried: false },
  { codes: [], statuses: [{ from: 500, to: 599 }], isUntried: true },
  { codes: ['timeout'], statuses: [{ from: 200, to: 404 }], isUntried: false },
]
const pick = <T>(values: readonly T[]) => fc.option(fc.constantFrom(...values), { nil: null })
const anyRow = fc.constantFrom(...rows)

const anyQuery = fc
  .record({
    row: anyRow,
    // Names of two deliveries in one question: what matches both is often nothing.
    other: anyRow,
    areOfOne: fc.boolean(),
    by: fc.subarray([
      'client',
      'account',
      'endpoint',
      'payment',
      'event',
      'delivery',
      'kind',
      'outcome',
      'job',
      'from',
      'to',
    ]),
    states: fc.option(fc.subarray([...DELIVERY_STATES], { minLength: 1 }), { nil: null }),
    kind: pick(KINDS),
    outcomes: fc.constantFrom(...OUTCOMES),
  })
  .map(({ row, other, areOfOne, by, states, kind, outcomes }): DeliveryQuery => {
    const has = (name: string) => by.includes(name as (typeof by)[number])
    const second = areOfOne ? row : other
    return {
      clientKey: has('client') || has('endpoint') || has('account') ? row.clientKey : null,
      accountId: has('account') ? row.accountId : null,
      endpointId: has('endpoint') ? row.endpointId : null,
      payments: has('payment') ? [{ clientKey: row.clientKey, paymentId: row.paymentId }] : null,
      event: has('event') ? { clientKey: second.clientKey, eventId: second.eventId } : null,
      deliveryId: has('delivery') ? second.id : null,
      states,
      kind: has('kind') ? kind : null,
      outcomes: has('outcome') ? outcomes : null,
      jobId: has('job') ? JOB : null,
      fromMs: has('from') ? row.createdAtMs : null,
      toMs: has('to') ? row.createdAtMs + 4 * STEP_MS : null,
    }
  })

function hasOutcome(row: Row, { codes, statuses, isUntried }: OutcomeFilter): boolean {
  const [code, status] = lastOf(row)
  if (code === null) return isUntried
  if (code !== 'answered') return codes.includes(code)
  return statuses.some(({ from, to }) => status !== null && from <= status && status <= to)
}

function matches(row: Row, query: DeliveryQuery): boolean {
  return (
    (query.clientKey === null || row.clientKey === query.clientKey) &&
    (query.accountId === null || row.accountId === query.accountId) &&
    (query.endpointId === null || row.endpointId === query.endpointId) &&
    (query.payments === null ||
      query.payments.some(({ paymentId }) => paymentId === row.paymentId)) &&
    (query.event === null || query.event.eventId === row.eventId) &&
    (query.deliveryId === null || query.deliveryId === row.id) &&
    (query.states === null || query.states.includes(row.state)) &&
    (query.kind === null || query.kind === row.kind) &&
    (query.outcomes === null || hasOutcome(row, query.outcomes)) &&
    (query.jobId === null || isOfJob(row)) &&
    (query.fromMs === null || row.createdAtMs >= query.fromMs) &&
    (query.toMs === null || row.createdAtMs < query.toMs)
  )
}

test('every match comes exactly once, newest first, whatever is asked for', async () => {
  await fc.assert(
    fc.asyncProperty(
      anyQuery,
      fc.integer({ min: 3, max: 60 }),
      fc.integer({ min: 3, max: 80 }),
      async (query, limit, chunk) => {
        const expected = rows.filter((row) => matches(row, query)).map((row) => row.id)
        const seen = await readAll(query, limit, chunk)
        assert.deepEqual(
          seen.map((item) => item.id),
          expected,
        )
      },
    ),
    { numRuns: sized(12, 80) },
  )
})

test('regression: a payment, an event and a delivery in one question all have to match', async () => {
  const row = rows[0] as Row
  const other = rows.find(
    ({ state, paymentId }) => state === 'PENDING' && paymentId !== row.paymentId,
  ) as Row
  const sibling = rows.find((one) => one.paymentId === row.paymentId && one.id !== row.id) as Row
  const payments = [{ clientKey: row.clientKey, paymentId: row.paymentId }]
  const event = { clientKey: row.clientKey, eventId: row.eventId }
  const ofOther = { clientKey: other.clientKey, eventId: other.eventId }
  for (const [query, ids] of [
    [{ payments, deliveryId: sibling.id }, [sibling.id]],
    [{ payments, deliveryId: other.id }, []],
    [{ payments, deliveryId: randomUUID() }, []],
    [{ event, deliveryId: row.id }, [row.id]],
    [{ event, deliveryId: other.id }, []],
    [{ payments, event: ofOther }, []],
    [{ payments, event, deliveryId: row.id }, [row.id]],
  ] as const) {
    const seen = await readAll({ ...EVERY_DELIVERY, ...query }, 7, 8)
    assert.deepEqual(
      seen.map((item) => item.id),
      ids,
      JSON.stringify(query),
    )
  }
})

test('regression: of a job, only the deliveries of the client that was named', async () => {
  for (const clientKey of new Set(rows.map((row) => row.clientKey))) {
    const query = { ...EVERY_DELIVERY, clientKey, jobId: JOB }
    const expected = rows.filter((row) => matches(row, query)).map((row) => row.id)
    assert.ok(expected.length < rows.filter(isOfJob).length)
    const seen = await readAll(query, 7, 8)
    assert.deepEqual(
      seen.map((item) => item.id),
      expected,
    )
  }
})

test('cursors hold while deliveries end and are replayed between the pages', async () => {
  const moving = rows.filter((row) => row.state === 'PENDING')
  // What ends here does so today: the other days need not be looked through each time.
  const startedAt = new Date(Date.now() - DAY_MS)
  let turn = 0
  const move = async () => {
    const row = moving[turn++ % moving.length] as Row
    await pool.query(
      `with ended as (delete from pending_deliveries where id = $1 returning *)
       insert into final_deliveries (client_key, id, event_id, endpoint_id, payment_id, account_id,
         sequence, kind, created_at, state, attempts, finished_at)
       select client_key, id, event_id, endpoint_id, payment_id, account_id, sequence, kind,
         created_at, 'EXHAUSTED', 1, now() from ended`,
      [row.id],
    )
    const back = moving[(turn * 5) % moving.length] as Row
    await pool.query(
      `with replayed as (
         delete from final_deliveries where id = $1 and finished_at > $3 returning *)
       insert into pending_deliveries (client_key, id, event_id, endpoint_id, payment_id, account_id,
         sequence, kind, created_at, shard)
       select client_key, id, event_id, endpoint_id, payment_id, account_id, sequence, kind,
         created_at, $2 from replayed`,
      [back.id, back.shard, startedAt],
    )
  }
  for (const [limit, chunk] of [
    [7, 8],
    [3, 20],
    [50, 5],
  ] as const) {
    const seen = await readAll(EVERY_DELIVERY, limit, chunk, move)
    assert.deepEqual(
      seen.map((item) => item.id),
      rows.map((row) => row.id),
    )
  }
})

test('one step looks at no more rows than its chunk, and says where to go on', async () => {
  const query = { ...EVERY_DELIVERY, kind: 'payment.no-such-kind' }
  const { items, downTo } = await readDeliverySlice(pool, query, {
    beforeId: null,
    limit: 50,
    chunk: 10,
  })
  assert.deepEqual(items, [])
  assert.ok(downTo !== null && downTo <= (rows[9] as Row).id)
})
