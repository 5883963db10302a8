// Calls of the HTTP interface that a test makes on the way to what it tests, through `inject`: their paths and their
// bodies stand here alone. A test of a route itself calls it, too, where it asks for nothing unusual.

import assert from 'node:assert/strict'
import { OPERATOR_KEY, type TestClient, type TestServer } from './injected-server.ts'

/** The headers of an operator's request. */
export const OPERATOR = { authorization: `Bearer ${OPERATOR_KEY}` }

/** Where endpoints of a kind are made, and where they are listed and, under their id, found. */
export interface Door {
  post: string
  path: string
}

export const WEBHOOKS: Door = { post: '/v1/webhooks/register', path: '/v1/webhooks' }
export const SUBSCRIPTIONS: Door = {
  post: '/api/v1/payments/subscribe',
  path: '/api/v1/payments/subscriptions',
}
export const DOORS = [WEBHOOKS, SUBSCRIPTIONS] as const

/** With what it needs to have, for those who add something. */
export const ENDPOINT = {
  callbackUrl: 'https://example.com/hook',
  sharedKey: 'a-long-random-text-that-only-we-two-know',
}

export interface Item {
  id: string
  // biome-ignore lint/suspicious/noExplicitAny: looked into by the tests
  [member: string]: any
}

type Method = 'GET' | 'HEAD' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
type Serving = Pick<TestServer, 'app'>
type Headers = Readonly<Record<string, string | string[]>>

/** In whose name: a client's `headers`, or OPERATOR. */
export function call(
  { app }: Serving,
  headers: Headers,
  method: Method,
  url: string,
  payload?: object | string,
) {
  return app.inject({ method, url, headers, ...(payload === undefined ? {} : { payload }) })
}

/** The body is sent as it is. */
export function postEndpoint(
  server: Serving,
  { headers }: { headers: Headers },
  body: object,
  door = WEBHOOKS,
) {
  return call(server, headers, 'POST', door.post, body)
}

export function patchEndpoint(
  server: Serving,
  { headers }: { headers: Headers },
  id: string,
  changes: object,
  door = WEBHOOKS,
) {
  return call(server, headers, 'PATCH', `${door.path}/${id}`, changes)
}

/** Makes one, or registers it again, and tells what the list then shows of it. */
export async function addEndpoint(
  server: Serving,
  client: Pick<TestClient, 'headers'>,
  settings: object = {},
  door = WEBHOOKS,
): Promise<Item> {
  const body = { ...ENDPOINT, ...settings }
  const answer = await postEndpoint(server, client, body, door)
  assert.ok(answer.statusCode < 300, answer.body)
  const list = await call(server, client.headers, 'GET', `${door.path}?size=100`)
  const items: Item[] = list.json().content
  return items.find(({ endpointUrl }) => endpointUrl === body.callbackUrl) ?? assert.fail(list.body)
}

/** As an operator's system writes it. */
export function putPayment(
  server: Serving,
  accountId: string,
  id: string,
  body: Buffer | string | object,
) {
  const headers = { ...OPERATOR, accountid: accountId, 'content-type': 'application/json' }
  return call(server, headers, 'PUT', `/operator/v1/payments/${id}`, body)
}
