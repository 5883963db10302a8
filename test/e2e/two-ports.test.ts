// The operator's interface on a port of its own: two servers, and one memory of who may ask.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import test from 'node:test'
import { startPaybell } from '../support/paybell.ts'

test('regression: failed logins at one port count at the other', async (t) => {
  const paybell = await startPaybell(t, { env: { PAYBELL_OPERATOR_PORT: '0' } })
  const post = (url: string, body: object, headers: Record<string, string> = {}) =>
    fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
  const operatorUrl = paybell.app.operatorUrl()
  assert.notEqual(operatorUrl, paybell.baseUrl)
  const guess = () =>
    post(`${paybell.baseUrl}/auth/token`, { clientId: randomUUID(), clientSecret: 'wrong' })
  const signIn = () =>
    post(
      `${operatorUrl}/console/session`,
      { operatorKey: 'x'.repeat(40) },
      { 'x-paybell-console': '1', origin: operatorUrl },
    )
  const statuses: number[] = []
  // With a count of its own, the operator's port would check each of these nine: ten may fail there. Several,
  // because on a slow machine an address may be allowed one more failure between the two.
  while (statuses.length < 9 && !statuses.includes(429)) {
    await Promise.all(Array.from({ length: 80 }, guess))
    statuses.push((await signIn()).status)
  }
  assert.ok(statuses.includes(429), statuses.join(' '))
})
