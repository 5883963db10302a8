// A process that is asked to stop is gone within what docs/operations.md promises, at the end of its very first run, too, and
// although its database has gone silent with attempts that were not recorded.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { test } from 'node:test'
import { limitOf } from '../support/busy-machine.ts'
import { Caller } from '../support/caller.ts'
import { cloneDatabase } from '../support/database.ts'
import { startTcpProxy } from '../support/database-proxy.ts'
import type { Owner } from '../support/owner.ts'
import { sampleBody } from '../support/payment-sample.ts'
import { makeDataDir } from '../support/sandbox.ts'
import { SERVED_OPERATOR_KEY, startServe, untilServed } from '../support/served.ts'
import { until } from '../support/until.ts'

/** Beside PAYBELL_DRAIN_SECONDS, which is 0 here. */
const PROMISED_MS = 20_000

/** Takes connections and says nothing. */
async function startSilentReceiver(t: Owner) {
  let taken = 0
  const server = createServer((socket) => {
    taken++
    socket.on('error', () => {})
    t.after(() => void socket.destroy())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => void server.close())
  return { port: (server.address() as AddressInfo).port, taken: () => taken }
}

async function countFiles(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).length
}

test('regression: what was compiled is kept at the start, and not in the time that a stop has', async (t) => {
  const { url } = await cloneDatabase()
  const cache = await makeDataDir(t)
  const served = startServe(t, { url }, { NODE_COMPILE_CACHE: cache })
  await untilServed(served)
  const atStart = await countFiles(cache)
  served.process.kill('SIGTERM')
  assert.equal((await served.ended).code, 0)
  const atEnd = await countFiles(cache)
  // What is loaded for the first request, or for the stop, comes later.
  assert.ok(atStart > 500 && atStart > 0.8 * atEnd, `${atStart} of ${atEnd} files`)
})

test('beside a silent database, with attempts that cannot be recorded, a first run ends within its time', async (t) => {
  const database = await cloneDatabase()
  const proxy = await startTcpProxy(t, database.url)
  const served = startServe(
    t,
    { url: proxy.url },
    { NODE_COMPILE_CACHE: await makeDataDir(t), PAYBELL_ALLOWED_NETWORKS: '127.0.0.0/8' },
  )
  const baseUrl = await untilServed(served)
  const operatorKey = SERVED_OPERATOR_KEY
  const operate = async (path: string) => {
    const answer = await fetch(`${baseUrl}/operator/v1${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${operatorKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'Northwind' }),
    })
    return (await answer.json()) as Record<string, string>
  }
  const { clientId = '', clientSecret = '' } = await operate('/clients')
  const { id: accountId = '' } = await operate(`/clients/${clientId}/accounts`)
  const caller = new Caller({ baseUrl, operatorKey, clientId, clientSecret, accountId })
  const receiver = await startSilentReceiver(t)
  const key = 'a shared key of some length'
  await caller.addWebhook(`https://127.0.0.1:${receiver.port}/`, key)
  const id = randomUUID()
  assert.equal((await caller.putPayment(id, sampleBody({ id, version: undefined }))).status, 201)
  await until('an attempt is under way', () => receiver.taken() > 0)
  proxy.isSilent = true

  const beganAtMs = performance.now()
  served.process.kill('SIGTERM')
  const { code, stdout } = await served.ended
  const tookMs = performance.now() - beganAtMs
  assert.match(stdout, /"unrecorded":[1-9]\d*,"msg":"paybell\.cut-off"/)
  assert.equal(code, 1)
  assert.ok(tookMs < limitOf(PROMISED_MS), `${tookMs} ms`)
})
