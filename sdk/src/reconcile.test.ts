// A receiver that loses, doubles or forges ids is found, with the right ids; and what Paybell signs is told from what
// it does not.

import assert from 'node:assert/strict'
import { generateKeyPairSync, randomUUID, sign } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { digestOfIds } from '../../server/core/ids-digest.ts'
import { uuidFloor } from '../../server/core/uuid.ts'
import { createClient } from './client.ts'
import { PaybellError } from './errors.ts'
import { hourOf, receivedFromIds } from './ids-digest.ts'
import { createReceiver } from './receiver.ts'
import { type ReconcileOptions, reconcile } from './reconcile.ts'
import { createMemorySeen } from './seen.ts'
import { signForTest } from './sign-for-test.ts'
import { verifyReceipt, verifyStatement } from './signed.ts'
import type { Delivery, Statement } from './types.ts'

const HOUR_MS = 3_600_000
const FROM = Date.UTC(2026, 2, 2)
const HOURS = 6
const WINDOW = { from: new Date(FROM), to: new Date(FROM + HOURS * HOUR_MS) }

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

/** The same bytes in another spelling: the last letter of base64 has bits that count for nothing. */
function respelled(text: string): string {
  return text.slice(0, -1) + LETTERS[LETTERS.indexOf(text.at(-1) as string) ^ 1]
}

let counter = 0
/** A UUIDv7 of a moment. */
function idAt(ms: number): string {
  const tail = String(counter++).padStart(12, '0')
  return `${uuidFloor(ms).slice(0, 14)}7000-8000-${tail}`
}

type Made = Pick<Delivery, 'id' | 'eventId' | 'state'>

/** A service that has these deliveries, and notes what is asked of it. */
function serviceWith(deliveries: readonly Made[]) {
  const asked = { lists: 0, replayed: [] as string[], recovered: 0 }
  const counted = (of: readonly Made[]) => {
    const ids = of.filter(({ state }) => state === 'DELIVERED').map(({ eventId }) => eventId)
    const exhausted = of.filter(({ state }) => state === 'EXHAUSTED').length
    return { delivered: ids.length, exhausted, idsDigest: digestOfIds(ids), isFinal: true }
  }
  const hours = Array.from({ length: HOURS }, (_, at) => {
    const from = new Date(FROM + at * HOUR_MS).toISOString()
    return { from, ...counted(deliveries.filter(({ eventId }) => hourOf(eventId) === from)) }
  })
  const client = {
    webhooks: {
      statement: async () => ({ ...counted(deliveries), hours }) as unknown as Statement,
      recover: async () => {
        asked.recovered++
        return { replayed: deliveries.filter(({ state }) => state === 'EXHAUSTED').length }
      },
    },
    deliveries: {
      async *all({ from, to }: { from: string; to: Date }) {
        asked.lists++
        for (const one of deliveries) {
          const ms = Number.parseInt(one.eventId.slice(0, 8) + one.eventId.slice(9, 13), 16)
          if (ms >= Date.parse(from) && ms < to.getTime()) yield one
        }
      },
      replay: async (id: string) => void asked.replayed.push(id),
    },
  }
  return { asked, client: client as unknown as ReconcileOptions['client'] }
}

const deliveryAt = (ms: number, state: Made['state'] = 'DELIVERED'): Made => ({
  id: randomUUID(),
  eventId: idAt(ms),
  state,
})

test('where nothing differs, one call is enough', async () => {
  const deliveries = [deliveryAt(FROM), deliveryAt(FROM + 3 * HOUR_MS), deliveryAt(FROM + 5)]
  const { asked, client } = serviceWith(deliveries)
  const store = await receivedFromIds(deliveries.map(({ eventId }) => eventId))
  const result = await reconcile(store, WINDOW, { client, endpointId: 'e' })
  assert.deepEqual([result.isComplete, result.differences, asked.lists], [true, [], 0])
})

