import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { UuidMaker, uuidTimeMs } from '../plain/uuid.ts'
import { deliveryId, fanOut, type ListeningEndpoint, type NewEvent } from './fan-out.ts'

const NOW_MS = 1_800_000_000_000
const ids = new UuidMaker(() => NOW_MS, randomBytes)
const ACCOUNT = randomUUID()

function event(changes: Partial<NewEvent> = {}): NewEvent {
  return {
    clientKey: 1,
    id: ids.next(),
    paymentId: randomUUID(),
    accountId: ACCOUNT,
    sequence: 1,
    kind: 'payment.created',
    text: '{"id":"1"}',
    documentHash: null,
    documentBytes: null,
    ...changes,
  }
}

function endpoint(changes: Partial<ListeningEndpoint> = {}): ListeningEndpoint {
  return {
    clientKey: 1,
    id: ids.next(),
    accountId: null,
    shard: 5,
    events: null,
    document: null,
    ...changes,
  }
}

test('I1: owed to the webhooks of its account and the subscriptions of its client, no others', () => {
  const webhook = endpoint({ accountId: ACCOUNT })
  const subscription = endpoint()
  const others = [
    endpoint({ accountId: randomUUID() }),
    endpoint({ clientKey: 2 }),
    endpoint({ clientKey: 2, accountId: ACCOUNT }),
  ]
  const owed = fanOut([event()], [...others, webhook, subscription], NOW_MS)
  assert.deepEqual(
    owed.map(({ endpointId }) => endpointId),
    [webhook.id, subscription.id],
  )
  assert.deepEqual(fanOut([event()], others, NOW_MS), [])
  assert.deepEqual(fanOut([], [webhook], NOW_MS), [])
})

test('a delivery is new, due now, and carries the body of its event', () => {
  const documentHash = randomBytes(32)
  const happened = event({ sequence: 3, kind: 'payment.due', documentHash, documentBytes: 8 })
  const listening = endpoint({ shard: 63 })
  const [{ id, ...rest } = assert.fail()] = fanOut([happened], [listening], NOW_MS)
  assert.deepEqual(rest, {
    clientKey: 1,
    eventId: happened.id,
    endpointId: listening.id,
    paymentId: happened.paymentId,
    sequence: 3,
    kind: 'payment.due',
    shard: 63,
    nextAttemptAtMs: NOW_MS,
    attempts: 0,
    runAttempts: 0,
    firstAttemptAtMs: null,
    firstFailedAtMs: null,
    deadlineAtMs: null,
    isReplay: false,
    documentMode: null,
    hasElders: false,
    payload: { text: happened.text, documentHash, documentBytes: 8 },
  })
})

test('a delivery has an id of its own, and always the same: a UUIDv7 of its event’s time', () => {
  const events = Array.from({ length: 50 }, () => event())
  const endpoints = Array.from({ length: 50 }, () => endpoint())
  const owed = fanOut(events, endpoints, NOW_MS).map(({ id }) => id)
  assert.equal(new Set(owed).size, 2_500)
  for (const id of owed) {
    assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    assert.equal(uuidTimeMs(id), NOW_MS)
  }
  const again = fanOut(events, endpoints, NOW_MS + 1).map(({ id }) => id)
  assert.deepEqual(again, owed)
  const firsts = owed.filter((_, index) => index % 50 === 0)
  assert.deepEqual(firsts.toSorted(), firsts, 'in the order of their events')
})

test('regression: an update has the elders of its own call, and a first update has none', () => {
  const paymentId = randomUUID()
  const events = [event({ paymentId }), event({ paymentId, sequence: 2 }), event({ sequence: 2 })]
  const owed = fanOut(events, [endpoint()], NOW_MS)
  assert.deepEqual(
    owed.map(({ hasElders }) => hasElders),
    [false, true, false],
  )
})

test('an endpoint is owed the kinds that it hears, and payment.* is every kind', () => {
  const kinds = ['payment.created', 'payment.due', 'payment.paid']
  const events = kinds.map((kind, index) => event({ kind, sequence: index + 1 }))
  const heardBy = (choice: ListeningEndpoint['events']) =>
    fanOut(events, [endpoint({ events: choice })], NOW_MS).map(({ kind }) => kind)
  assert.deepEqual(heardBy(null), kinds)
  assert.deepEqual(heardBy(['payment.*']), kinds)
  assert.deepEqual(heardBy(['payment.paid']), ['payment.paid'])
  assert.deepEqual(heardBy(['payment.due', 'payment.created']), kinds.slice(0, 2))
  assert.deepEqual(heardBy(['payment.updated']), [])
})

test('of the elders of one call only those count that the endpoint hears', () => {
  const paymentId = randomUUID()
  const kinds = ['payment.created', 'payment.due', 'payment.paid', 'payment.updated']
  const events = kinds.map((kind, index) => event({ kind, sequence: index + 1, paymentId }))
  const filtered = endpoint({ events: ['payment.due', 'payment.updated'] })
  const owed = fanOut(events, [filtered, endpoint()], NOW_MS)
  const elders = (endpointId: string) =>
    owed.filter((one) => one.endpointId === endpointId).map(({ hasElders }) => hasElders)
  assert.deepEqual(elders(filtered.id), [false, true])
})

test('how a delivery carries a file is decided with it, and only where there is one', () => {
  const documentHash = randomBytes(32)
  const modes = ([null, 'inline', 'link', 'none'] as const).map((document) =>
    [null, documentHash].map(
      (hash) =>
        fanOut([event({ documentHash: hash })], [endpoint({ document })], NOW_MS)[0]?.documentMode,
    ),
  )
  assert.deepEqual(modes, [
    [null, null],
    [null, null],
    [null, 'link'],
    [null, 'none'],
  ])
})

test('the id of a delivery and that of its endpoint tell the event', () => {
  const endpointId = '01a1dd3c-57d6-7001-9e6f-60de241483ec'
  for (const eventId of [
    '019c1f6e-7a52-7c1e-9d0b-3f6a1c2b4d5e',
    '019c1f6e-7a52-7fff-bfff-ffffffffffff',
    '019c1f6e-7a52-7000-8000-000000000000',
  ]) {
    const id = deliveryId(eventId, endpointId)
    assert.notEqual(id, eventId)
    assert.equal(deliveryId(id, endpointId), eventId)
  }
})
