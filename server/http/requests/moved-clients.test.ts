// What an operator asks about a client that is on its way to another cell, or has left: an act is done and copied, refused
// with 503, or sent on with 308. None is answered 2xx and then lost.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, type TestContext, test } from 'node:test'
import { cloneDatabase } from '../../../test/support/database.ts'
import { addEndpoint, call, OPERATOR, putPayment } from '../../../test/support/injected-calls.ts'
import {
  assertProblem,
  onboard,
  serveHttp,
  type TestClient,
} from '../../../test/support/injected-server.ts'
import { beginMoveOf, bringMoveTo } from '../../../test/support/moving.ts'
import { sampleBody } from '../../../test/support/payment-sample.ts'
import type { MoveState } from '../../core/network/client-move.ts'

const { pool } = await cloneDatabase()
const server = await serveHttp({ after } as Pick<TestContext, 'after'>, pool)
const NEW_ADDRESS = 'https://seven.example'

type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
interface Call {
  method: Method
  path: string
  body?: object
}

function ask({ method, path, body }: Call, headers: Record<string, string> = OPERATOR) {
  return call(server, headers, method, path, body)
}

const O = '/operator/v1'

/** A client with an endpoint, a payment, and a delivery that has ended. */
async function ready() {
  const client = await onboard(server)
  await addEndpoint(server, client)
  const paymentId = randomUUID()
  const put = await putPayment(server, client.accountId, paymentId, sampleBody({ id: paymentId }))
  assert.equal(put.statusCode, 201, put.body)
  const { rows } = await pool.query(
    `select p.id, p.endpoint_id, s.id as secret_id from pending_deliveries p
     join client_secrets s using (client_key) where p.payment_id = $1`,
    [paymentId],
  )
  const [{ id: deliveryId, endpoint_id: endpointId, secret_id: secretId }] = rows
  const cancelled = await ask({ method: 'POST', path: `${O}/deliveries/${deliveryId}/cancel` })
  assert.equal(cancelled.statusCode, 200, cancelled.body)
  await ask({ method: 'POST', path: `${O}/clients/${client.clientId}/secrets` })
  return { client, endpointId, deliveryId, paymentId, secretId }
}

type Ready = Awaited<ReturnType<typeof ready>>

function actsOnClient({ client: { clientId, accountId }, secretId }: Ready): readonly Call[] {
  const path = `${O}/clients/${clientId}`
  return [
    { method: 'PATCH', path, body: { status: 'DISABLED' } },
    { method: 'POST', path: `${path}/accounts`, body: { name: 'Another' } },
    { method: 'DELETE', path: `${path}/secrets/${secretId}` },
    { method: 'POST', path: `${path}/secrets` },
    { method: 'POST', path: `${path}/console-links` },
    { method: 'POST', path: `${O}/deliveries/replay`, body: { filter: { clientId } } },
    { method: 'POST', path: `${O}/deliveries/cancel`, body: { filter: { accountId } } },
  ]
}

function actsOnItsOwn({ endpointId, deliveryId, paymentId }: Ready): readonly Call[] {
  return [
    { method: 'PATCH', path: `${O}/endpoints/${endpointId}`, body: { status: 'ACTIVE' } },
    { method: 'PATCH', path: `${O}/endpoints/${endpointId}`, body: { status: 'PAUSED' } },
    { method: 'POST', path: `${O}/deliveries/${deliveryId}/replay` },
    { method: 'POST', path: `${O}/payments/${paymentId}/erase` },
  ]
}

/** Whatever an act could have changed. */
async function readAll({ clientKey }: TestClient): Promise<unknown> {
  const { rows } = await pool.query(
    `select c.status,
       (select json_agg(s order by s.id) from client_secrets s where s.client_key = c.client_key) as secrets,
       (select count(*) from accounts a where a.client_key = c.client_key) as accounts,
       (select count(*) from client_console_links l where l.client_key = c.client_key) as links,
       (select json_agg(e) from endpoints e where e.client_key = c.client_key) as endpoints,
       (select json_agg(p) from payments p where p.client_key = c.client_key) as payments,
       (select count(*) from pending_deliveries p where p.client_key = c.client_key) as pending,
       (select count(*) from audit) as audited, (select count(*) from jobs) as jobs
     from clients c where c.client_key = $1`,
    [clientKey],
  )
  return rows[0]
}

const begin = (client: TestClient) => beginMoveOf(pool, client, NEW_ADDRESS)

const setState = ({ clientKey }: TestClient, state: MoveState) =>
  bringMoveTo(pool, clientKey, state)

