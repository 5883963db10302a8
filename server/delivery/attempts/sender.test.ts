import assert from 'node:assert/strict'
import { createPublicKey, createSecretKey, generateKeyPairSync, verify } from 'node:crypto'
import { test } from 'node:test'
import { idOf, nextTick, queued, testEnvironment } from '../../../test/support/engine-parts.ts'
import { at, NO_EVENTS } from '../../../test/support/test-lanes.ts'
import { retryPolicy } from '../../core/delivery/backoff.ts'
import type { CallbackRequest } from '../../core/delivery/callback-request.ts'
import { circuitPolicy } from '../../core/delivery/circuit.ts'
import { DEFAULT_SETTINGS, type EndpointSettings } from '../../core/delivery/endpoint-settings.ts'
import type { ShardEpoch } from '../../core/delivery/lease.ts'
import type { QueuedDelivery } from '../../core/delivery/queued-delivery.ts'
import { momentOf } from '../../core/plain/clock.ts'
import type { AttemptRecord } from '../../store/owed/outcomes.ts'
import type { SendingEndpoint } from '../../store/owed/sending-endpoints.ts'
import type { BegunRuns } from '../../store/owed/unattempted.ts'
import { EndpointCache } from '../caches/endpoint-cache.ts'
import { Payloads } from '../caches/payloads.ts'
import { Lanes } from '../lanes/lanes.ts'
import type { AttemptReport } from '../seams/environment.ts'
import { HealthCounter } from './health-counter.ts'
import { Recorder } from './recorder.ts'
import { Sender } from './sender.ts'

const SECRETS = {
  keys: { current: createSecretKey(Buffer.from('key')), previous: null },
  extraHeader: null,
  oauth2: null,
}

const BEGIN_BY_MS = 8_000

/** A sender with real lanes and a real recorder, over a store and a network that the test describes. */
function startSender(options: {
  endpoint?: Partial<SendingEndpoint>
  text?: string
  readEndpoints?: () => Promise<never>
  settleInactive?: () => Promise<never>
  aftermathMs?: () => number
  maySend?: () => boolean
  begun?: BegunRuns
  send?: (request: CallbackRequest) => Promise<{ outcome: never; durationMs: number }>
}) {
  const seen = {
    requests: [] as CallbackRequest[],
    records: [] as AttemptRecord[],
    reports: [] as AttemptReport[],
    exhausted: 0,
    begun: 0,
    over: 0,
    searched: [] as number[],
    refused: [] as ShardEpoch[],
  }
  const environment = testEnvironment({
    readEndpoints:
      options.readEndpoints ??
      (async (keys) =>
        keys.map(({ clientKey, endpointId }) => ({
          clientKey,
          id: endpointId,
          shard: 1,
          url: 'https://receiver.test/hook',
          isActive: true,
          retriedAtMs: 0,
          settings: DEFAULT_SETTINGS,
          secrets: SECRETS,
          ...options.endpoint,
        }))),
    readPayloads: async (keys) => {
      const { text } = options
      if (text === undefined) return new Map()
      return new Map(
        keys.map(({ eventId }) => [eventId, { text, documentHash: null, documentBytes: null }]),
      )
    },
    settleInactive: options.settleInactive ?? (async () => {}),
    beginRuns: async () => {
      seen.begun++
      return options.begun ?? { areBegun: true, lost: [] }
    },
    exhaust: async () => {
      seen.exhausted++
    },
    recordOutcomes: async (records) => {
      seen.records.push(...records)
      return { ids: new Set(records.map(({ id }) => id)), lost: [] }
    },
  })
  environment.send = (request) => {
    seen.requests.push(request)
    return (
      options.send?.(request) ??
      Promise.resolve({ outcome: { kind: 'answered', status: 200 }, durationMs: 5 })
    )
  }
  environment.onAttempt = (report) => seen.reports.push(report)
  const lanes = new Lanes(
    {
      policy: {
        inFlightMax: 8,
        ratePerSecond: null,
      },
      slots: 64,
      perLaneMax: 100_000,
      perBrokenLaneMax: 100_000,
      unprovenMax: 100_000,
      lanesMax: 10,
      keepMsMax: 60_000,
      endpoints: { deliverOf: () => 'every' },
      policies: { circuit: circuitPolicy(), patienceMs: 60_000 },
    },
    NO_EVENTS,
  )
  const sender: Sender = new Sender(
    environment,
    {
      lanes,
      shards: {
        epochOf: () => 3,
        maySend: options.maySend ?? (() => true),
        beginByMs: () => BEGIN_BY_MS,
        aftermathMs: options.aftermathMs ?? (() => 0),
        toHeld: (held: readonly QueuedDelivery[]) => held,
        refused: (lease: ShardEpoch) => {
          seen.refused.push(lease)
          lanes.removeShard(lease.shard)
        },
      } as never,
      recorder: new Recorder(environment, {
        isHeld: () => true,
        refused() {},
      }),
      reader: { rewindTo() {} } as never,
      findParked: (shards) => void seen.searched.push(...shards),
      payloads: new Payloads(environment.store, { cacheBytesMax: 1_000, fileBytesMax: 1_000 }),
      endpoints: new EndpointCache(environment.store),
      health: new HealthCounter(),
      onFree: () => pump(),
      onOver: () => {
        seen.over++
        queueMicrotask(pump)
      },
    },
    retryPolicy(),
    1_000,
  )
  const pump = () => {
    for (let flight = take(); flight; flight = take()) void sender.attempt(flight)
  }
  const take = () => lanes.next(at(environment.clock.nowMs()), () => true)
  const deliver = async (...deliveries: QueuedDelivery[]) => {
    for (const delivery of deliveries) lanes.add(delivery, false, environment.clock.nowMs())
    pump()
    for (let left = 20; left > 0; left--) await nextTick()
  }
  return { seen, lanes, environment, deliver }
}