test('regression: what is missing in several hours is sent again in the order in which it happened', async () => {
  const deliveries = [1, 2, HOUR_MS, HOUR_MS + 1, 3 * HOUR_MS].map((ms) => deliveryAt(FROM + ms))
  // The service lists the newest first.
  const { asked, client } = serviceWith(deliveries.toReversed())
  const store = await receivedFromIds([])
  await reconcile(store, WINDOW, { client, endpointId: 'e', recover: true })
  assert.deepEqual(
    asked.replayed,
    deliveries.map(({ id }) => id),
  )
})

test('regression: of a subscription the events of all accounts are compared, whatever account the client is set to', async () => {
  const delivery = deliveryAt(FROM)
  const { client: service } = serviceWith([delivery])
  const statement = await service.webhooks.statement('e', WINDOW)
  const asked: string[] = []
  const client = createClient({
    baseUrl: 'https://paybell.example',
    clientId: randomUUID(),
    clientSecret: 's',
    accountId: 'one-of-two',
    fetch: async (input, init) => {
      const { pathname } = new URL(String(input))
      const account = new Headers(init?.headers).get('accountid')
      asked.push(`${pathname.split('/').at(-1)} ${account ?? 'all'}`)
      if (pathname === '/auth/token') return Response.json({ access_token: 'a', expires_in: 60 })
      if (pathname.endsWith('/statement')) return Response.json(statement)
      return Response.json({ items: [delivery], next: null })
    },
  })
  const options = { client, endpointId: 'e', kind: 'subscriptions', recover: true } as const
  const { recovered } = await reconcile(await receivedFromIds([]), WINDOW, options)
  assert.equal(recovered, 1)
  assert.deepEqual(asked, ['token all', 'statement all', 'deliveries all', 'replay all'])
})

test('regression: a store that has forgotten ids does not have all of them sent again', async () => {
  const deliveries = [1, 2, 3, 4].map((ms) => deliveryAt(FROM + ms))
  const { asked, client } = serviceWith(deliveries)
  const seen = createMemorySeen({ entriesMax: 2 })
  for (const { eventId } of deliveries.slice(1)) {
    await seen.settle({ id: eventId, paymentId: eventId, sequence: 1 })
  }
  await assert.rejects(
    reconcile(seen, WINDOW, { client, endpointId: 'e', recover: true }),
    (error: PaybellError) =>
      error.code === 'ids-forgotten' && /counted 3 .* lists 2/.test(error.message),
  )
  assert.deepEqual(asked.replayed, [])
})

test('whatever a receiver loses, doubles, forges or has without a 200 is found, and nothing else', async () => {
  const fate = fc.constantFrom('kept', 'lost', 'doubled', 'kept', 'unconfirmed', 'exhausted')
  const one = fc.record({ ms: fc.integer({ min: 0, max: HOURS * HOUR_MS - 1 }), fate })
  const forged = fc.array(fc.integer({ min: 0, max: HOURS * HOUR_MS - 1 }), { maxLength: 3 })
  await fc.assert(
    fc.asyncProperty(fc.array(one, { maxLength: 30 }), forged, async (made, forgedAt) => {
      const expected = { missing: [], unconfirmed: [], unknown: [], doubled: [] } as Record<
        string,
        string[]
      >
      const received: string[] = []
      const deliveries = made.map(({ ms, fate }) => {
        const isDelivered = fate !== 'unconfirmed' && fate !== 'exhausted'
        const delivery = deliveryAt(FROM + ms, isDelivered ? 'DELIVERED' : 'EXHAUSTED')
        const { eventId } = delivery
        if (fate === 'lost') expected.missing?.push(eventId)
        else if (fate !== 'exhausted') received.push(eventId)
        if (fate === 'doubled') received.push(eventId)
        if (fate === 'doubled') expected.doubled?.push(eventId)
        if (fate === 'unconfirmed') expected.unconfirmed?.push(eventId)
        return delivery
      })
      for (const ms of forgedAt) {
        const id = idAt(FROM + ms)
        received.push(id)
        expected.unknown?.push(id)
      }
      const { asked, client } = serviceWith(deliveries)
      const store = await receivedFromIds(received)
      const result = await reconcile(store, WINDOW, { client, endpointId: 'e', recover: true })
      for (const [name, ids] of Object.entries(expected)) {
        const found = result.differences.flatMap((hour) => hour[name as 'missing'])
        assert.deepEqual(found.toSorted(), ids.toSorted(), name)
      }
      const wrong = new Set(Object.values(expected).flat().map(hourOf))
      assert.equal(asked.lists, wrong.size, 'only hours that differ are listed')
      assert.equal(asked.replayed.length, expected.missing?.length)
      const exhausted = deliveries.filter(({ state }) => state === 'EXHAUSTED').length
      assert.equal(result.recovered, asked.replayed.length + exhausted)
      assert.equal(result.isComplete, wrong.size === 0 && exhausted === 0)
    }),
    { numRuns: 60 },
  )
})

