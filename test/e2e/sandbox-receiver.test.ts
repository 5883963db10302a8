// The receiver inside the sandbox: real callbacks of the service to itself.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cloneDatabase } from '../support/database.ts'
import { serveHttp } from '../support/injected-server.ts'
import { startPaybell, until, untilAllAre } from '../support/paybell.ts'

interface View {
  script: number[]
  count: number
  received: {
    status: number
    headers: Record<string, string>
    body: string
    bodyBytes: number
    signatureValid: boolean | null
  }[]
}

const asOperator = (key: string, body?: unknown) => ({
  headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
  ...(body === undefined ? {} : { body: JSON.stringify(body) }),
})

test('a receiver answers by its script, and tells what came and whether it was signed', async (t) => {
  const paybell = await startPaybell(t, { env: { PAYBELL_TIME_SCALE: '1000' } })
  const url = `${paybell.baseUrl}/sandbox/receiver/shop`
  const { operatorKey } = paybell
  const put = await fetch(url, {
    method: 'PUT',
    ...asOperator(operatorKey, { script: [500, 302, 200], sharedKey: 'key', redirectTo: url }),
  })
  assert.equal(put.status, 200)
  assert.equal((await paybell.caller.register(url, 'key')).status, 200)
  const id = await paybell.caller.pay()
  await untilAllAre(paybell.pool, ['DELIVERED'])

  const view = (await (await fetch(url, asOperator(operatorKey))).json()) as View
  assert.equal(view.count, 3)
  assert.deepEqual(
    view.received.map(({ status }) => status),
    [200, 302, 500],
  )
  assert.ok(view.received.every(({ signatureValid }) => signatureValid === true))
  const [last] = view.received
  assert.equal(last?.headers['x-paybell-attempt'], '3')
  assert.equal(last?.headers['x-paybell-event'], 'payment.created')
  assert.equal(JSON.parse(last?.body ?? '').id, id)
  assert.doesNotMatch(JSON.stringify(view), /"key"/)

  // Breaking it does not need the key.
  await fetch(url, { method: 'PUT', ...asOperator(operatorKey, { script: [200] }) })
  await paybell.caller.putSample(id, { version: 18, reference: 'Another' })
  const later = await until('the second event', async () => {
    const seen = (await (await fetch(url, asOperator(operatorKey))).json()) as View
    return seen.count === 4 && seen
  })
  assert.equal(later.received[0]?.signatureValid, true)

  // It takes any POST, without credentials.
  const posted = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'text/plain' },
    body: 'hello',
  })
  assert.equal(posted.status, 200)
  assert.equal((await fetch(url, { method: 'POST' })).status, 200)
  const after = (await (await fetch(url, asOperator(operatorKey))).json()) as View
  assert.deepEqual(
    after.received.slice(0, 2).map(({ body, signatureValid }) => [body, signatureValid]),
    [
      ['', false],
      ['hello', false],
    ],
  )

  const slow = { script: [503], delayMs: 150, body: 'not now' }
  await fetch(url, { method: 'PUT', ...asOperator(operatorKey, slow) })
  const startedAt = performance.now()
  const answer = await fetch(url, { method: 'POST', body: '{}' })
  assert.ok(performance.now() - startedAt >= 140)
  assert.deepEqual([answer.status, await answer.text()], [503, 'not now'])

  assert.equal((await fetch(url, { method: 'DELETE', ...asOperator(operatorKey) })).status, 204)
  assert.equal(((await (await fetch(url, asOperator(operatorKey))).json()) as View).count, 0)

  for (const wrong of [
    { script: [] },
    { script: [99] },
    { delayMs: -1 },
    { redirectTo: 'a\nb' },
    [],
  ]) {
    const refused = await fetch(url, { method: 'PUT', ...asOperator(operatorKey, wrong) })
    assert.equal(refused.status, 400, JSON.stringify(wrong))
  }
  assert.equal((await fetch(url)).status, 401)
  assert.equal((await fetch(url, { method: 'PUT' })).status, 401)
  const unknown = `${paybell.baseUrl}/sandbox/receiver/a%20b`
  assert.equal((await fetch(unknown, { method: 'POST' })).status, 404)
})

test('production has no such address', async (t) => {
  const { pool } = await cloneDatabase()
  const { app } = await serveHttp(t, pool, { mode: 'production' })
  for (const method of ['POST', 'GET', 'PUT'] as const) {
    const { statusCode } = await app.inject({ method, url: '/sandbox/receiver/demo' })
    assert.equal(statusCode, 404, method)
  }
})