test('a delivery is sent, recorded under its epoch, reported, and leaves memory', async () => {
  const { seen, lanes, deliver } = startSender({ text: '{"id":"1"}' })
  const delivery = queued()
  await deliver(delivery)
  assert.equal(seen.requests.length, 1)
  assert.deepEqual(seen.requests[0]?.body, [Buffer.from('{"id":"1"}')])
  assert.equal(seen.requests[0]?.beginByMs, BEGIN_BY_MS, 'the client asks its own clock')
  assert.deepEqual(
    seen.records.map(({ id, epoch, state, status }) => ({ id, epoch, state, status })),
    [{ id: delivery.id, epoch: 3, state: 'DELIVERED', status: 200 }],
  )
  assert.deepEqual(
    seen.reports.map(({ deliveryId, epoch, attempt, state }) => [
      deliveryId,
      epoch,
      attempt,
      state,
    ]),
    [[delivery.id, 3, 1, 'DELIVERED']],
  )
  assert.deepEqual([lanes.size, lanes.inFlight, seen.over], [0, 0, 1])
})

test('F17: what cannot be sent is an outcome, on the record; however many there are', async () => {
  const { seen, lanes, deliver } = startSender({ endpoint: { secrets: null }, text: '{"id":"1"}' })
  const deliveries = Array.from({ length: 5_000 }, () => queued())
  await deliver(...deliveries)
  assert.deepEqual(seen.requests, [])
  assert.ok(seen.records.length > 0)
  for (const { outcome, state } of seen.records) {
    assert.deepEqual([outcome, state], ['undecryptable-key', 'PENDING'])
  }
  assert.equal(lanes.inFlight, 0)
})

test('F17: a body that is gone is an outcome too', async () => {
  const { seen, deliver } = startSender({})
  await deliver(queued())
  assert.deepEqual(seen.requests, [])
  assert.deepEqual(
    seen.records.map(({ outcome }) => outcome),
    ['payload-missing'],
  )
})

test('when our own store cannot be read, no attempt was made, and its slot is given back', async () => {
  const { seen, lanes, environment, deliver } = startSender({
    readEndpoints: () => Promise.reject(new Error('away')),
  })
  await deliver(queued())
  assert.deepEqual([seen.requests.length, seen.records.length, seen.over], [0, 0, 1])
  assert.deepEqual(environment.warnings, ['delivery.not-attempted'])
  assert.deepEqual([lanes.size, lanes.inFlight], [1, 0])
  assert.equal(lanes.restMs(momentOf(environment.clock)), 1_000)
})

