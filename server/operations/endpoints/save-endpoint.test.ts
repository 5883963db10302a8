// One client's changes of endpoints wait in one line, whatever their kind, and hold one connection.

import assert from 'node:assert/strict'
import { after, type TestContext, test } from 'node:test'
import { cloneDatabase } from '../../../test/support/database.ts'
import {
  addEndpoint,
  call,
  ENDPOINT,
  postEndpoint,
  WEBHOOKS,
} from '../../../test/support/injected-calls.ts'
import { onboard, serveHttp, type TestClient } from '../../../test/support/injected-server.ts'
import { untilWaiting } from '../../../test/support/stored-deliveries.ts'
import { DEFAULT_SETTINGS } from '../../core/delivery/endpoint-settings.ts'
import { ServiceError } from '../../core/plain/errors.ts'
import { type Db, inTransaction } from '../../store/connection/db.ts'
import { replaceSettings } from '../../store/endpoints/endpoints.ts'
import { lockNotices } from '../../store/endpoints/notices.ts'
import { createEndpointChanges } from '../shared/endpoint-changes.ts'
import { saveEndpoint } from './save-endpoint.ts'

const CONNECTIONS_MAX = 10
const { pool } = await cloneDatabase({ connectionsMax: CONNECTIONS_MAX })
const server = await serveHttp({ after } as Pick<TestContext, 'after'>, pool)

test('regression: webhooks and listeners of one client wait in one line', async () => {
  const { clientKey, accountId } = await onboard(server)
  let held = 0
  let heldMax = 0
  const onAcquire = () => {
    held++
    heldMax = Math.max(heldMax, held)
  }
  const onRelease = () => {
    held--
  }
  pool.on('acquire', onAcquire).on('release', onRelease)
  // As the composition passes them out: each part of the service has its own object with the same members.
  const forWebhooks = { ...server.deps }
  const forListeners = { ...server.deps }
  const save = (at: number) => {
    const href = `https://example.com/${at}`
    return saveEndpoint(at % 2 === 0 ? forWebhooks : forListeners, {
      clientKey,
      kind: at % 2 === 0 ? 'webhook' : 'listener',
      accountId,
      url: href,
      href,
      sharedKey: ENDPOINT.sharedKey,
      header: null,
    })
  }
  const ids = await Promise.all(Array.from({ length: 12 }, (_, at) => save(at)))
  pool.off('acquire', onAcquire).off('release', onRelease)
  assert.equal(new Set(ids).size, 12)
  assert.equal(heldMax, 1)
})

interface Change {
  method: 'PATCH' | 'POST' | 'PUT'
  url: string
  payload?: object
}

/** While a row or a lock is held that all these calls need, another client is answered; then they are. */
async function assertRoomForOthers(
  client: TestClient,
  hold: (db: Db) => Promise<unknown>,
  change: Change,
): Promise<void> {
  const other = await onboard(server, 'Other')
  let isHeld = true
  const calls = await inTransaction(pool, async (db) => {
    await hold(db)
    const { headers } = client
    const calls = Array.from({ length: 3 * CONNECTIONS_MAX }, async () => {
      const { statusCode } = await server.app.inject({ ...change, headers })
      return { statusCode, isEarly: isHeld }
    })
    // The first may be answered before they have all come as far as they come.
    for (const _ of [1, 2, 3]) {
      const answer = await call(server, other.bearer, 'GET', WEBHOOKS.path)
      assert.equal(answer.statusCode, 200, 'another client is kept out of the pool')
    }
    isHeld = false
    return calls
  })
  for (const { statusCode, isEarly } of await Promise.all(calls)) {
    assert.ok([200, 202].includes(statusCode), String(statusCode))
    assert.equal(isEarly, false)
  }
}

test('regression: changes of one endpoint that wait for its row leave the connections to other clients', async () => {
  const client = await onboard(server)
  const { id } = await addEndpoint(server, client)
  await assertRoomForOthers(
    client,
    (db) => db.query('select from endpoints where id = $1 for update', [id]),
    { method: 'PATCH', url: `${WEBHOOKS.path}/${id}`, payload: { description: 'x' } },
  )
})

test('regression: so do addresses for notices that wait for their lock', async () => {
  const client = await onboard(server)
  const payload = { callbackUrl: 'https://example.com/notices', sharedKey: ENDPOINT.sharedKey }
  await assertRoomForOthers(client, lockNotices, { method: 'PUT', url: '/v1/notices', payload })
})

test('regression: so do retries of an endpoint', async () => {
  const client = await onboard(server)
  const { id } = await addEndpoint(server, client)
  await assertRoomForOthers(
    client,
    (db) => db.query('select from endpoints where id = $1 for update', [id]),
    { method: 'POST', url: `${WEBHOOKS.path}/${id}/retry` },
  )
})

test('the line of a client has an end, and that of another client has room', async () => {
  const changes = createEndpointChanges({ requestsPerSecond: 200 })
  const { promise, resolve } = Promise.withResolvers<void>()
  const waiting = Array.from({ length: 500 }, () => changes.run(1, () => promise))
  await assert.rejects(
    changes.run(1, () => promise),
    (error) => error instanceof ServiceError && error.code === 'overloaded',
  )
  await changes.run(2, async () => {})
  resolve()
  await Promise.all(waiting)
})

test('regression: a registration keeps the settings that a PATCH in another process gives at the same time', async () => {
  const client = await onboard(server)
  const { clientKey, headers } = client
  const { id } = await addEndpoint(server, client)
  const settings = { ...DEFAULT_SETTINGS, events: ['payment.paid' as const] }
  const { answer } = await inTransaction(pool, async (db) => {
    await replaceSettings(db, clientKey, id, settings, new Date())
    const answer = postEndpoint(server, client, { ...ENDPOINT, deliver: 'latest' })
    await untilWaiting(pool, 'endpoints')
    return { answer }
  })
  assert.equal((await answer).statusCode, 200)
  const shown = await call(server, headers, 'GET', `${WEBHOOKS.path}/${id}`)
  const { events, deliver } = shown.json()
  assert.deepEqual({ events, deliver }, { events: ['payment.paid'], deliver: 'latest' })
})
