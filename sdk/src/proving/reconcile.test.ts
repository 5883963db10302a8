// A receiver that loses, doubles or forges ids is found, with the right ids; and what Paybell signs is told from what
// it does not.

import assert from 'node:assert/strict'
import { generateKeyPairSync, randomUUID, sign } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { uuidFloor } from '../../../server/core/plain/uuid.ts'
import { digestOfIds } from '../../../server/core/proofs/ids-digest.ts'
import { createClient } from '../calling/client.ts'
import { PaybellError } from '../plain/errors.ts'
import { hourOf, receivedFromIds } from '../plain/ids-digest.ts'
import { createReceiver } from '../receiving/receiver.ts'
import { createMemorySeen } from '../receiving/seen.ts'
import { signForTest } from '../receiving/sign-for-test.ts'
import type { Delivery, Statement, StatementHour } from '../wire/types.ts'
import { type ReconcileOptions, reconcile } from './reconcile.ts'
import { verifyReceipt, verifyStatement } from './signed.ts'

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

const ENDPOINT = '019cade2-1350-7af3-913d-2f16aae956b4'
const { publicKey, privateKey } = generateKeyPairSync('ed25519')
const KEYS = { keys: [{ kid: 'k', x: publicKey.export({ format: 'jwk' }).x as string }] }
const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

function signed(typ: string, claims: unknown, { kid = 'k', key = privateKey } = {}): string {
  const content = `${encode({ alg: 'EdDSA', typ, kid })}.${encode(claims)}`
  return `${content}.${sign(null, Buffer.from(content), key).toString('base64url')}`
}

const FATES = ['DELIVERED', 'SUPERSEDED', 'EXHAUSTED', 'CANCELLED', 'PENDING'] as const

function counted(of: readonly Made[]) {
  const fates = FATES.map((fate) => of.filter(({ state }) => state === fate).length)
  const [delivered = 0, superseded = 0, exhausted = 0, cancelled = 0, pending = 0] = fates
  const ids = of.filter(({ state }) => state === 'DELIVERED').map(({ eventId }) => eventId)
  const counts = { delivered, superseded, exhausted, cancelled, pending }
  return { owed: of.length, ...counts, idsDigest: digestOfIds(ids), isFinal: pending === 0 }
}

/** What an honest service signs of these deliveries. */
function claimsOf(deliveries: readonly Made[]): Omit<Statement, 'jws'> {
  const hours = Array.from({ length: HOURS }, (_, at) => {
    const from = new Date(FROM + at * HOUR_MS).toISOString()
    return { from, ...counted(deliveries.filter(({ eventId }) => hourOf(eventId) === from)) }
  })
  const [from, to] = [WINDOW.from.toISOString(), WINDOW.to.toISOString()]
  return { endpointId: ENDPOINT, from, to, ...counted(deliveries), hours }
}

const STATEMENT = 'paybell-statement+jws'