test('a sender that refuses has made no attempt either', async () => {
  const { seen, lanes, environment, deliver } = startSender({
    text: '{"id":"1"}',
    send: () => Promise.reject(new Error('nobody listens')),
  })
  await deliver(queued())
  assert.deepEqual([seen.requests.length, seen.records.length, seen.over], [1, 0, 1])
  assert.deepEqual(environment.warnings, ['delivery.not-attempted'])
  assert.deepEqual([lanes.size, lanes.inFlight], [1, 0])
})

test('a shard that is lost while its endpoint is read sends nothing', async () => {
  let isOurs = true
  const { seen, lanes, deliver } = startSender({ text: '{"id":"1"}', maySend: () => isOurs })
  const delivering = deliver(queued())
  isOurs = false
  lanes.removeShard(1)
  await delivering
  assert.deepEqual([seen.requests.length, seen.records.length, seen.over], [0, 0, 1])
  assert.equal(lanes.inFlight, 0)
})

test('regression: what goes wrong after the answer frees the slot once, and the delivery goes again', async () => {
  const { seen, lanes, environment, deliver } = startSender({ text: '{"id":"1"}' })
  const delivery = queued()
  environment.random = () => {
    throw new Error('no dice')
  }
  environment.send = () =>
    Promise.resolve({ outcome: { kind: 'answered', status: 500 }, durationMs: 5 })
  await deliver(delivery)
  assert.deepEqual(environment.warnings, ['delivery.not-attempted'])
  assert.deepEqual([seen.records.length, seen.over, lanes.size, lanes.inFlight], [0, 1, 1, 0])
})

test('regression: an endpoint that is active again is asked for, although its resumption was missed', async () => {
  const endpoint = { isActive: false }
  const { seen, deliver } = startSender({ text: '{"id":"1"}', endpoint })
  await deliver(queued())
  assert.deepEqual([seen.requests.length, seen.over], [0, 1])
  assert.deepEqual(seen.searched, [1], 'what is parked of lanes that are active by now')
  endpoint.isActive = true
  await deliver(queued())
  assert.deepEqual([seen.requests.length, seen.over], [1, 2])
})

test('regression: where it could not be settled, what is parked is searched for all the same', async () => {
  const { seen, environment, deliver } = startSender({
    endpoint: { isActive: false },
    settleInactive: () => Promise.reject(new Error('the database is away')),
  })
  await deliver(queued())
  assert.deepEqual(environment.warnings, ['delivery.not-attempted'])
  assert.deepEqual([seen.searched, seen.over], [[1], 1])
})

test('F11: by a clock that has just jumped ahead nothing is given up, and nothing is sent late', async () => {
  const { seen, lanes, environment, deliver } = startSender({ text: '{"id":"1"}' })
  const nowMs = environment.clock.nowMs()
  const over = { attempts: 3, firstFailedAtMs: nowMs - 1, deadlineAtMs: nowMs + 1_000 }
  environment.clock.advance(8 * 86_400)
  environment.clock.hasJumped = true
  await deliver(queued(over), queued({ ...over, deadlineAtMs: null }))
  assert.deepEqual([seen.requests.length, seen.exhausted, seen.over], [1, 0, 2])
  assert.equal(lanes.inFlight, 0)
  environment.clock.hasJumped = false
  await deliver(queued(over))
  assert.deepEqual([seen.requests.length, seen.exhausted], [1, 1])
})

test('regression: by a clock that goes back before the first byte, no attempt is made before its time', async () => {
  const { seen, lanes, environment, deliver } = startSender({ text: '{"id":"1"}' })
  const dueAtMs = environment.clock.nowMs()
  const delivering = deliver(queued({ nextAttemptAtMs: dueAtMs }))
  // The endpoint is being read.
  environment.clock.advance(-1)
  await delivering
  assert.deepEqual([seen.requests.length, seen.records.length, seen.over], [0, 0, 1])
  assert.deepEqual([lanes.size, lanes.inFlight], [1, 0])
  assert.equal(lanes.restMs(momentOf(environment.clock)), 1_000)
  environment.clock.advance(1)
  await deliver()
  assert.deepEqual(
    seen.records.map(({ atMs, state }) => [atMs, state]),
    [[dueAtMs, 'DELIVERED']],
  )
})

