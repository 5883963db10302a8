// Deleting an endpoint whose backlog is more than one statement can do: it stops at once, and everything ends, in portions.

import assert from 'node:assert/strict'
import { after, beforeEach, type TestContext, test } from 'node:test'
import { cloneDatabase } from '../../../test/support/database.ts'
import { call, WEBHOOKS } from '../../../test/support/injected-calls.ts'
import { onboard, serveHttp } from '../../../test/support/injected-server.ts'
import {
  type StoredEndpoint,
  storeEndpoint,
  storePending,
  untilWaiting,
} from '../../../test/support/stored-deliveries.ts'
import { inTransaction } from '../../store/connection/db.ts'
import { CANCELLED_AT_ONCE } from '../../store/removal/deleted-endpoints.ts'
import { tendDeleted } from '../../upkeep/tend-deleted.ts'

const { pool } = await cloneDatabase({ connectionsMax: 4 })
const server = await serveHttp({ after } as Pick<TestContext, 'after'>, pool)
const client = await onboard(server)

beforeEach(() => pool.query('truncate pending_deliveries, final_deliveries'))

function storeWebhook(): Promise<StoredEndpoint> {
  return storeEndpoint(pool, client.clientKey, { accountId: client.accountId })
}

/** Parked and due, of one payment and of many. */
async function storeBacklog({ clientKey, endpointId, shard }: StoredEndpoint, rows: number) {
  await pool.query(
    `insert into pending_deliveries (client_key, id, event_id, endpoint_id, payment_id, account_id,
       sequence, kind, shard, created_at, next_attempt_at)
     select $1, gen_random_uuid(), gen_random_uuid(), $2,
       case when n % 3 = 0 then $2 else gen_random_uuid() end, $3, n, 'payment.created', $4, now(),
       case when n % 2 = 0 then now() end
     from generate_series(1, $5::int) n`,
    [clientKey, endpointId, client.accountId, shard, rows],
  )
}

function requestDeletion({ endpointId }: StoredEndpoint) {
  return call(server, client.headers, 'DELETE', `${WEBHOOKS.path}/${endpointId}`)
}

async function countStates(endpointId: string): Promise<Record<string, number>> {
  const { rows } = await pool.query<{ state: string; count: number }>(
    `select state, count(*)::int as count from (
       select 'PENDING' as state from pending_deliveries where endpoint_id = $1
       union all select state from final_deliveries where endpoint_id = $1) as d group by 1`,
    [endpointId],
  )
  return Object.fromEntries(rows.map(({ state, count }) => [state, count]))
}

test('regression: a backlog of any size is cancelled, in transactions of a portion each', async () => {
  const webhook = await storeWebhook()
  const rows = 2 * CANCELLED_AT_ONCE + 500
  await storeBacklog(webhook, rows)
  const answer = await requestDeletion(webhook)
  assert.equal(answer.statusCode, 204, answer.body)
  assert.equal(server.notices.length, 1, 'the engine is notified')
  assert.deepEqual(await countStates(webhook.endpointId), { CANCELLED: rows })
  const { rows: portions } = await pool.query<{ count: number }>(
    'select count(*)::int as count from final_deliveries group by xmin::text order by 1 desc',
  )
  assert.deepEqual(
    portions.map(({ count }) => count),
    [CANCELLED_AT_ONCE, CANCELLED_AT_ONCE, 500],
  )
})

test('regression: what the deletion did not get to is cancelled by upkeep', async () => {
  const [deleted, living] = [await storeWebhook(), await storeWebhook()]
  await storeBacklog(deleted, CANCELLED_AT_ONCE + 1)
  await storePending(pool, living)
  await pool.query('update endpoints set deleted_at = now() where id = $1', [deleted.endpointId])
  assert.deepEqual(await tendDeleted(server.deps), { endpoints: 1, isLeft: false, failed: [] })
  assert.deepEqual(await countStates(deleted.endpointId), { CANCELLED: CANCELLED_AT_ONCE + 1 })
  assert.deepEqual(await countStates(living.endpointId), { PENDING: 1 })
  assert.deepEqual(await tendDeleted(server.deps), { endpoints: 0, isLeft: false, failed: [] })
})

test('regression: deletions that wait for an endpoint hold one connection, and no other client waits', async () => {
  const webhook = await storeWebhook()
  const other = await onboard(server)
  let waiting: ReturnType<typeof requestDeletion>[] = []
  await inTransaction(pool, async (db) => {
    await db.query('select from endpoints where id = $1 for update', [webhook.endpointId])
    waiting = Array.from({ length: 8 }, () => requestDeletion(webhook))
    await untilWaiting(pool, 'for no key update')
    const list = await call(server, other.headers, 'GET', WEBHOOKS.path)
    assert.equal(list.statusCode, 200, list.body)
  })
  const answers = await Promise.all(waiting)
  assert.deepEqual(answers.map(({ statusCode }) => statusCode).toSorted(), [
    204,
    ...Array.from({ length: 7 }, () => 404),
  ])
})
