// The operator's port, of a route and of the cells that it stands before: operators sign in there, and clients at the
// public one, whichever of them has two ports.

import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { Caller } from '../support/caller.ts'
import { startPaybell } from '../support/paybell.ts'
import { routeConfig, startRoute } from '../support/routes.ts'

const t = { after }
const twoPorts = await startPaybell(t, { env: { PAYBELL_OPERATOR_PORT: '0' } })
const onePort = await startPaybell(t, { beside: twoPorts })
const { operatorKey, clientId, clientSecret } = twoPorts
const bothAddresses = `${twoPorts.baseUrl}|${twoPorts.app.operatorUrl()}`

const page = { 'x-paybell-console': '1' }
const json = { ...page, 'content-type': 'application/json' }
const operator = { operatorKey }
const client = { clientId, clientSecret }

const signIn = (address: string, body: object) =>
  fetch(`${address}/console/session`, { method: 'POST', headers: json, body: JSON.stringify(body) })

/** The cookie of a sign-in that succeeds. */
async function signedIn(address: string, body: object): Promise<string> {
  const answer = await signIn(address, body)
  assert.equal(answer.status, 204, await answer.text())
  return answer.headers
    .getSetCookie()
    .map((one) => one.split(';', 1)[0])
    .join('; ')
}

const get = (address: string, path: string, cookie: string) =>
  fetch(address + path, { headers: { ...page, cookie } })

async function kindAt(address: string, cookie: string): Promise<string | null> {
  const answer = await get(address, '/console/session', cookie)
  assert.equal(answer.status, 200)
  const session = (await answer.json()) as { kind: string | null; version: string }
  assert.equal(typeof session.version, 'string')
  return session.kind
}

test('regression: at a route with one port before cells with two, both sign in', async () => {
  const { baseUrl } = await startRoute(t, routeConfig({ 0: bothAddresses }, operatorKey))
  const cookie = await signedIn(baseUrl, operator)
  assert.equal(await kindAt(baseUrl, cookie), 'operator')
  assert.equal((await get(baseUrl, '/operator/v1/clients', cookie)).status, 200)
  const own = await signedIn(baseUrl, client)
  assert.equal(await kindAt(baseUrl, own), 'client')
  assert.equal((await get(baseUrl, '/v1/webhooks', own)).status, 200)
  assert.equal(await kindAt(baseUrl, ''), null)
  const out = await fetch(`${baseUrl}/console/session`, {
    method: 'DELETE',
    headers: { ...page, cookie },
  })
  assert.equal(out.status, 204)
  assert.equal(await kindAt(baseUrl, cookie), null)
})

for (const [cells, address] of [
  ['two', bothAddresses],
  ['one', onePort.baseUrl],
] as const) {
  const config = routeConfig({ 0: address }, operatorKey, { operatorPort: 0 })
  const { baseUrl, operatorUrl } = await startRoute(t, config)
  describe(`at a route with two ports before cells with ${cells}`, () => {
    test('operators sign in at the operator’s port alone', async () => {
      const cookie = await signedIn(operatorUrl, operator)
      assert.equal(await kindAt(operatorUrl, cookie), 'operator')
      assert.equal(await kindAt(baseUrl, cookie), null)
      assert.equal((await get(operatorUrl, '/operator/v1/clients', cookie)).status, 200)
      assert.equal((await get(baseUrl, '/operator/v1/clients', cookie)).status, 404)
      const refused = await signIn(baseUrl, operator)
      assert.equal(refused.status, 401)
      assert.match(await refused.text(), /operator’s own port/)
      assert.deepEqual(refused.headers.getSetCookie(), [])
    })

    test('clients sign in at the public port alone', async () => {
      const cookie = await signedIn(baseUrl, client)
      assert.equal(await kindAt(baseUrl, cookie), 'client')
      assert.equal(await kindAt(operatorUrl, cookie), null)
      assert.equal((await get(baseUrl, '/v1/webhooks', cookie)).status, 200)
      const refused = await signIn(operatorUrl, client)
      assert.equal(refused.status, 401)
      assert.match(await refused.text(), /public address/)
    })

    test('a sign-in that the route cannot read reaches no cell', async () => {
      const send = (body: string | ReadableStream) =>
        fetch(`${baseUrl}/console/session`, {
          method: 'POST',
          headers: json,
          body,
          duplex: 'half',
        } as RequestInit)
      assert.equal((await send(`{"operatorKey":"${operatorKey}",}`)).status, 400)
      // Of unknown length: the route reads it as any other, and refuses the operator itself.
      const stream = new Blob([JSON.stringify(operator)]).stream()
      assert.match(await (await send(stream)).text(), /operator’s own port/)
      const long = new Blob([JSON.stringify({ ...operator, more: 'a'.repeat(8_192) })]).stream()
      assert.equal((await send(long)).status, 413)
    })

    test('regression: the operator’s port knows nothing of the client interface, as that of a cell', async () => {
      const token = await new Caller(twoPorts).token()
      for (const path of ['/v1/webhooks', '/api/v1/payments/subscriptions', '/documents/x']) {
        const headers = { authorization: `Bearer ${token}`, accountid: twoPorts.accountId }
        assert.equal((await fetch(operatorUrl + path, { headers })).status, 404, path)
        const atPublic = await fetch(baseUrl + path, { headers })
        assert.equal(atPublic.status, path.startsWith('/documents') ? 404 : 200, path)
      }
      const signIn = { method: 'POST', headers: json, body: JSON.stringify(client) }
      assert.equal((await fetch(`${operatorUrl}/auth/token`, signIn)).status, 404)
      assert.equal((await fetch(`${baseUrl}/auth/token`, signIn)).status, 200)
    })

    test('regression: guides for operators are at the operator’s port alone', async () => {
      for (const [at, status] of [
        [baseUrl, 404],
        [operatorUrl, 200],
      ] as const) {
        assert.equal((await fetch(`${at}/guides/operations`)).status, status)
        assert.equal((await fetch(`${at}/guides/delivery`)).status, 200)
        const index = await (await fetch(`${at}/guides/`)).text()
        assert.equal(index.includes('/guides/operations'), status === 200)
        assert.ok(index.includes('/guides/delivery'))
      }
    })

    test('public keys are at both, which producers read', async () => {
      for (const at of [baseUrl, operatorUrl]) {
        assert.equal((await fetch(`${at}/.well-known/webhook-keys.json`)).status, 200)
      }
    })
  })
}
