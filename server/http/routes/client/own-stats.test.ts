import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import test from 'node:test'
import { cloneDatabase } from '../../../../test/support/database.ts'
import { addEndpoint, patchEndpoint, putPayment } from '../../../../test/support/injected-calls.ts'
import {
  onboard,
  serveHttp,
  type TestClient,
  type TestServer,
} from '../../../../test/support/injected-server.ts'
import { sampleBody } from '../../../../test/support/payment-sample.ts'

const { pool } = await cloneDatabase()

test('a client sees its own counts: endpoints by health, what is owed, what ended lately', async (t) => {
  const server = await serveHttp(t, pool)
  const client = await onboard(server)
  const nothing = {
    endpoints: { healthy: 0, failing: 0, paused: 0, disabled: 0 },
    deliveries: {
      ...{ pending: 0, due: 0, waiting: 0 },
      ...{ delivered24h: 0, delivered7d: 0, exhausted24h: 0, exhausted7d: 0 },
    },
    oldestDueAt: null,
  }
  assert.deepEqual(await stats(server, client), nothing)

  const at = (name: string) => ({ callbackUrl: `https://example.com/${name}` })
  const { id: well } = await addEndpoint(server, client, at('well'))
  const { id: failing } = await addEndpoint(server, client, at('failing'))
  const { id: paused } = await addEndpoint(server, client, at('paused'))
  const id = randomUUID()
  const answer = await putPayment(server, client.accountId, id, sampleBody({ id }))
  assert.equal(answer.statusCode, 201, answer.body)
  const acceptedAt = new Date(server.clock.nowMs()).toISOString()
  server.clock.advance(60)
  await patchEndpoint(server, client, paused, { status: 'PAUSED' })
  await pool.query('update pending_deliveries set next_attempt_at = null where endpoint_id = $1', [
    paused,
  ])
  const now = new Date(server.clock.nowMs())
  await pool.query(
    `insert into endpoint_health (client_key, endpoint_id, failing_since, last_failure_at)
     values ($1, $2, $3, $3)`,
    [client.clientKey, failing, now],
  )
  await pool.query(
    `update pending_deliveries set next_attempt_at = $2::timestamptz + interval '1 hour'
     where endpoint_id = $1`,
    [failing, now],
  )
  await pool.query(
    `insert into endpoint_hours (client_key, endpoint_id, hour, attempts, delivered, durations)
     select $1, $2, date_trunc('hour', $3::timestamptz) - hours * interval '1 hour', 9, 5, '{}'
     from unnest(array[0, 30, 200]) as hours`,
    [client.clientKey, well, now],
  )
  for (const days of [0, 3, 8])
    await giveUp(client, failing, new Date(now.getTime() - days * 86_400_000))

  assert.deepEqual(await stats(server, client), {
    endpoints: { healthy: 1, failing: 1, paused: 1, disabled: 0 },
    deliveries: {
      ...{ pending: 3, due: 1, waiting: 2 },
      ...{ delivered24h: 5, delivered7d: 10, exhausted24h: 1, exhausted7d: 2 },
    },
    oldestDueAt: acceptedAt,
  })
  assert.deepEqual(await stats(server, await onboard(server, 'Another')), nothing)
})

async function stats(server: TestServer, { bearer }: TestClient) {
  const answer = await server.app.inject({ url: '/v1/stats', headers: bearer })
  assert.equal(answer.statusCode, 200, answer.body)
  const { at, ...rest } = answer.json()
  assert.equal(at, new Date(server.clock.nowMs()).toISOString())
  return rest
}

async function giveUp({ clientKey, accountId }: TestClient, endpointId: string, at: Date) {
  await pool.query(
    `insert into final_deliveries (client_key, id, event_id, endpoint_id, payment_id, account_id, sequence,
       kind, created_at, state, attempts, finished_at, last_outcome, last_status)
     values ($1, $2, $3, $4, $5, $6, 1, 'payment.created', $7, 'EXHAUSTED', 40, $7, 'answered', 500)`,
    [clientKey, randomUUID(), randomUUID(), endpointId, randomUUID(), accountId, at],
  )
}
