// What an endpoint was never owed, once a part of history is gone: events outlive the deliveries of their day while
// any endpoint is still owed one of them.

import assert from 'node:assert/strict'
import { after, type TestContext, test } from 'node:test'
import { cloneDatabase } from '../../../test/support/database.ts'
import { serveHttp } from '../../../test/support/injected-server.ts'
import { StatedEndpoint } from '../../../test/support/stated-endpoint.ts'
import { storeEndpoint, storeEvent } from '../../../test/support/stored-deliveries.ts'
import { DAY_MS } from '../../core/delivery/backoff.ts'
import { dropOldHistory } from '../../store/removal/retention.ts'
import { ensurePartitions } from '../../store/schema/partitions.ts'
import { previewMissing, replayMissing } from './replay-missing.ts'

const { pool } = await cloneDatabase()
const server = await serveHttp({ after } as Pick<TestContext, 'after'>, pool)
const LONG_AGO = new Date(server.clock.nowMs() - 40 * DAY_MS)
const RECENTLY = new Date(server.clock.nowMs() - 3 * DAY_MS)
const ALL = { sinceMs: LONG_AGO.getTime() - DAY_MS, untilMs: null, events: null }

test('regression: what was delivered on a day whose events outlive it is not missing', async () => {
  await ensurePartitions(pool, LONG_AGO)
  await ensurePartitions(pool, RECENTLY)
  // Of two clients, one has been owed something for 40 days, so that the events of that day are kept.
  const waiting = await StatedEndpoint.create(pool)
  const stated = await StatedEndpoint.create(pool)
  await waiting.make(pool, LONG_AGO)
  for (const at of [LONG_AGO, RECENTLY]) {
    await stated.end(await stated.make(pool, at), 'DELIVERED', at)
  }
  await storeEvent(pool, stated.endpoint.clientKey, { at: RECENTLY })
  const { clientKey, endpointId } = stated.endpoint
  const scope = { clientKey, kind: 'subscription', accountId: null } as const
  const preview = (id: string) => previewMissing(server.deps, scope, id, ALL)
  assert.equal(await preview(endpointId), 1)

  await dropOldHistory(pool, new Date(server.clock.nowMs()), 30)
  const { rowCount } = await pool.query('select from events where created_at = $1', [LONG_AGO])
  assert.equal(rowCount, 2, 'both events of the day are still there')
  assert.equal(await preview(endpointId), 1)
  // The same for an endpoint that is new: nothing older than the retention is queued.
  const added = await storeEndpoint(pool, clientKey)
  assert.equal(await preview(added.endpointId), 2)
  assert.equal(await replayMissing(server.deps, scope, endpointId, ALL), 1)
})
