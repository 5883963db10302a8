// Everything that matches, page after page, oldest first, and no more than may be acted on at once.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cloneDatabase } from '../../../test/support/database.ts'
import {
  storeClient,
  storeEndpoint,
  storePending,
} from '../../../test/support/stored-deliveries.ts'
import { ServiceError } from '../../core/plain/errors.ts'
import { type DeliveryQuery, EVERY_DELIVERY } from '../../store/sql/delivery-query.ts'
import { selectDeliveries } from './select-deliveries.ts'

const { pool } = await cloneDatabase()
const { clientKey } = await storeClient(pool)
const endpoint = await storeEndpoint(pool, clientKey)
const other = await storeEndpoint(pool, clientKey)
const stored: string[] = []
for (let n = 0; n < 25; n++) {
  stored.push((await storePending(pool, endpoint)).id)
  await storePending(pool, other)
}

/** Paybell's own, whose deliveries are notices. */
const internal = await storeClient(pool)
await pool.query('update clients set is_internal = true where client_key = $1', [
  internal.clientKey,
])
await storePending(pool, await storeEndpoint(pool, internal.clientKey))

const query: DeliveryQuery = {
  ...EVERY_DELIVERY,
  clientKey,
  endpointId: endpoint.endpointId,
  states: ['PENDING'],
}
/** One that has to be leafed through, and matches the same. */
const leafed: DeliveryQuery = { ...query, fromMs: 0 }
const deps = { pool, clock: { nowMs: () => 0, monotonicMs: () => 0 } }

test('all that match are selected once, in order of their ids, whatever the size of a page', async () => {
  for (const atOnce of [1, 3, 25, 26, 1_000]) {
    for (const one of [query, leafed]) {
      const selected = await selectDeliveries(deps, one, { deliveriesMax: 25, atOnce })
      assert.deepEqual(
        selected.map(({ id }) => id),
        stored.toSorted(),
      )
    }
  }
  const first = (await selectDeliveries(deps, query)).at(0)
  assert.deepEqual([first?.clientKey, first?.endpointId], [clientKey, endpoint.endpointId])
})

test('one more than may be acted on is refused', async () => {
  for (const atOnce of [1, 3, 25, 1_000]) {
    for (const one of [query, leafed]) {
      await assert.rejects(
        selectDeliveries(deps, one, { deliveriesMax: 24, atOnce }),
        (error) => error instanceof ServiceError && error.code === 'filter-too-wide',
      )
    }
  }
})

let ms = 0
const slow = { pool, clock: { nowMs: () => 0, monotonicMs: () => (ms += 10_000) } }

test('regression: on a machine that is slow, all that is owed is selected all the same: its number is the limit', async () => {
  const owed = { ...EVERY_DELIVERY, states: ['PENDING'] } as const
  for (const [one, count] of [
    [owed, 50],
    [{ ...owed, clientKey }, 50],
    [{ ...owed, clientKey: internal.clientKey + 1 }, 0],
    [query, 25],
  ] as const) {
    const selected = await selectDeliveries(slow, one, { deliveriesMax: 50, atOnce: 1 })
    const ids = selected.map(({ id }) => id)
    assert.equal(ids.length, count)
    assert.deepEqual(ids, ids.toSorted())
  }
})

test('regression: no filter selects a notice of Paybell itself', async () => {
  const owed = { ...EVERY_DELIVERY, states: ['PENDING'] } as const
  for (const one of [owed, { ...owed, fromMs: 0 }]) {
    const selected = await selectDeliveries(deps, one)
    assert.deepEqual(new Set(selected.map((delivery) => delivery.clientKey)), new Set([clientKey]))
  }
})

test('a filter that takes too long to look through is refused', async () => {
  await assert.rejects(
    selectDeliveries(slow, leafed, { deliveriesMax: 100, atOnce: 1 }),
    (error) => error instanceof ServiceError && error.code === 'filter-too-wide',
  )
})