test('one whose time is over while it waits for a newer one ends without an attempt', async () => {
  const { seen, lanes, environment, deliver } = startSender({ text: '{"id":"1"}' })
  const nowMs = environment.clock.nowMs()
  const { paymentId } = queued()
  const failing = { paymentId, attempts: 3, firstFailedAtMs: nowMs - 100_000 }
  const first = queued({ ...failing, deadlineAtMs: nowMs })
  const laterMs = nowMs + 20_000
  const second = { ...failing, sequence: 2, deadlineAtMs: nowMs + 9e6, nextAttemptAtMs: laterMs }
  lanes.putStrand([first, queued(second)], true, nowMs)
  const delivering = deliver()
  // The endpoint is being read, and the clock is set back: the end must not become an attempt.
  environment.clock.advance(-1)
  await delivering
  assert.deepEqual([seen.requests.length, seen.exhausted, seen.over], [0, 1, 1])
  assert.deepEqual([lanes.size, lanes.inFlight, lanes.restMs(at(nowMs))], [1, 0, 20_000])
})

const SIGNED: EndpointSettings = { ...DEFAULT_SETTINGS, signatures: ['hmac', 'ed25519'] }

/** Signing happens in another thread: wait for what follows from it. */
async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await nextTick()
}

test('an endpoint that asks for it gets v1a beside v1, under the key that is named', async () => {
  const { seen, environment, deliver } = startSender({
    text: '{"id":"1"}',
    endpoint: { settings: SIGNED },
  })
  const { privateKey } = generateKeyPairSync('ed25519')
  environment.signers = async () => [{ kid: 'our-key', key: privateKey }]
  const delivery = queued()
  await deliver(delivery)
  await until(() => seen.over === 1)
  const { headers } = seen.requests[0] as CallbackRequest
  const read = (name: string) => headers[headers.indexOf(name) + 1] as string
  assert.equal(read('X-Paybell-Key-Id'), 'our-key')
  const [v1 = '', v1a = '', ...more] = read('webhook-signature').split(' ')
  assert.match(v1, /^v1,.{44}$/)
  assert.deepEqual(more, [])
  const content = `${delivery.eventId}.${read('webhook-timestamp')}.{"id":"1"}`
  const signature = Buffer.from(v1a.slice(4), 'base64')
  assert.ok(verify(null, Buffer.from(content), createPublicKey(privateKey), signature))
})

test('an endpoint that does not ask is sent the same headers as ever, and no key is read', async () => {
  const { seen, deliver } = startSender({ text: '{"id":"1"}' })
  await deliver(queued())
  const { headers } = seen.requests[0] as CallbackRequest
  assert.ok(!headers.includes('X-Paybell-Key-Id'))
  assert.match(headers[headers.indexOf('webhook-signature') + 1] as string, /^v1,.{44}$/)
})

test('while no key can be read, no attempt was made, and it is tried again', async () => {
  const { seen, lanes, environment, deliver } = startSender({
    text: '{"id":"1"}',
    endpoint: { settings: SIGNED },
  })
  await deliver(queued())
  assert.deepEqual([seen.requests.length, seen.records.length, seen.over], [0, 0, 1])
  assert.deepEqual(environment.warnings, ['delivery.not-attempted'])
  assert.deepEqual([lanes.size, lanes.inFlight], [1, 0])
})

test('a shard that is lost while a callback is signed sends nothing', async () => {
  let isOurs = true
  const { seen, lanes, environment, deliver } = startSender({
    text: '{"id":"1"}',
    endpoint: { settings: SIGNED },
    maySend: () => isOurs,
  })
  const { privateKey } = generateKeyPairSync('ed25519')
  environment.signers = async () => {
    isOurs = false
    lanes.removeShard(1)
    return [{ kid: 'our-key', key: privateKey }]
  }
  await deliver(queued())
  await until(() => seen.over === 1)
  assert.deepEqual([seen.requests.length, seen.records.length], [0, 0])
  assert.equal(lanes.inFlight, 0)
})

