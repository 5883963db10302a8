import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { startFakeCell } from '../../test/support/fake-cells.ts'
import { routeConfig, startRoute } from '../../test/support/routes.ts'
import { isPlainPath } from './plain-path.ts'

/** The same address to a server that decodes, or to a proxy that tidies paths. */
const DISGUISED = [
  '/%6fperator/v1/clients',
  '/operator%2fv1/clients',
  '/%6Fperator/v1/clients?size=2',
  '//operator/v1/clients',
  '/./operator/v1/clients',
  '/v1/../operator/v1/clients',
  '/v1/..',
  '/v1\\..\\operator/v1/clients',
  '/console/%73ession',
  '/v1/%',
  '/v1/..#',
]

test('addresses of the interface are plain, and those in disguise are not', () => {
  for (const path of [
    '/',
    '/docs/',
    '/operator/v1/clients',
    '/.well-known/jwks.json',
    '/console/assets/index-brG1_R6Y.js',
    '/documents/a.b-c_d',
    '/guides/api...md',
  ]) {
    assert.ok(isPlainPath(path), path)
  }
  for (const path of DISGUISED) assert.ok(!isPlainPath(path.split('?')[0] as string), path)
})

test('regression: no other spelling of an operator’s address passes the public port', async (t) => {
  const cell = await startFakeCell(t, () => ({ status: 200 }))
  const config = routeConfig({ 0: cell.baseUrl }, 'x'.repeat(43), { operatorPort: 0 })
  const route = await startRoute(t, config)
  for (const path of ['/operator/v1/clients', ...DISGUISED]) {
    const { status, body } = await askAsWritten(route.baseUrl, path)
    assert.equal(status, 404, path)
    assert.match(body, /"code":"not-found"/, path)
  }
  assert.deepEqual(cell.received, [])
  const one = '/operator/v1/clients/019a8f6e-1c2d-7a3b-9000-5e6f70819204?q=%2e%2e%2f'
  const { status } = await askAsWritten(route.operatorUrl, one)
  assert.equal(status, 200, 'a query may have anything')
  assert.equal(cell.received.length, 1)
})

/** fetch would tidy the path before it sends it. */
async function askAsWritten(address: string, path: string) {
  const { hostname, port } = new URL(address)
  const asked = request({ hostname, port, path, agent: false }).end()
  const [answer] = (await once(asked, 'response')) as [IncomingMessage]
  return { status: answer.statusCode, body: await text(answer) }
}