test('the store in memory counts an event once, however often it is settled', async () => {
  const seen = createMemorySeen()
  const ids = [idAt(FROM), idAt(FROM + HOUR_MS), idAt(FROM + HOUR_MS)]
  for (const id of [...ids, ...ids]) {
    const event = { id, paymentId: id, sequence: 1 }
    await seen.claim(event)
    await seen.settle(event)
  }
  await seen.claim({ id: idAt(FROM), paymentId: 'busy', sequence: 1 })
  const hours = await seen.hours(WINDOW)
  assert.deepEqual(
    hours.map(({ received, idsDigest }) => [received, idsDigest]),
    [
      [1, digestOfIds(ids.slice(0, 1))],
      [2, digestOfIds(ids.slice(1))],
    ],
  )
  assert.deepEqual(await seen.ids(WINDOW), ids)
  assert.deepEqual(await seen.hours({ from: new Date(0), to: WINDOW.from }), [])
})

test('an update that came too late to be handled is counted too: it was answered with 200', async () => {
  const seen = createMemorySeen()
  const sharedKey = 'a-long-random-text-that-only-we-two-know'
  let handled = 0
  const receiver = createReceiver({ sharedKey, seen, onPayment: () => void handled++ })
  const ids = [idAt(FROM), idAt(FROM)]
  for (const [at, id] of ids.entries()) {
    const payment = { id: 'the same' }
    const { toRequest } = await signForTest({ sharedKey, id, payment, sequence: 2 - at })
    for (let times = 0; times < 2; times++) assert.equal((await receiver(toRequest())).status, 200)
  }
  const [hour] = await seen.hours(WINDOW)
  assert.equal(handled, 1)
  assert.deepEqual([hour?.received, hour?.idsDigest], [2, digestOfIds(ids)])
})

test('only what a key of the set has signed is genuine, and only as its kind', async () => {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const x = publicKey.export({ format: 'jwk' }).x as string
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const signed = (typ: string, claims: unknown, kid = 'k') => {
    const content = `${encode({ alg: 'EdDSA', typ, kid })}.${encode(claims)}`
    return `${content}.${sign(null, Buffer.from(content), privateKey).toString('base64url')}`
  }
  const keys = { keys: [], retired: [{ kid: 'k', x }] }
  const receipt = signed('paybell-receipt+jws', { status: 200 })
  assert.deepEqual(await verifyReceipt(receipt, keys), { status: 200 })
  assert.deepEqual(await verifyReceipt(`${receipt}\n`, keys), { status: 200 })
  const [head, , tail] = receipt.split('.')
  const bad = [
    '',
    'a.b.c',
    `${receipt}.x`,
    `${head}.${encode({ status: 201 })}.${tail}`,
    `${head}.${encode({ status: 200 })}.`,
    respelled(receipt),
    signed('paybell-statement+jws', { status: 200 }),
    signed('paybell-receipt+jws', { status: 200 }, 'another'),
    `${encode(null)}.${encode({})}.${tail}`,
    `${encode({ alg: 'none', typ: 'paybell-receipt+jws', kid: 'k' })}.${encode({})}.`,
  ]
  for (const jws of bad) {
    await assert.rejects(verifyReceipt(jws, keys), (error) => {
      return error instanceof PaybellError && error.code === 'not-genuine'
    })
  }
  await assert.rejects(verifyStatement(receipt, keys), { code: 'not-genuine' })
})