/** What this process knows of moves is a second old at most. */
function letItKnow(): void {
  server.clock.advance(2)
}

test('regression: no act on a client is lost while it is copied, whether the process knows of the move or not', async () => {
  const made = await ready()
  // Read now, and for the next second.
  letItKnow()
  await ask({ method: 'GET', path: `${O}/clients/${made.client.clientId}` })
  await begin(made.client)
  await setState(made.client, 'COPYING')
  const before = await readAll(made.client)
  const everything = {
    method: 'POST' as const,
    path: `${O}/deliveries/replay`,
    body: { filter: {} },
  }
  for (const knows of [false, true]) {
    if (knows) letItKnow()
    for (const call of [...actsOnClient(made), ...actsOnItsOwn(made), everything]) {
      // Nothing is pending, and it has two secrets: both are refused, or change nothing, for these reasons.
      if (!knows && /\/(cancel|secrets)$/.test(call.path)) continue
      const answer = await ask(call)
      assertProblem(answer, 503, 'overloaded')
      assert.equal(answer.headers['retry-after'], '2', `${call.method} ${call.path}`)
    }
  }
  assert.deepEqual(await readAll(made.client), before)
  const read = await ask({ method: 'GET', path: `${O}/clients/${made.client.clientId}` })
  assert.equal(read.statusCode, 200)
})

test('before the copy an operator may still act, but for what the move has stopped or does not take along', async () => {
  const made = await ready()
  await begin(made.client)
  for (const knows of [false, true]) {
    if (knows) letItKnow()
    const stopped = [...actsOnItsOwn(made).slice(0, 2), actsOnClient(made)[4] as Call]
    for (const call of stopped) assertProblem(await ask(call), 503, 'overloaded')
  }
  const [disable] = actsOnClient(made)
  assert.equal((await ask(disable as Call)).statusCode, 200)
})

test('regression: once a client has moved, every call about it is sent on, and no act is taken', async () => {
  const made = await ready()
  const { client } = made
  await begin(client)
  await setState(client, 'MOVED')
  const before = await readAll(client)
  letItKnow()
  const reads: readonly Call[] = [
    `/clients/${client.clientId}`,
    `/clients/${client.clientId.toUpperCase()}/accounts`,
    `/endpoints?clientId=${client.clientId}`,
    `/endpoints?accountId=${client.accountId}`,
    `/deliveries?clientId=${client.clientId}`,
    `/payments?accountId=${client.accountId}`,
  ].map((path) => ({ method: 'GET', path: `${O}${path}` }))
  for (const call of [...reads, ...actsOnClient(made), ...actsOnItsOwn(made)]) {
    const answer = await ask(call)
    assertProblem(answer, 308, 'client-moved')
    assert.equal(answer.headers.location, `${NEW_ADDRESS}${call.path}`)
    assert.equal(answer.headers['x-paybell-cell'], '7')
  }
  const forAccount = await ask(reads[3] as Call)
  assert.equal(forAccount.headers['x-paybell-moved'], client.accountId)
  // It is about all clients that are here.
  const everything = await ask({
    method: 'POST',
    path: `${O}/deliveries/replay`,
    body: { filter: { paymentId: made.paymentId } },
  })
  assert.deepEqual([everything.statusCode, everything.json()], [202, { replayed: 0 }])
  const { audited, jobs, ...rest } = before as Record<string, unknown>
  const left = (await readAll(client)) as Record<string, unknown>
  assert.deepEqual({ ...left, audited, jobs }, { ...rest, audited, jobs })

  await setState(client, 'REMOVED')
  for (const call of actsOnClient(made)) assertProblem(await ask(call), 308, 'client-moved')
})

test('calls about other clients, and those about none, notice nothing', async () => {
  const [gone, here] = [await onboard(server), await onboard(server)]
  await begin(gone)
  await setState(gone, 'MOVED')
  letItKnow()
  for (const path of [
    `/clients/${here.clientId}`,
    `/clients/${here.clientId}/accounts`,
    `/endpoints?clientId=${here.clientId}`,
    `/endpoints?accountId=${here.accountId}`,
    `/payments?accountId=${randomUUID()}`,
    '/endpoints',
    '/deliveries',
  ]) {
    assert.equal((await ask({ method: 'GET', path: `${O}${path}` })).statusCode, 200, path)
  }
  const unknown = await ask({ method: 'GET', path: `${O}/clients/none` })
  assertProblem(unknown, 404, 'not-found')
})
