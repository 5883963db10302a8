// `signatures: ["hmac", "ed25519"]`: a real receiver that verifies with the published keys, through a change of keys.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { fetchPublicKeys, verify } from '../../sdk/src/index.ts'
import { rotateWebhookKey } from '../../server/operations/access/webhook-keys.ts'
import { type Paybell, startPaybell } from '../support/paybell.ts'
import { type Received, startReceiver } from '../support/receiver.ts'

const paybell = await startPaybell({ after })
const { caller } = paybell
const address = `${paybell.baseUrl}/.well-known/webhook-keys.json`
const BOTH = ['hmac', 'ed25519']
const KEY = 'a shared key'

async function register(callbackUrl: string, signatures?: readonly string[]): Promise<void> {
  assert.equal((await caller.register(callbackUrl, KEY, signatures && { signatures })).status, 200)
}

const metric = async (name: string): Promise<number> => {
  const text = await (await caller.get('/metrics')).text()
  return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1] ?? assert.fail())
}

test('v1a verifies with the published keys, and an event is signed once for all endpoints of a second', async (t) => {
  const receiver = await startReceiver(t)
  const paths = ['/a', '/b', '/c', '/d']
  for (const path of paths) await register(receiver.url(path), BOTH)
  await register(receiver.url('/plain'))
  await caller.pay()
  await receiver.hasSeen(({ received }) => received.length === 5)
  const publicKeys = fetchPublicKeys(address)
  const entries = new Set<string>()
  const seconds = new Set<unknown>()
  for (const { path, body, headers } of receiver.received) {
    const given = String(headers['webhook-signature']).split(' ')
    if (path === '/plain') {
      assert.equal(given.length, 1)
      assert.equal(headers['x-paybell-key-id'], undefined)
      continue
    }
    await verify(body, headers, null, { publicKeys })
    await verify(body, headers, KEY, { publicKeys, signatures: 'both' })
    entries.add(given[1] as string)
    seconds.add(headers['webhook-timestamp'])
  }
  assert.equal(entries.size, seconds.size)
  assert.equal(await metric('paybell_webhook_signatures_total'), seconds.size)
  for (const path of [...paths, '/plain']) {
    await caller.deleteWebhook(await caller.webhookAt(receiver.url(path)))
  }
})

// Before the keys are rotated: what is shown is computed with those of now.
test('what is shown of a delivery is what was sent, v1a included', async (t) => {
  const receiver = await startReceiver(t)
  await register(receiver.url('/shown'), BOTH)
  await caller.pay()
  await receiver.hasSeen(({ received }) => received.some(({ path }) => path === '/shown'))
  const endpointId = await caller.webhookAt(receiver.url('/shown'))
  const list = (await (await caller.get(`/v1/deliveries?endpointId=${endpointId}`)).json()) as {
    items: { id: string }[]
  }
  const shown = (await (await caller.get(`/v1/deliveries/${list.items[0]?.id}`)).json()) as {
    request: { headers: { name: string; value: string }[] }
  }
  const { headers } = receiver.received.find(({ path }) => path === '/shown') as Received
  for (const name of ['webhook-signature', 'X-Paybell-Key-Id']) {
    const found = shown.request.headers.find((header) => header.name === name)
    assert.equal(found?.value, headers[name.toLowerCase()], name)
  }
})

test('after a change of keys, receivers that hold the old key by hand and those that fetch both go on', async (t) => {
  const receiver = await startReceiver(t)
  await register(receiver.url('/changed'), BOTH)
  const id = await caller.webhookAt(receiver.url('/changed'))
  const publicKeys = fetchPublicKeys(address)
  const testBy = async ({ caller }: Paybell) => {
    const before = receiver.received.length
    const answer = await caller.postToWebhook(id, 'test')
    assert.equal(((await answer.json()) as { delivered: boolean }).delivered, true)
    return receiver.received[before] as Received
  }
  const first = await testBy(paybell)
  await verify(first.body, first.headers, null, { publicKeys })
  const [old] = ((await (await fetch(address)).json()) as { keys: { whpk: `whpk_${string}` }[] })
    .keys

  const kid = await rotateWebhookKey(paybell.app.deps)
  // This process reads keys again within a minute; one that starts now has them.
  const beside = await startPaybell(t, { beside: paybell })
  const { body, headers } = await testBy(beside)
  assert.equal(headers['x-paybell-key-id'], kid)
  assert.equal(String(headers['webhook-signature']).split(' ').length, 3)
  await verify(body, headers, null, { publicKeys: old?.whpk as `whpk_${string}` })
  await verify(body, headers, null, {
    publicKeys: fetchPublicKeys(`${beside.baseUrl}/.well-known/webhook-keys.json`),
  })
})
