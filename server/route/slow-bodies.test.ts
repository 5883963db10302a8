// Bodies that do not come: they take nothing that the requests of others need.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { describe, type TestContext, test } from 'node:test'
import { startFakeCell } from '../../test/support/fake-cells.ts'
import { routeConfig, startRoute } from '../../test/support/routes.ts'
import { until } from '../../test/support/until.ts'

const CELL_REQUESTS_MAX = 40

async function startBoth(t: TestContext) {
  const sockets: Socket[] = []
  // Before the route stops, which waits for them.
  t.after(() => {
    for (const socket of sockets) socket.destroy()
  })
  const cell = await startFakeCell(t, () => ({ status: 200, body: { access_token: 'x' } }))
  const config = routeConfig({ 0: cell.baseUrl }, 'key')
  const route = await startRoute(t, config, { requestsMax: CELL_REQUESTS_MAX })
  const { hostname, port } = new URL(route.baseUrl)
  /** Connections whose request begins with this, and does not go on. */
  const hold = async (count: number, text: string): Promise<readonly Socket[]> => {
    const begun = Array.from({ length: count }, () => connect(Number(port), hostname))
    sockets.push(...begun)
    for (const socket of begun) socket.on('error', () => {})
    await Promise.all(begun.map((socket) => once(socket, 'connect')))
    await Promise.all(begun.map((socket) => new Promise((done) => socket.write(text, done))))
    return begun
  }
  return { cell, route, hold }
}

const signIn = (baseUrl: string) =>
  fetch(`${baseUrl}/auth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"clientId":"a","clientSecret":"b"}',
  })

const START = 'POST /auth/token HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n'

const KINDS = {
  'of unknown length': `${START}transfer-encoding: chunked\r\n\r\n1\r\n{\r\n`,
  'of a length': `${START}content-length: 35\r\n\r\n{`,
  'of a batch': 'POST /operator/v1/payments/batch HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\n',
}

describe('bodies that do not come', () => {
  for (const [kind, text] of Object.entries(KINDS)) {
    test(`regression: ${kind}, leave the cell to others`, async (t) => {
      const { cell, route, hold } = await startBoth(t)
      await hold(3 * CELL_REQUESTS_MAX, text)
      for (let n = 0; n < 20; n++) assert.equal((await signIn(route.baseUrl)).status, 200)
      assert.equal(cell.received.length, 20)
    })

    test(`regression: ${kind}, are given up, the oldest first, where an address has 200 of them`, async (t) => {
      const { route, hold } = await startBoth(t)
      const [oldest] = await hold(1, text)
      assert.ok(oldest)
      let heard = ''
      oldest.on('data', (bytes) => {
        heard += bytes
      })
      for (const socket of await hold(200, text)) socket.resume()
      await until('it is given up', () => heard.startsWith('HTTP/1.1 408'))
      assert.equal((await signIn(route.baseUrl)).status, 200)
    })
  }
})

test('a short body of unknown length goes to the cell once it is there, with its length', async (t) => {
  const { cell, hold } = await startBoth(t)
  const [socket] = await hold(1, `${START}transfer-encoding: chunked\r\n\r\n`)
  assert.ok(socket)
  socket.write('2\r\n{}\r\n0\r\n\r\n')
  await until('it has come', () => cell.received.length === 1)
  assert.equal(cell.received[0]?.body, '{}')
  assert.equal(cell.received[0]?.headers['content-length'], '2')
})

test('a long body is passed on as it comes, whole', async (t) => {
  const { cell, route } = await startBoth(t)
  const body = JSON.stringify({ text: 'a'.repeat(1_000_000) })
  const stream = new Blob([body]).stream()
  for (const init of [{ body }, { body: stream, duplex: 'half' } as const]) {
    const answer = await fetch(`${route.baseUrl}/v1/webhooks/x/verify`, { method: 'POST', ...init })
    assert.equal(answer.status, 200)
  }
  assert.deepEqual(
    cell.received.map((request) => request.body === body),
    [true, true],
  )
})

test('a sign-in of more than 8 KiB is refused in the route', async (t) => {
  const { cell, route } = await startBoth(t)
  for (const path of ['/auth/token', '/console/session']) {
    const answer = await fetch(route.baseUrl + path, { method: 'POST', body: 'a'.repeat(9_000) })
    assert.equal(answer.status, 413)
  }
  assert.equal(cell.received.length, 0)
})
