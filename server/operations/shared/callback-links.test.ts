// A link is made once: other addresses and other master keys change nothing of it, and it leads to the file.

import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { cloneDatabase } from '../../../test/support/database.ts'
import { addEndpoint, putPayment } from '../../../test/support/injected-calls.ts'
import { onboard, serveHttp } from '../../../test/support/injected-server.ts'
import { sampleBody } from '../../../test/support/payment-sample.ts'
import { deleteOldDocumentLinks } from '../../store/payments/document-links.ts'
import { Sealer } from '../../store/secrets/sealing.ts'
import { CallbackLinks } from './callback-links.ts'

const { pool } = await cloneDatabase()
const OLD = randomBytes(32)
const YOUNG = randomBytes(32)
const linksOf = (keys: readonly Buffer[], base: string) =>
  new CallbackLinks(pool, new Sealer(keys), () => base)

const keyOf = (clientKey = 1) => ({ clientKey, eventId: randomUUID(), endpointId: randomUUID() })

test('the first one made is the one, whatever the address and the master keys are by then', async () => {
  const key = keyOf()
  const before = linksOf([OLD], 'https://old.example')
  const after = linksOf([YOUNG], 'https://new.example')
  assert.equal(await after.find(key), null)
  const shown = await after.toShow(key)
  assert.match(shown, /^https:\/\/new\.example\/documents\//)
  assert.equal(await after.find(key), null, 'to show one keeps none')
  const sent = await before.toSend(key)
  assert.match(sent, /^https:\/\/old\.example\/documents\//)
  for (const links of [before, after]) {
    assert.deepEqual(
      [await links.toSend(key), await links.toShow(key), await links.find(key)],
      [sent, sent, sent],
    )
  }
})

test('those who make one at the same moment agree, and nobody gets another’s', async () => {
  const keys = Array.from({ length: 50 }, (_, at) => keyOf(at))
  const processes = ['one', 'two', 'three'].map((name) => linksOf([OLD], `https://${name}.example`))
  const made = await Promise.all(
    processes.map((links) => Promise.all(keys.map((key) => links.toSend(key)))),
  )
  assert.deepEqual(made[1], made[0])
  assert.deepEqual(made[2], made[0])
  for (const [at, { eventId }] of keys.entries()) assert.ok(made[0]?.[at]?.includes(eventId))
})

test('before the service knows its address there is none', async () => {
  await assert.rejects(linksOf([OLD], '').toSend(keyOf()), /not known yet/)
})

test('they go with the events of their time', async () => {
  const key = { ...keyOf(), eventId: '01900000-0000-7000-8000-000000000001' }
  const links = linksOf([OLD], 'https://old.example')
  const younger = { ...keyOf(), eventId: 'ff900000-0000-7000-8000-000000000001' }
  const kept = await links.toSend(younger)
  await links.toSend(key)
  await deleteOldDocumentLinks(pool, new Date('2025-01-01'), 1_000)
  assert.deepEqual([await links.find(key), await links.find(younger)], [null, kept])
})

test('regression: a link outlives the master key that made it', async (t) => {
  const before = await serveHttp(t, pool, { sealer: new Sealer([OLD]) })
  const client = await onboard(before)
  await addEndpoint(before, client, { document: 'link' })
  const id = randomUUID()
  const put = await putPayment(before, client.accountId, id, sampleBody({ id, version: undefined }))
  assert.ok(put.statusCode < 300, put.body)
  const { rows } = await pool.query(
    `select client_key as "clientKey", event_id as "eventId", endpoint_id as "endpointId"
     from pending_deliveries where payment_id = $1`,
    [id],
  )
  const url = await before.deps.callbackLinks.toSend(rows[0])
  const path = new URL(url).pathname
  const after = await serveHttp(t, pool, { sealer: new Sealer([YOUNG]) })
  for (const { app } of [before, after]) assert.equal((await app.inject(path)).statusCode, 200)
  const altered = path.slice(0, -1) + (path.endsWith('A') ? 'B' : 'A')
  for (const { app } of [before, after]) assert.equal((await app.inject(altered)).statusCode, 404)
  const strangers = path.replace(rows[0].eventId, randomUUID())
  for (const { app } of [before, after]) assert.equal((await app.inject(strangers)).statusCode, 404)
})