test('deliveries of one event share a signature where they share their bytes, whatever the endpoint is set to by now', async () => {
  const { seen, environment, deliver } = startSender({
    text: '{"id":"1"}',
    endpoint: { settings: SIGNED },
  })
  const { privateKey } = generateKeyPairSync('ed25519')
  environment.signers = async () => [{ kid: 'our-key', key: privateKey }]
  environment.documentLink = async ({ eventId, endpointId }) =>
    `https://paybell.test/${eventId}${endpointId}`
  let made = 0
  environment.onSigned = () => made++
  const { eventId } = queued()
  const modes = [null, null, 'none', 'none', 'link', 'link'] as const
  const deliveries = modes.map((documentMode, at) =>
    queued({ eventId, documentMode, endpointId: idOf(1_000 + at) }),
  )
  await deliver(...deliveries)
  await until(() => seen.over === modes.length)
  assert.equal(seen.requests.length, modes.length)
  assert.equal(made, 4, 'one inline, one without the file, and one for each link')
})

test('in an aftermath an update is sent, and the next of its payment waits until that is over', async () => {
  let restMs = 9_000
  const { seen, lanes, deliver, environment } = startSender({
    text: '{"id":"1"}',
    aftermathMs: () => restMs,
  })
  const first = queued()
  const second = queued({ paymentId: first.paymentId, sequence: 2 })
  await deliver(first)
  assert.equal(seen.records.length, 1)
  assert.equal(lanes.inFlight, 0, 'its slot is free')
  await deliver(second)
  assert.equal(seen.requests.length, 1)
  restMs = 0
  environment.timers.ring(9_000)
  await deliver()
  assert.deepEqual(
    seen.records.map(({ id }) => id),
    [first.id, second.id],
  )
  assert.equal(lanes.size, 0)
})

test('nor is one sent then that would pass an older one, which may be under way', async () => {
  let restMs = 9_000
  const { seen, lanes, deliver, environment } = startSender({
    text: '{"id":"1"}',
    aftermathMs: () => restMs,
  })
  const elder = queued({ attempts: 1, firstFailedAtMs: 0, nextAttemptAtMs: 9e12 })
  const newer = queued({ paymentId: elder.paymentId, sequence: 2 })
  lanes.putStrand([elder, newer], true, environment.clock.nowMs())
  await deliver()
  assert.deepEqual([seen.requests.length, lanes.size], [0, 2])
  restMs = 0
  environment.clock.advance(9)
  await deliver()
  assert.equal(seen.begun, 1)
})

/** An update that goes ahead of one that waits for its retry, and another payment of the same shard. */
async function goAhead(begun: BegunRuns) {
  const started = startSender({ text: '{"id":"1"}', begun })
  const { lanes, environment, deliver } = started
  const nowMs = environment.clock.nowMs()
  const elder = queued({ attempts: 1, firstFailedAtMs: 0, nextAttemptAtMs: nowMs + 9_000 })
  const other = queued({ nextAttemptAtMs: nowMs + 9_000 })
  lanes.putStrand([elder, queued({ paymentId: elder.paymentId, sequence: 2 })], true, nowMs)
  await deliver(other)
  return started
}

test('regression: one that has ended before its run could begin leaves memory, and its shard stays', async () => {
  const { seen, lanes, environment } = await goAhead({ areBegun: false, lost: [] })
  assert.deepEqual([seen.begun, seen.requests.length, seen.over], [1, 0, 1])
  assert.deepEqual(seen.refused, [])
  assert.deepEqual([lanes.size, lanes.inFlight], [2, 0], 'the older one, and the other payment')
  assert.equal(lanes.restMs(momentOf(environment.clock)), 9_000)
})

test('where a run could not begin because the lease is lost, the shard is lost', async () => {
  const lease = { shard: 1, epoch: 3 }
  const { seen, lanes } = await goAhead({ areBegun: false, lost: [lease] })
  assert.deepEqual([seen.begun, seen.requests.length, seen.over], [1, 0, 1])
  assert.deepEqual(seen.refused, [lease])
  assert.deepEqual([lanes.size, lanes.inFlight], [0, 0])
})
