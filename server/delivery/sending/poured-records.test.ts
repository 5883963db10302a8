// What a receiver may send after its handshake that is no answer: session tickets and key updates cost CPU, and no reader of
// answers sees them.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import {
  KEY_UPDATE,
  startPouring,
  TICKET,
  TICKETS,
} from '../../../test/adversary/pouring-receiver.ts'
import { issue } from '../../../test/support/issue-certificate.ts'
import { isTooLong, longestHoldMs } from '../../../test/support/longest-hold.ts'
import { until } from '../../../test/support/until.ts'
import { CallbackClient } from './callback-client.ts'

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'
const root = issue({ subject: 'CN=root', isAuthority: true })
const own = issue({ subject: 'CN=receiver', by: root, addresses: ['127.0.0.1'] })
const TLS = { key: own.keyPem, cert: own.pem }

function startClient(t: TestContext) {
  const client = new CallbackClient({
    policy: { loopbackAllowed: true, allowedNetworks: [] },
    extraCa: root.pem,
    ...{ connectTimeoutMs: 60_000, deadlineMs: 120_000 },
  })
  t.after(() => client.close())
  const send = async (port: number) => {
    const url = `https://127.0.0.1:${port}/`
    const { outcome } = await client.send({
      url,
      clientKey: 1,
      headers: [],
      body: [Buffer.from('{}')],
    })
    return outcome.kind === 'answered' ? outcome.status : outcome.reason
  }
  return { client, send }
}

const FLOODS = [
  ['tickets', TICKETS, 64],
  ['key updates', KEY_UPDATE, 2_500],
] as const

for (const [name, content, records] of FLOODS) {
  test(`regression: ${name} in place of an answer end the connection`, async (t) => {
    const flood = { content, records, answer: OK, isAfter: false }
    const { port } = await startPouring(t, TLS, flood)
    const { send } = startClient(t)
    assert.equal(await send(port), 'tls-too-costly')
  })

  test(`regression: ${name} after an answer end the connection that was kept`, async (t) => {
    const flood = { content, records, answer: OK, isAfter: true }
    const { port } = await startPouring(t, TLS, flood)
    const { client, send } = startClient(t)
    assert.equal(await send(port), 200)
    await until('the connection has ended', () => client.socketCount === 0)
  })
}

test('regression: a megabyte of tickets does not hold the loop', async (t) => {
  const { send } = startClient(t)
  const flood = { content: TICKETS, records: 64, answer: OK, isAfter: false }
  const holdMs = await longestHoldMs(async () => {
    const { port } = await startPouring(t, TLS, flood)
    await send(port)
  })
  assert.ok(!isTooLong(holdMs), `${holdMs} ms`)
})

test('a few tickets and key updates before an answer are nothing unusual', async (t) => {
  for (const [content, records] of [
    [TICKET, 10],
    [KEY_UPDATE, 100],
  ] as const) {
    const { send } = startClient(t)
    const flood = { content, records, answer: OK, isAfter: false }
    const { port } = await startPouring(t, TLS, flood)
    assert.equal(await send(port), 200)
  }
})
