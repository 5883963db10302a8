// A callback forwarded to a real receiver, good and bad.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  answering,
  OK,
  readCertificate,
  startRawReceiver,
} from '../../test/support/raw-receiver.ts'
import { startReceiver } from '../../test/support/receiver.ts'
import { forward } from './forward.ts'

const HEADERS = [
  ['content-type', 'application/json'],
  ['X-Paybell-Hmac', 'abc'],
] as const
const BODY = Buffer.from('{"name":"Zoë"}')
const OPTIONS = { timeoutMs: 60_000, skipVerify: false }

test('bytes and headers arrive as they are, and the answer comes back', async (t) => {
  const receiver = await startReceiver(t)
  receiver.answer = (_received, response) => {
    response.writeHead(503, { 'retry-after': '7' }).end('x'.repeat(10_000))
    return undefined
  }
  const answer = await forward(new URL(receiver.url('/a?b=c')), HEADERS, [BODY], OPTIONS)
  assert.ok(answer.status === 503)
  assert.deepEqual([answer.retryAfter, answer.body.length], ['7', 4_096])
  const [received] = receiver.received
  assert.equal(received?.path, '/a?b=c')
  assert.deepEqual(received?.body, BODY)
  assert.equal(received?.headers['content-length'], String(BODY.length))
  assert.ok(received?.rawHeaders.includes('X-Paybell-Hmac'))
})

test('a redirect is an answer, and is not followed', async (t) => {
  const receiver = await startReceiver(t)
  receiver.answer = (_received, response) => {
    response.writeHead(302, { location: '/elsewhere' }).end()
    return undefined
  }
  const answer = await forward(new URL(receiver.url()), HEADERS, [BODY], OPTIONS)
  assert.equal(answer.status, 302)
  assert.equal(receiver.received.length, 1)
})

test('what goes wrong is a value', async (t) => {
  const receiver = await startReceiver(t)
  const errorOf = async (url: URL, timeoutMs = 60_000) =>
    (await forward(url, HEADERS, [BODY], { timeoutMs, skipVerify: false })).error
  receiver.answer = 'reset'
  assert.equal(await errorOf(new URL(receiver.url())), 'connection-reset')
  receiver.answer = 'hang'
  assert.equal(await errorOf(new URL(receiver.url()), 100), 'timeout')
  const raw = await startRawReceiver(t, answering('nonsense\r\n\r\n'))
  assert.equal(await errorOf(new URL(`http://127.0.0.1:${raw.port}/`)), 'protocol-error')
  const gone = new URL(receiver.url())
  await receiver.close()
  assert.equal(await errorOf(gone), 'connect-error')
  assert.equal(await errorOf(new URL('http://nothing.invalid/')), 'dns-error')
})

test('a certificate of one’s own is taken only when asked for', async (t) => {
  const tls = { key: readCertificate('server.key'), cert: readCertificate('self-signed.pem') }
  const { port } = await startRawReceiver(t, answering(OK), { tls })
  const url = new URL(`https://127.0.0.1:${port}/`)
  assert.equal((await forward(url, HEADERS, [BODY], OPTIONS)).error, 'tls-error')
  const answer = await forward(url, HEADERS, [BODY], { ...OPTIONS, skipVerify: true })
  assert.equal(answer.status, 200)
})
