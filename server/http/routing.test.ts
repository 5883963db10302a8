// Methods that an address does not take, over real sockets: what Node and the framework think of them by themselves
// must not show.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { METHODS, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { cloneDatabase } from '../../test/support/database.ts'
import { serveHttp } from '../../test/support/injected-server.ts'

const { pool } = await cloneDatabase()

interface Answer {
  status: number
  allow: string | undefined
  type: string | undefined
}

function ask(port: number, method: string, path: string): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  const sent = request({ host: '127.0.0.1', port, method, path }, (answer) => {
    const { allow, 'content-type': type } = answer.headers
    answer.resume().once('end', () => resolve({ status: answer.statusCode ?? 0, allow, type }))
  })
  sent.once('error', reject).end()
  return promise
}

test('regression: every method that an address does not take is 405, with those that it takes', async (t) => {
  const { app } = await serveHttp(t, pool)
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  const id = randomUUID()
  for (const [path, allow] of [
    ['/v1/webhooks/list', 'GET, HEAD'],
    [`/v1/webhooks/${id}`, 'DELETE, GET, HEAD, PATCH'],
    [`/v1/webhooks/${id}/verify`, 'POST'],
    [`/operator/v1/payments/${id}`, 'GET, HEAD, PUT'],
    ['/documents/x', 'GET, HEAD'],
    ['/auth/token', 'POST'],
    ['/no/such/address', undefined],
  ] as const) {
    const taken = allow?.split(', ') ?? []
    // A CONNECT asks for a tunnel, and is tried elsewhere.
    for (const method of METHODS.filter((one) => one !== 'CONNECT' && !taken.includes(one))) {
      const answer = await ask(port, method, path)
      const status = allow === undefined ? 404 : 405
      assert.deepEqual(
        answer,
        { status, allow, type: 'application/problem+json' },
        `${method} ${path}`,
      )
    }
  }
})
