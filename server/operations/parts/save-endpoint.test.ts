// One client's changes of endpoints wait in one line, whatever their kind.

import assert from 'node:assert/strict'
import test from 'node:test'
import { cloneDatabase } from '../../../test/support/database.ts'
import { onboard, serveHttp } from '../../../test/support/injected-server.ts'
import { saveEndpoint } from './save-endpoint.ts'

const { pool } = await cloneDatabase()

test('regression: webhooks and listeners of one client wait in one line', async (t) => {
  const server = await serveHttp(t, pool)
  const { clientKey, accountId } = await onboard(server)
  let held = 0
  let heldMax = 0
  pool.on('acquire', () => {
    held++
    heldMax = Math.max(heldMax, held)
  })
  pool.on('release', () => held--)
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
      sharedKey: 'a-long-random-text-that-only-we-two-know',
      header: null,
    })
  }
  const ids = await Promise.all(Array.from({ length: 12 }, (_, at) => save(at)))
  assert.equal(new Set(ids).size, 12)
  assert.equal(heldMax, 1)
})
