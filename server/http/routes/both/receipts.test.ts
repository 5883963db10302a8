// Which attempt a receipt tells of, and that there is one for everything that counts as delivered (decisions §14.5).

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, test } from 'node:test'
import { startPaybell, until } from '../../../../test/support/paybell.ts'
import { startReceiver } from '../../../../test/support/receiver.ts'
import { HOUR_MS, hourStartMs } from '../../../core/proofs/statement.ts'

const paybell = await startPaybell({ after })
const receiver = await startReceiver({ after })
const { caller, pool } = paybell

interface Detail {
  id: string
  state: string
  attempts: number
  attemptLog: { attempt: number; at: string; durationMs: number; status: number | null }[]
}

interface Receipt {
  attempt: number
  sentAt: string
  answeredAt: string
  status: number
  bodySha256: string
  endpointUrl: string
}

function register(path: string, settings: object = {}): Promise<string> {
  return caller.addWebhook(receiver.url(path), 'a shared key', settings)
}

async function deliver(endpointId: string): Promise<string> {
  const id = await caller.pay({ version: undefined })
  const answer = await caller.get(`/v1/deliveries?paymentId=${id}&endpointId=${endpointId}`)
  return ((await answer.json()) as { items: [{ id: string }] }).items[0].id
}

const detailOf = async (id: string) =>
  (await (await caller.get(`/v1/deliveries/${id}`)).json()) as Detail

const untilIs = (id: string, state: string, attempts: number) =>
  until(`${state} after attempt ${attempts}`, async () => {
    const detail = await detailOf(id)
    return detail.state === state && detail.attempts === attempts && detail
  })

async function receiptOf(id: string): Promise<Receipt> {
  const answer = await caller.get(`/v1/deliveries/${id}/receipt`)
  const text = await answer.text()
  assert.equal(answer.status, 200, text)
  return JSON.parse(Buffer.from(text.split('.')[1] ?? '', 'base64url').toString())
}

async function deliveredOf(endpointId: string): Promise<number> {
  const toMs = hourStartMs(Date.now()) + HOUR_MS
  const text = (ms: number) => new Date(ms).toISOString()
  const answer = await caller.get(
    `/v1/webhooks/${endpointId}/statement?from=${text(toMs - 2 * HOUR_MS)}&to=${text(toMs)}`,
  )
  return ((await answer.json()) as { delivered: number }).delivered
}

const act = async (path: string) => assert.equal((await caller.call('POST', path)).status, 202)

test('regression: a receipt after a retry tells of the attempt that was answered with 200, to the millisecond', async () => {
  const endpointId = await register('/retried')
  receiver.answer = () => 503
  const id = await deliver(endpointId)
  await untilIs(id, 'PENDING', 1)
  receiver.answer = () => 200
  await act(`/v1/deliveries/${id}/retry`)
  await untilIs(id, 'DELIVERED', 2)
  // A duration that no test machine makes by chance.
  await pool.query('update final_deliveries set duration_ms = 12345 where id = $1', [id])
  const [first, second] = (await detailOf(id)).attemptLog
  const receipt = await receiptOf(id)
  assert.deepEqual([first?.status, second?.status], [503, 200])
  assert.deepEqual([receipt.attempt, receipt.status], [2, 200])
  assert.equal(receipt.sentAt, second?.at)
  assert.equal(Date.parse(receipt.answeredAt) - Date.parse(receipt.sentAt), 12_345)
})

test('regression: a replay in vain takes no receipt away, neither while it is owed nor when it has ended', async () => {
  const endpointId = await register('/replayed')
  receiver.answer = () => 200
  const id = await deliver(endpointId)
  await untilIs(id, 'DELIVERED', 1)
  const before = await receiptOf(id)
  receiver.answer = () => 503
  await act(`/v1/deliveries/${id}/replay`)
  await untilIs(id, 'PENDING', 2)
  assert.deepEqual(await receiptOf(id), before)
  assert.equal(await deliveredOf(endpointId), 1)
  const cancelled = await caller.operate('POST', `/deliveries/${id}/cancel`)
  assert.ok(cancelled.ok)
  await untilIs(id, 'CANCELLED', 2)
  assert.deepEqual(await receiptOf(id), before)
  assert.equal(await deliveredOf(endpointId), 1)
  // One that succeeds is the newer word.
  receiver.answer = () => 200
  await act(`/v1/deliveries/${id}/replay`)
  await untilIs(id, 'DELIVERED', 3)
  assert.equal((await receiptOf(id)).attempt, 3)
})

test('what was cancelled without a 200 has none', async () => {
  const endpointId = await register('/never')
  receiver.answer = () => 500
  const id = await deliver(endpointId)
  await untilIs(id, 'PENDING', 1)
  assert.equal((await caller.get(`/v1/deliveries/${id}/receipt`)).status, 409)
})

test('regression: a receipt names the address that was sent to, also after it was changed', async () => {
  const endpointId = await register('/before')
  receiver.answer = () => 200
  const id = await deliver(endpointId)
  await untilIs(id, 'DELIVERED', 1)
  const before = await receiptOf(id)
  assert.equal(before.endpointUrl, receiver.url('/before'))
  await pool.query('update endpoints set url = $2 where id = $1', [
    endpointId,
    'https://mallory.example.com/',
  ])
  assert.deepEqual(await receiptOf(id), before)
})

for (const document of ['inline', 'link', 'none']) {
  test(`the digest is that of the bytes that arrived, with a document that is ${document}`, async () => {
    const endpointId = await register(`/${document}`, { document })
    receiver.answer = () => 200
    const id = await deliver(endpointId)
    await untilIs(id, 'DELIVERED', 1)
    const sent = receiver.received.findLast(({ path }) => path === `/${document}`)
    const digest = createHash('sha256')
      .update(sent?.body ?? '')
      .digest('hex')
    assert.equal((await receiptOf(id)).bodySha256, digest)
    await caller.changeWebhook(endpointId, { document: 'inline' })
    assert.equal((await receiptOf(id)).bodySha256, digest)
  })
}
