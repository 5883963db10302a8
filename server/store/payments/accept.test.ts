import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { before, test } from 'node:test'
import type { Pool } from 'pg'
import { cloneDatabase } from '../../../test/support/database.ts'
import {
  readPending,
  STORED_AT,
  storeClient,
  storeEndpoint,
} from '../../../test/support/stored-deliveries.ts'
import type { NewEvent } from '../../core/delivery/fan-out.ts'
import { UuidMaker, uuidTimeMs } from '../../core/plain/uuid.ts'
import { inTransaction } from '../connection/db.ts'
import { readEventsOfPayment, readPayloads } from '../history/events.ts'
import { saveEventsAndFanOut } from './accept.ts'

const ids = new UuidMaker(() => STORED_AT.getTime(), randomBytes)
let pool: Pool

before(async () => {
  pool = (await cloneDatabase()).pool
})

function event(
  of: { clientKey: number; accountId: string },
  changes: Partial<NewEvent> = {},
): NewEvent {
  return {
    ...of,
    id: ids.next(),
    paymentId: randomUUID(),
    sequence: 1,
    kind: 'payment.created',
    text: '{"id":"1"}',
    documentHash: null,
    documentBytes: null,
    ...changes,
  }
}

/** In a transaction, whose statements keep their order: elders are looked for before the new rows are there. */
const save = (events: readonly NewEvent[]) =>
  inTransaction(pool, (db) => saveEventsAndFanOut(db, events, STORED_AT))

test('I1: it is owed to the webhooks of its account and the subscriptions of its client, no others', async () => {
  const client = await storeClient(pool)
  const { clientKey, accountId } = client
  const other = await storeClient(pool)
  const webhook = await storeEndpoint(pool, clientKey, { accountId, shard: 3 })
  const subscription = await storeEndpoint(pool, clientKey, { shard: 4 })
  const paused = await storeEndpoint(pool, clientKey, { accountId, status: 'PAUSED' })
  const disabled = await storeEndpoint(pool, clientKey, { status: 'DISABLED' })
  const deleted = await storeEndpoint(pool, clientKey, { accountId })
  await pool.query('update endpoints set deleted_at = $2 where id = $1', [
    deleted.endpointId,
    STORED_AT,
  ])
  await storeEndpoint(pool, clientKey, { accountId: randomUUID() })
  await storeEndpoint(pool, other.clientKey)

  const saved = event(client)
  const handedOff = await save([saved])
  assert.deepEqual(
    new Set(handedOff.map(({ endpointId }) => endpointId)),
    new Set([webhook, subscription, paused, disabled].map(({ endpointId }) => endpointId)),
  )
  const [one] = handedOff.filter(({ endpointId }) => endpointId === webhook.endpointId)
  const { id, ...rest } = one ?? assert.fail()
  assert.deepEqual(rest, {
    clientKey,
    eventId: saved.id,
    endpointId: webhook.endpointId,
    paymentId: saved.paymentId,
    sequence: 1,
    kind: 'payment.created',
    shard: 3,
    nextAttemptAtMs: STORED_AT.getTime(),
    attempts: 0,
    runAttempts: 0,
    firstAttemptAtMs: null,
    firstFailedAtMs: null,
    deadlineAtMs: null,
    isReplay: false,
    documentMode: null,
    hasElders: false,
    payload: { text: saved.text, documentHash: null, documentBytes: null },
  })
  const stored = (await readPending(pool)).filter((row) => row.payment_id === saved.paymentId)
  assert.deepEqual(
    new Set(stored.map((row) => row.id)),
    new Set(handedOff.map((delivery) => delivery.id)),
  )
  assert.ok(stored.every((row) => row.next_attempt_at?.getTime() === STORED_AT.getTime()))
  assert.equal(stored.filter((row) => row.id === id).length, 1)
})

test("a delivery has an id of its own: a UUIDv7 of its event's time", async () => {
  const client = await storeClient(pool)
  for (let n = 0; n < 20; n++) await storeEndpoint(pool, client.clientKey)
  const handedOff = await save([event(client)])
  assert.equal(new Set(handedOff.map(({ id }) => id)).size, 20)
  for (const { id } of handedOff) {
    assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    assert.equal(uuidTimeMs(id), STORED_AT.getTime())
  }
})

test('regression: an update has the elders of its own call, which memory may have no room for', async () => {
  const client = await storeClient(pool)
  await storeEndpoint(pool, client.clientKey)
  const paymentId = randomUUID()
  const updates = [1, 2].map((sequence) => event(client, { paymentId, sequence }))
  const handedOff = await save([...updates, event(client)])
  assert.deepEqual(
    handedOff.map(({ hasElders }) => hasElders),
    [false, true, false],
  )
})

test('a later update has elders where an earlier one is still owed, and only there', async () => {
  const client = await storeClient(pool)
  const busy = await storeEndpoint(pool, client.clientKey)
  const done = await storeEndpoint(pool, client.clientKey)
  const paymentId = randomUUID()
  const first = await save([event(client, { paymentId })])
  assert.deepEqual(
    first.map(({ hasElders }) => hasElders),
    [false, false],
  )
  await pool.query('delete from pending_deliveries where endpoint_id = $1', [done.endpointId])
  const second = event(client, { paymentId, sequence: 2 })
  const next = await save([second, event(client)])
  const elders = next.map(({ endpointId, sequence, hasElders }) => [
    endpointId,
    sequence,
    hasElders,
  ])
  assert.deepEqual(
    new Set(elders.map(String)),
    new Set(
      [
        [busy.endpointId, 2, true],
        [done.endpointId, 2, false],
        [busy.endpointId, 1, false],
        [done.endpointId, 1, false],
      ].map(String),
    ),
  )
})

test('deliveries come back in the order of their events, elders of one call first', async () => {
  const client = await storeClient(pool)
  await storeEndpoint(pool, client.clientKey)
  const paymentId = randomUUID()
  const events = [1, 2, 3].map((sequence) => event(client, { paymentId, sequence }))
  const handedOff = await save(events)
  assert.deepEqual(
    handedOff.map(({ sequence }) => sequence),
    [1, 2, 3],
  )
})

test('an event nobody asked for is kept all the same, with its bytes', async () => {
  const client = await storeClient(pool)
  const hash = randomBytes(32)
  const saved = event(client, { text: '{"é":"💶"}', documentHash: hash, documentBytes: 12 })
  assert.deepEqual(await save([saved]), [])
  const payload = { text: saved.text, documentHash: hash, documentBytes: 12 }
  const read = (clientKey: number) => readPayloads(pool, [{ clientKey, eventId: saved.id }])
  assert.deepEqual(await read(client.clientKey), new Map([[saved.id, payload]]))
  assert.deepEqual(await read(client.clientKey + 1_000), new Map())
})

test('nothing to save is nothing done', async () => {
  assert.deepEqual(await save([]), [])
})

test('the events of a payment are read newest first, a page at a time, by their owner alone', async () => {
  const client = await storeClient(pool)
  const paymentId = randomUUID()
  const events = [1, 2, 3].map((sequence) => event(client, { paymentId, sequence }))
  await save(events)
  const page = async (clientKey: number, beforeSequence: number | null) =>
    (await readEventsOfPayment(pool, clientKey, paymentId, { limit: 2, beforeSequence })).map(
      ({ sequence }) => sequence,
    )
  assert.deepEqual(await page(client.clientKey, null), [3, 2])
  assert.deepEqual(await page(client.clientKey, 2), [1])
  assert.deepEqual(await page(client.clientKey + 1_000, null), [])
})
