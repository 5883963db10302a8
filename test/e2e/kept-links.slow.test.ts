// Bodies that carry a link keep their bytes, whatever becomes of the service's address (invariant 5), and so does what
// a receipt says of them.

import assert from 'node:assert/strict'
import { createHash, randomUUID } from 'node:crypto'
import { test } from 'node:test'
import type { Caller } from '../support/caller.ts'
import { startPaybell, until } from '../support/paybell.ts'
import { startReceiver } from '../support/receiver.ts'

async function untilIs(caller: Caller, id: string, state: string, attempts: number) {
  await until(`${state} after attempt ${attempts}`, async () => {
    const detail = (await (await caller.get(`/v1/deliveries/${id}`)).json()) as {
      state: string
      attempts: number
    }
    return detail.state === state && detail.attempts === attempts
  })
}

const receiptOf = async (caller: Caller, id: string) => {
  const jws = await (await caller.get(`/v1/deliveries/${id}/receipt`)).text()
  return JSON.parse(Buffer.from(jws.split('.')[1] ?? '', 'base64url').toString())
}

test('regression: retries, replays, receipts and links outlive a change of the address', async (t) => {
  const receiver = await startReceiver(t)
  const first = await startPaybell(t)
  receiver.answer = () => 503
  const settings = { document: 'link' }
  await first.caller.register(receiver.url(), 'a shared key', settings)
  const paymentId = randomUUID()
  await first.caller.putSample(paymentId, { version: undefined })
  const listed = await first.caller.get(`/v1/deliveries?paymentId=${paymentId}`)
  const { id } = ((await listed.json()) as { items: [{ id: string }] }).items[0]
  await untilIs(first.caller, id, 'PENDING', 1)
  const sent = receiver.received[0]?.body as Buffer
  await first.stop()

  // Without a setting, its address is its port.
  const { caller, baseUrl } = await startPaybell(t, { beside: first })
  assert.notEqual(baseUrl, first.baseUrl)
  receiver.answer = () => 200
  const act = async (verb: string) =>
    assert.equal((await caller.call('POST', `/v1/deliveries/${id}/${verb}`)).status, 202)
  await act('retry')
  await untilIs(caller, id, 'DELIVERED', 2)
  const digest = createHash('sha256').update(sent).digest('hex')
  assert.equal((await receiptOf(caller, id)).bodySha256, digest)
  await act('replay')
  await untilIs(caller, id, 'DELIVERED', 3)
  assert.equal((await receiptOf(caller, id)).bodySha256, digest)
  for (const { body } of receiver.received) assert.deepEqual(body, sent)
  const shown = await caller.get(`/v1/deliveries/${id}/body`)
  assert.deepEqual(Buffer.from(await shown.arrayBuffer()), sent)
  const { url } = JSON.parse(sent.toString()).document
  assert.equal((await fetch(baseUrl + new URL(url).pathname)).status, 200)
})

test('what the version before has sent with a link has no receipt, because its bytes were not kept', async (t) => {
  const receiver = await startReceiver(t)
  const { caller, pool } = await startPaybell(t)
  await caller.register(receiver.url(), 'a shared key', { document: 'link' })
  const paymentId = randomUUID()
  await caller.putSample(paymentId, { version: undefined })
  const listed = await caller.get(`/v1/deliveries?paymentId=${paymentId}`)
  const { id } = ((await listed.json()) as { items: [{ id: string }] }).items[0]
  await untilIs(caller, id, 'DELIVERED', 1)
  await pool.query('delete from document_links')
  const answer = await caller.get(`/v1/deliveries/${id}/receipt`)
  assert.deepEqual(
    [answer.status, ((await answer.json()) as { code: string }).code],
    [409, 'no-receipt'],
  )
})
