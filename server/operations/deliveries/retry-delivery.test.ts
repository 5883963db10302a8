import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pool, PoolClient } from 'pg'
import { cloneDatabase } from '../../../test/support/database.ts'
import {
  storeClient,
  storeEndpoint,
  storePending,
} from '../../../test/support/stored-deliveries.ts'
import type { Deps } from '../shared/deps.ts'
import { retryDelivery } from './retry-delivery.ts'
import { RetryLimits } from './retry-limits.ts'

const { pool } = await cloneDatabase()
const { clientKey } = await storeClient(pool)
const endpoint = await storeEndpoint(pool, clientKey)
const { id } = await storePending(pool, endpoint)
const clock = { nowMs: () => Date.now(), monotonicMs: () => 0 }

/** Finds nothing pending at the first look of each transaction, as where a replay is on its way back. */
let misses = 0
const missing = {
  async connect() {
    const client = await pool.connect()
    let hasLooked = false
    return new Proxy(client, {
      get(_, name) {
        if (name !== 'query') return Reflect.get(client, name, client)
        return (query: { name?: string }, ...rest: unknown[]) => {
          const isFirst = !hasLooked && query.name === 'find-pending-delivery'
          hasLooked ||= isFirst
          if (isFirst) misses++
          const ask = client.query as (...parts: unknown[]) => unknown
          return isFirst ? { rows: [] } : ask.call(client, query, ...rest)
        }
      },
    }) as PoolClient
  },
} as Pool

test('regression: a delivery that is found at the second look is counted, once', async () => {
  const limits = new RetryLimits(clock)
  const deps = {
    pool: missing,
    clock,
    endpointChanges: { run: (_: number, transact: () => unknown) => transact() },
    engine: { endpointRetried() {} },
  } as unknown as Deps
  const retry = () => retryDelivery(deps, { clientKey, accountId: null }, id, { limits })
  for (let count = 0; count < 100; count++) assert.equal((await retry()).id, id)
  await assert.rejects(retry(), { code: 'too-many-requests' })
  assert.equal(misses, 101)
})