/** A service that has these deliveries, and notes what is asked of it. It may answer with another statement. */
function serviceWith(deliveries: readonly Made[], answer?: unknown) {
  const asked = { lists: 0, replayed: [] as string[], recovered: 0, keys: 0 }
  const claims = claimsOf(deliveries)
  const honest = { ...claims, jws: signed(STATEMENT, claims) }
  const client = {
    call: async () => {
      asked.keys++
      return KEYS
    },
    webhooks: {
      statement: async () => (answer ?? honest) as Statement,
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
  const result = await reconcile(store, WINDOW, { client, endpointId: ENDPOINT, keys: KEYS })
  assert.deepEqual([result.isComplete, result.differences, asked.lists], [true, [], 0])
})

/** Six that an operator has cancelled before they were accepted, as one that is still to come, are not there. */
for (const state of ['CANCELLED', 'EXHAUSTED', 'PENDING'] as const) {
  test(`regression: what is ${state.toLowerCase()} is not complete, although both sides have the same`, async () => {
    const deliveries = [1, 2, 3, 4, 5, 6].map((ms) => deliveryAt(FROM + ms, state))
    const { client } = serviceWith(deliveries)
    const options = { client, endpointId: ENDPOINT, keys: KEYS }
    const result = await reconcile(await receivedFromIds([]), WINDOW, options)
    assert.deepEqual([result.isComplete, result.differences], [false, []])
    const none = { cancelled: 0, exhausted: 0, pending: 0 }
    assert.deepEqual(result.undelivered, { ...none, [state.toLowerCase()]: 6 })
  })
}

test('what a newer update has superseded is complete: the receiver has the newer one', async () => {
  const deliveries = [deliveryAt(FROM + 1, 'SUPERSEDED'), deliveryAt(FROM + 2)]
  const { client } = serviceWith(deliveries)
  const store = await receivedFromIds([deliveries[1]?.eventId as string])
  const { isComplete } = await reconcile(store, WINDOW, {
    client,
    endpointId: ENDPOINT,
    keys: KEYS,
  })
  assert.ok(isComplete)
})

const stranger = generateKeyPairSync('ed25519').privateKey
type Claims = Omit<Statement, 'jws'>
type Lie = (claims: Claims) => unknown
const edit =
  (change: (claims: Claims) => object): Lie =>
  (claims) =>
    signed(STATEMENT, { ...claims, ...change(claims) })
const editHour = (change: object): Lie =>
  edit(({ hours }) => ({ hours: hours.with(1, { ...hours[1], ...change } as StatementHour) }))

/** What a service may put in the place of an honest `jws`, around JSON that looks right; and the code it is refused with. */
const LIES: Record<string, [code: string, jws: Lie]> = {
  'no signature': ['not-genuine', () => undefined],
  'a text that is no JWS': ['not-genuine', () => 'not.a.jws'],
  'a number': ['not-genuine', () => 7],
  'the key of someone else': ['not-genuine', (all) => signed(STATEMENT, all, { key: stranger })],
  'a key id that is not trusted': ['not-genuine', (all) => signed(STATEMENT, all, { kid: 'x' })],
  'another kind of JWS': ['not-genuine', (all) => signed('paybell-receipt+jws', all)],
  'no algorithm': [
    'not-genuine',
    (all) => `${encode({ alg: 'none', typ: STATEMENT, kid: 'k' })}.${encode(all)}.`,
  ],
  'claims that are null': ['statement-invalid', () => signed(STATEMENT, null)],
  'another endpoint': ['statement-invalid', edit(() => ({ endpointId: randomUUID() }))],
  'another beginning': [
    'statement-invalid',
    edit(({ hours }) => ({ from: hours[1]?.from, hours: hours.slice(1) })),
  ],
  'another end': [
    'statement-invalid',
    edit(({ hours }) => ({ to: hours.at(-1)?.from, hours: hours.slice(0, -1) })),
  ],
  'no hours': ['statement-invalid', edit(() => ({ hours: [] }))],
  'hours that are no list': ['statement-invalid', edit(() => ({ hours: { length: HOURS } }))],
  'an hour short': ['statement-invalid', edit(({ hours }) => ({ hours: hours.slice(1) }))],
  'an hour that is null': [
    'statement-invalid',
    edit(({ hours }) => ({ hours: hours.with(1, null as never) })),
  ],
  'one hour twice': [
    'statement-invalid',
    edit(({ hours }) => ({ hours: hours.with(2, hours[1] as never) })),
  ],
  'hours out of order': ['statement-invalid', edit(({ hours }) => ({ hours: hours.toReversed() }))],
  'totals that are not the sum': ['statement-invalid', edit(() => ({ owed: 9, delivered: 9 }))],
  'an hour that is not in the totals': ['statement-invalid', editHour({ owed: 1, exhausted: 1 })],
  'owed that is not the sum': ['statement-invalid', edit(() => ({ owed: 0 }))],
  'counts below nought': ['statement-invalid', editHour({ exhausted: -1, pending: 1 })],
  'counts that are texts': ['statement-invalid', editHour({ delivered: '0' })],
  'a digest that is not the sum': [
    'statement-invalid',
    edit(() => ({ idsDigest: 'f'.repeat(64) })),
  ],
  'a digest of nothing': ['statement-invalid', editHour({ idsDigest: 'f'.repeat(64) })],
  'no digest': ['statement-invalid', editHour({ idsDigest: undefined })],
  'final, with an hour that is not': ['statement-invalid', editHour({ isFinal: false })],
}

for (const [name, [code, lie]] of Object.entries(LIES)) {
  test(`regression: a statement with ${name} is refused, and never complete`, async () => {
    const deliveries = [deliveryAt(FROM), deliveryAt(FROM + 3 * HOUR_MS)]
    const claims = claimsOf(deliveries)
    const { asked, client } = serviceWith(deliveries, { ...claims, jws: lie(claims) })
    const store = await receivedFromIds(deliveries.map(({ eventId }) => eventId))
    for (const keys of [KEYS, undefined]) {
      const options = { client, endpointId: ENDPOINT, keys, recover: true }
      await assert.rejects(reconcile(store, WINDOW, options), { name: 'PaybellError', code })
    }
    assert.deepEqual([asked.replayed, asked.recovered, asked.keys], [[], 0, 1])
  })
}

test('regression: what is signed counts, whatever the JSON around it says', async () => {
  const deliveries = [deliveryAt(FROM), deliveryAt(FROM + 1, 'CANCELLED')]
  const received = [deliveries[0]?.eventId as string]
  const honest = claimsOf(deliveries)
  const pretty = claimsOf(deliveries.slice(0, 1))
  const { client } = serviceWith(deliveries, { ...pretty, jws: signed(STATEMENT, honest) })
  const options = { client, endpointId: ENDPOINT, keys: KEYS }
  const result = await reconcile(await receivedFromIds(received), WINDOW, options)
  assert.deepEqual([result.isComplete, result.statement.owed], [false, 2])
  assert.deepEqual(await verifyStatement(result.statement.jws, KEYS), honest)
})

test('without keys those of the service are taken, and the result says so', async () => {
  const { asked, client } = serviceWith([])
  const store = await receivedFromIds([])
  for (const keys of [KEYS, undefined]) {
    const result = await reconcile(store, WINDOW, { client, endpointId: ENDPOINT, keys })
    assert.deepEqual([result.isComplete, result.areKeysPinned], [true, keys !== undefined])
  }
  assert.equal(asked.keys, 1)
  Object.assign(client, { call: async () => ({ keys: 'none' }) })
  await assert.rejects(reconcile(store, WINDOW, { client, endpointId: ENDPOINT }), {
    code: 'not-genuine',
  })
})

test('hours that a store lists outside the window neither hide nor make a difference', async () => {
  const deliveries = [deliveryAt(FROM)]
  const { client } = serviceWith(deliveries)
  const all = await receivedFromIds([deliveries[0]?.eventId as string, idAt(FROM - 1)])
  const store = { ...all, hours: () => all.hours({ from: new Date(0), to: new Date() }) }
  const options = { client, endpointId: ENDPOINT, keys: KEYS }
  assert.ok((await reconcile(store, WINDOW, options)).isComplete)
  const lacking = { ...store, hours: () => all.hours({ from: new Date(0), to: WINDOW.from }) }
  const result = await reconcile({ ...lacking, ids: () => [] }, WINDOW, options)
  assert.deepEqual([result.isComplete, result.differences.length], [false, 1])
})

test('regression: what is missing in several hours is sent again in the order in which it happened', async () => {
  const deliveries = [1, 2, HOUR_MS, HOUR_MS + 1, 3 * HOUR_MS].map((ms) => deliveryAt(FROM + ms))
  // The service lists the newest first.
  const { asked, client } = serviceWith(deliveries.toReversed())
  const store = await receivedFromIds([])
  await reconcile(store, WINDOW, { client, endpointId: ENDPOINT, keys: KEYS, recover: true })
  assert.deepEqual(
    asked.replayed,
    deliveries.map(({ id }) => id),
  )
})

test('regression: of a subscription the events of all accounts are compared, whatever account the client is set to', async () => {
  const delivery = deliveryAt(FROM)
  const { client: service } = serviceWith([delivery])
  const statement = await service.webhooks.statement(ENDPOINT, WINDOW)
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
      if (pathname.endsWith('.json')) return Response.json(KEYS)
      return Response.json({ items: [delivery], next: null })
    },
  })
  const options = { client, endpointId: ENDPOINT, kind: 'subscriptions', recover: true } as const
  const { recovered } = await reconcile(await receivedFromIds([]), WINDOW, options)
  assert.equal(recovered, 1)
  assert.deepEqual(asked, [
    'token all',
    'statement all',
    'webhook-keys.json all',
    'deliveries all',
    'replay all',
  ])
})

