// What clients see of host names that cannot be reached: never whether such a name exists in our network.

import assert from 'node:assert/strict'
import test from 'node:test'
import { cloneDatabase } from '../../../../test/support/database.ts'
import { call, OPERATOR } from '../../../../test/support/injected-calls.ts'
import { onboard, serveHttp } from '../../../../test/support/injected-server.ts'
import {
  STORED_AT,
  storeEndpoint,
  storePending,
} from '../../../../test/support/stored-deliveries.ts'

const { pool } = await cloneDatabase()

const OUTCOMES = ['dns-error', 'blocked-address']

test('regression: a client sees one code for a name that is unknown and one that is private', async (t) => {
  const server = await serveHttp(t, pool)
  const client = await onboard(server)
  const endpoint = await storeEndpoint(pool, client.clientKey)
  const delivery = await storePending(pool, endpoint, {
    attempts: 1,
    run_attempts: 1,
    first_attempt_at: STORED_AT,
    deadline_at: new Date(STORED_AT.getTime() + 7 * 86_400_000),
  })
  await pool.query(
    `insert into endpoint_health (client_key, endpoint_id, failing_since) values ($1, $2, $3)`,
    [client.clientKey, endpoint.endpointId, STORED_AT],
  )
  await pool.query(
    `insert into earlier_attempts (client_key, delivery_id, attempt, at, duration_ms, outcome)
     values ($1, $2, 1, $3, 5, '')`,
    [client.clientKey, delivery.id, STORED_AT],
  )
  const paths = [
    '/v1/deliveries',
    `/v1/deliveries/${delivery.id}`,
    `/api/v1/payments/subscriptions/${endpoint.endpointId}`,
  ]
  const seen: string[][] = []
  for (const outcome of OUTCOMES) {
    await pool.query('update pending_deliveries set last_outcome = $1', [outcome])
    await pool.query('update earlier_attempts set outcome = $1', [outcome])
    await pool.query('update endpoint_health set last_error = $1', [outcome])
    const answers = paths.map((url) => call(server, client.bearer, 'GET', url))
    const bodies = (await Promise.all(answers)).map(({ statusCode, body }) => {
      assert.equal(statusCode, 200, body)
      assert.match(body, /"no-address"/)
      return body
    })
    seen.push(bodies)
    // The operator, whose network it is, sees the difference.
    const headers = OPERATOR
    for (const path of [`deliveries/${delivery.id}`, `endpoints/${endpoint.endpointId}`]) {
      const { body } = await call(server, headers, 'GET', `/operator/v1/${path}`)
      assert.ok(body.includes(`"${outcome}"`), body)
    }
  }
  assert.deepEqual(seen[0], seen[1])
  assert.match(seen[0]?.[1] ?? '', /failed: no public address\. The host name has none/)
})
