import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cloneDatabase } from '../../test/support/database.ts'
import { serveHttp } from '../../test/support/injected-server.ts'
import { StatedEndpoint } from '../../test/support/stated-endpoint.ts'
import { deleteClientNotices, putClientNotices } from '../operations/clients/client-notices.ts'
import { sendNotices } from './send-notices.ts'

test('regression: a client is not notified of what was exhausted before it gave an address', async (t) => {
  const { pool } = await cloneDatabase()
  const { deps, clock } = await serveHttp(t, pool)
  const now = () => new Date(clock.nowMs())
  const stated = await StatedEndpoint.create(pool)
  const exhaust = async () => stated.end(await stated.make(pool, now()), 'EXHAUSTED', now())
  const { clientKey } = stated.endpoint
  const { rows } = await pool.query('select id from clients where client_key = $1', [clientKey])
  const caller = { clientKey, clientId: rows[0].id as string }
  const to = { url: 'https://receiver.test/notices', key: 'the key of notices' }

  await putClientNotices(deps, caller, to)
  await deleteClientNotices(deps, caller)
  await sendNotices(deps)
  clock.advance(3_600)
  await exhaust()
  clock.advance(86_400)
  await putClientNotices(deps, caller, to)
  for (let round = 0; round < 3; round++) {
    clock.advance(30)
    assert.equal(await sendNotices(deps), 0)
  }
  await exhaust()
  clock.advance(30)
  assert.equal(await sendNotices(deps), 1)
})
