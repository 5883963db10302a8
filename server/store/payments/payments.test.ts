import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { cloneDatabase } from '../../../test/support/database.ts'
import { STORED_AT, storeClient, untilWaiting } from '../../../test/support/stored-deliveries.ts'
import { UuidMaker } from '../../core/plain/uuid.ts'
import { type Db, inTransaction } from '../connection/db.ts'
import { saveChanges, saveEventsAndFanOut } from './accept.ts'
import {
  type LockedPayment,
  lockPayments,
  raiseVersions,
  readLatestPaymentText,
  readPayment,
  tryLockPayments,
} from './payments.ts'

const { pool } = await cloneDatabase()
const at = (ms: number) => new Date(STORED_AT.getTime() + ms)

function payment(
  of: { clientKey: number; accountId: string },
  changes: Partial<LockedPayment> = {},
): LockedPayment {
  return {
    ...of,
    id: randomUUID(),
    sequence: 1,
    version: null,
    text: '{}',
    documentHash: null,
    ...changes,
  }
}

const ids = new UuidMaker(() => STORED_AT.getTime(), randomBytes)

async function save(db: Db, { id, ...rest }: LockedPayment, now: Date): Promise<void> {
  const event = { id: ids.next(), kind: 'payment.updated', documentBytes: rest.documentHash && 1 }
  const isNew = rest.sequence === 1
  await saveChanges(db, [{ ...rest, ...event, paymentId: id, isLatest: true, isNew }], [], now)
}

test('a payment that is saved again is replaced, but for when it was first accepted', async () => {
  const client = await storeClient(pool)
  const first = payment(client, { version: 3, documentHash: randomBytes(32) })
  await save(pool, first, at(0))
  const second = { ...first, sequence: 2, version: 4, documentHash: null }
  await save(pool, { ...second, text: '{"a":1}' }, at(1))
  const locked = await inTransaction(pool, (db) => lockPayments(db, [first.id, randomUUID()]))
  assert.deepEqual([...locked.values()], [{ ...second, text: '{"a":1}' }])
  const view = await readPayment(pool, first.id, null)
  assert.deepEqual(view?.acceptedAt, at(0))
  assert.equal(view?.clientKey, client.clientKey)
})

test('of several changes of a payment the latest is what it is now', async () => {
  const client = await storeClient(pool)
  const { id: paymentId, ...rest } = payment(client)
  const changes = [1, 2, 3].map((sequence) => ({
    ...{ ...rest, paymentId, sequence, id: ids.next(), kind: 'payment.updated' },
    ...{ text: `{"n":${sequence}}`, documentBytes: null, isLatest: sequence === 3, isNew: true },
  }))
  await saveChanges(pool, changes, [], at(0))
  const view = await readPayment(pool, paymentId, null)
  assert.equal(view?.sequence, 3)
  assert.equal(view?.text, '{"n":3}')
})

test('a version is raised alone: of this payment, of this client', async () => {
  const client = await storeClient(pool)
  const [first, second] = [payment(client, { version: 3 }), payment(client, { version: 3 })]
  await save(pool, first, at(0))
  await save(pool, second, at(0))
  const raised = { ...first, version: 9_007_199_254_740_991 }
  await raiseVersions(pool, [raised, { ...second, clientKey: client.clientKey + 1_000 }], at(1))
  await raiseVersions(pool, [], at(2))
  const locked = await inTransaction(pool, (db) => lockPayments(db, [first.id, second.id]))
  assert.deepEqual(locked.get(first.id), raised)
  assert.deepEqual(locked.get(second.id), second)
})

test('a payment is read by its owner or by the operator, and by nobody else', async () => {
  const [client, other] = [await storeClient(pool), await storeClient(pool)]
  const saved = payment(client)
  await save(pool, saved, at(0))
  assert.equal((await readPayment(pool, saved.id, client.clientKey))?.id, saved.id)
  assert.equal(await readPayment(pool, saved.id, other.clientKey), null)
  assert.equal(await readPayment(pool, randomUUID(), null), null)
})

test('F14: two that write one payment wait for each other, whether it exists yet or not', async () => {
  const client = await storeClient(pool)
  const saved = payment(client)
  let second: Promise<number | undefined> | undefined
  await inTransaction(pool, async (db) => {
    assert.equal((await lockPayments(db, [saved.id])).size, 0)
    second = inTransaction(pool, async (other) => {
      const locked = await lockPayments(other, [randomUUID(), saved.id])
      return locked.get(saved.id)?.sequence
    })
    await untilWaiting(pool, 'pg_advisory_xact_lock')
    await save(db, saved, at(0))
  })
  assert.equal(await second, 1)
})

test('many that lock the same payments in different orders do not deadlock', async () => {
  const ids = Array.from({ length: 30 }, () => randomUUID())
  const orders = [ids, ids.toReversed(), [...ids.slice(15), ...ids.slice(0, 15)]]
  const locking = [...orders, ...orders].map((order) =>
    inTransaction(pool, (db) => lockPayments(db, order)),
  )
  assert.equal((await Promise.all(locking)).length, 6)
})

test('the latest payment is the one that changed last, not the one that was accepted last', async () => {
  const client = await storeClient(pool)
  assert.equal(await readLatestPaymentText(pool, client.clientKey), null)
  const [first, second] = [
    payment(client, { text: '{"n":1}' }),
    payment(client, { text: '{"n":2}' }),
  ]
  await save(pool, first, at(0))
  await save(pool, second, at(1))
  assert.equal(await readLatestPaymentText(pool, client.clientKey), '{"n":2}')
  const { id: paymentId, ...rest } = first
  const event = { id: ids.next(), paymentId, kind: 'payment.updated', documentBytes: null }
  await saveEventsAndFanOut(pool, [{ ...rest, ...event }], at(5))
  assert.equal(await readLatestPaymentText(pool, client.clientKey), '{"n":1}')
  await pool.query('delete from events where client_key = $1', [client.clientKey])
  assert.equal(await readLatestPaymentText(pool, client.clientKey), '{"n":2}', 'without events')
})

test('regression: of several payments those that are free are locked and read, and nothing is waited for', async () => {
  const client = await storeClient(pool)
  const [free, held] = [payment(client), payment(client)]
  for (const saved of [free, held]) await save(pool, saved, at(0))
  const fresh = randomUUID()
  await inTransaction(pool, async (holder) => {
    await lockPayments(holder, [held.id])
    await inTransaction(pool, async (db) => {
      const ids = [free.id, held.id, fresh, held.id, free.id]
      const { stored, busy } = await tryLockPayments(db, ids)
      assert.deepEqual([...busy], [held.id])
      assert.deepEqual(stored.get(free.id), free)
      await inTransaction(pool, async (other) => {
        const again = await tryLockPayments(other, ids)
        assert.deepEqual([...again.busy].sort(), [free.id, held.id, fresh].sort())
      })
    })
  })
  const { busy } = await inTransaction(pool, (db) => tryLockPayments(db, [free.id, held.id, fresh]))
  assert.equal(busy.size, 0, 'free again with the end of the transactions')
})