test('regression: a store that has forgotten ids does not have all of them sent again', async () => {
  const deliveries = [1, 2, 3, 4].map((ms) => deliveryAt(FROM + ms))
  const { asked, client } = serviceWith(deliveries)
  const seen = createMemorySeen({ entriesMax: 2 })
  for (const { eventId } of deliveries.slice(1)) {
    await seen.settle({ id: eventId, paymentId: eventId, sequence: 1 })
  }
  await assert.rejects(
    reconcile(seen, WINDOW, { client, endpointId: ENDPOINT, keys: KEYS, recover: true }),
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
      const result = await reconcile(store, WINDOW, {
        client,
        endpointId: ENDPOINT,
        keys: KEYS,
        recover: true,
      })
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

test('regression: only what a key of the set has signed is genuine, in one spelling and only as its kind', async () => {
  const keys = { keys: [], retired: KEYS.keys }
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
    `${receipt}=`,
    `${receipt}==`,
    receipt.replace('.', '==.'),
    `${head}.${encode({ status: 200 })}=.${tail}`,
    `${head}.${encode({ status: 200 })}.${tail?.replaceAll('-', '+').replaceAll('_', '/')}=`,
    signed('paybell-statement+jws', { status: 200 }),
    signed('paybell-receipt+jws', { status: 200 }, { kid: 'another' }),
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
