import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startFakeCell } from '../../test/support/fake-cells.ts'
import { routeConfig, startRoute } from '../../test/support/routes.ts'

const t = { after }
const WEBHOOK = '/v1/webhooks/019a8f6e-1c2d-7a3b-9000-5e6f70819204'

let cutOff = 0
const cell = await startFakeCell(t, ({ method }) => {
  if (cutOff-- > 0) return 'cut off'
  return { status: method === 'DELETE' ? 404 : 200 }
})
const route = await startRoute(t, routeConfig({ 0: cell.baseUrl }, 'x'.repeat(43)))

/** The answer to a request whose first answer is lost, and how often the cell got it. */
async function ask(method: string): Promise<[number, number]> {
  cutOff = 1
  const before = cell.received.length
  const body = ['PUT', 'POST', 'PATCH'].includes(method) ? { body: '{}' } : {}
  const { status } = await fetch(route.baseUrl + WEBHOOK, { method, ...body })
  return [status, cell.received.length - before]
}

test('what only reads, and a PUT, is sent again when its answer is lost', async () => {
  for (const method of ['GET', 'HEAD', 'PUT']) assert.deepEqual(await ask(method), [200, 2], method)
})

test('regression: a DELETE is not sent again: a second one would say 404 for what the first deleted', async () => {
  for (const method of ['DELETE', 'POST', 'PATCH']) {
    const [status, times] = await ask(method)
    assert.deepEqual([status, times], [502, 1], method)
  }
})
