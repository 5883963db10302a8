// Everything that matches, page after page, oldest first, and no more than may be acted on at once.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cloneDatabase } from '../../../test/support/database.ts'
import {
  storeClient,
  storeEndpoint,
  storePending,
} from '../../../test/support/stored-deliveries.ts'
import { ServiceError } from '../../core/errors.ts'
import { type DeliveryQuery, EVERY_DELIVERY } from '../../store/delivery-query.ts'
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

const query: DeliveryQuery = {
  ...EVERY_DELIVERY,
  clientKey,
  endpointId: endpoint.endpointId,
  states: ['PENDING'],
}
const deps = { pool, clock: { nowMs: () => 0, monotonicMs: () => 0 } }

test('all that match are selected once, in order of their ids, whatever the size of a page', async () => {
  for (const atOnce of [1, 3, 25, 26, 1_000]) {
    const selected = await selectDeliveries(deps, query, { deliveriesMax: 25, atOnce })
    assert.deepEqual(
      selected.map(({ id }) => id),
      stored.toSorted(),
    )
  }
  const first = (await selectDeliveries(deps, query)).at(0)
  assert.deepEqual([first?.clientKey, first?.endpointId], [clientKey, endpoint.endpointId])
})

test('one more than may be acted on is refused', async () => {
  for (const atOnce of [1, 3, 25, 1_000]) {
    await assert.rejects(
      selectDeliveries(deps, query, { deliveriesMax: 24, atOnce }),
      (error) => error instanceof ServiceError && error.code === 'filter-too-wide',
    )
  }
})

test('a filter that takes too long to look through is refused', async () => {
  let ms = 0
  const slow = { pool, clock: { nowMs: () => 0, monotonicMs: () => (ms += 10_000) } }
  await assert.rejects(
    selectDeliveries(slow, query, { deliveriesMax: 100, atOnce: 1 }),
    (error) => error instanceof ServiceError && error.code === 'filter-too-wide',
  )
})
