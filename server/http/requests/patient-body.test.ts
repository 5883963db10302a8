// Bodies that are read at our own pace: the sender's silence counts, not the total time.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { PassThrough } from 'node:stream'
import test from 'node:test'
import { cloneDatabase } from '../../../test/support/database.ts'
import { OPERATOR_KEY, serveHttp } from '../../../test/support/injected-server.ts'
import { sampleBody } from '../../../test/support/payment-sample.ts'
import { ServiceError } from '../../core/plain/errors.ts'
import { unknownAccount } from '../../operations/accepting/record-payments.ts'
import { readPatiently } from './patient-body.ts'

const { pool } = await cloneDatabase()

function isTimeout(error: unknown): boolean {
  return error instanceof ServiceError && error.code === 'request-timeout'
}

test('a sender that is silent for 30 seconds while it is waited for is given up', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const body = new PassThrough()
  const chunks = readPatiently(body)
  body.write('one')
  assert.equal(String((await chunks.next()).value), 'one')
  const next = chunks.next()
  t.mock.timers.tick(29_999)
  body.write('two')
  assert.equal(String((await next).value), 'two')
  const last = assert.rejects(chunks.next(), isTimeout)
  t.mock.timers.tick(30_000)
  await last
})

test('time that we ourselves take does not count', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const body = new PassThrough()
  const chunks = readPatiently(body)
  body.write('one')
  await chunks.next()
  t.mock.timers.tick(3_600_000)
  body.end('two')
  assert.equal(String((await chunks.next()).value), 'two')
  t.mock.timers.tick(3_600_000)
  assert.equal((await chunks.next()).done, true)
})

test('regression: a batch that takes longer than the time for a request is answered', async (t) => {
  const { app } = await serveHttp(t, pool, {
    gatherer: { enter: (_, line) => line.refused(unknownAccount()) },
  })
  app.server.headersTimeout = 100
  app.server.requestTimeout = 200
  await app.listen({ host: '127.0.0.1', port: 0 })
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
  t.after(() => socket.destroy())
  const line = `${JSON.stringify({ ...JSON.parse(String(sampleBody())), accountId: randomUUID() })}\n`
  const timedOut = once(app.server, 'clientError')
  socket.write(
    [
      'POST /operator/v1/payments/batch HTTP/1.1',
      'Host: a',
      `Authorization: Bearer ${OPERATOR_KEY}`,
      'Content-Type: application/x-ndjson',
      `Content-Length: ${2 * line.length}`,
      'Connection: close',
      '',
      line,
    ].join('\r\n'),
  )
  // Node has checked, and found that the time for a request is over.
  await timedOut
  socket.write(line)
  const text = String(Buffer.concat(await socket.toArray()))
  assert.match(text, /^HTTP\/1\.1 200 /)
  assert.equal(text.match(/"code":"unknown-account"/g)?.length, 2)
})
