// /openapi.json of a sandbox, the only one that newcomers see, says as much about the sandbox's own routes.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cloneDatabase } from '../../test/support/database.ts'
import { serveHttp } from '../../test/support/injected-server.ts'
import { buildServer } from '../http/server.ts'
import { DemoReceivers } from './demo-receivers.ts'
import { sandboxRoutes } from './sandbox-routes.ts'

interface Operation {
  operationId: string
  description?: string
  tags: string[]
  responses: Record<string, { description: string }>
}

test('regression: the sandbox’s receiver lists its 200, and that its script may have any other status', async (t) => {
  const { pool } = await cloneDatabase()
  const { deps, clock } = await serveHttp(t, pool)
  const parts = { clock, keys: deps.access.keys }
  const receivers = new DemoReceivers()
  deps.sandbox = sandboxRoutes(receivers)(parts)
  const app = await buildServer(deps)
  t.after(() => app.close())
  const { paths } = (await app.inject('/openapi.json')).json()
  const { responses } = paths['/sandbox/receiver/{name}'].post
  for (const status of ['200', 'default']) {
    assert.deepEqual(Object.keys(responses[status].content), ['text/plain'])
  }
  const answer = { delayMs: 0, body: '{"a":1}', redirectTo: null, sharedKey: null }
  receivers.write('a', { script: [200, 404, 503], ...answer })
  for (const status of [200, 404, 503]) {
    const given = await app.inject({ method: 'POST', url: '/sandbox/receiver/a', payload: 'x' })
    assert.deepEqual([given.statusCode, given.body], [status, '{"a":1}'])
  }
})

test('every operation of the sandbox has a description, every answer a text, the group too', async (t) => {
  const { pool } = await cloneDatabase()
  const { deps, clock } = await serveHttp(t, pool)
  const parts = { clock, keys: deps.access.keys }
  deps.sandbox = sandboxRoutes(new DemoReceivers())(parts)
  const app = await buildServer(deps)
  t.after(() => app.close())
  const { paths, tags } = (await app.inject('/openapi.json')).json()
  const named = tags.find(({ name }: { name: string }) => name === 'Sandbox')
  assert.match(named.description, /[Rr]eceiver inside/)
  const operations = Object.entries(paths)
    .filter(([path]) => path.startsWith('/sandbox/'))
    .flatMap(([, methods]) => Object.values(methods as Record<string, Operation>))
  assert.equal(operations.length, 4)
  for (const { operationId, description, responses, tags } of operations) {
    assert.ok(description, operationId)
    assert.deepEqual(tags, ['Sandbox'])
    for (const answer of Object.values(responses)) {
      assert.notEqual(answer.description, 'Default Response', operationId)
    }
  }
})
