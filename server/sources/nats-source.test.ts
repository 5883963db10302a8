// The source against a real nats-server and a gatherer whose behaviour changes.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import { connect, type NatsConnection } from '@nats-io/transport-node'
import { findNatsServer, type NatsServer, startNatsServer } from '../../test/support/nats-server.ts'
import { until } from '../../test/support/paybell.ts'
import { sampleBody } from '../../test/support/payment-sample.ts'
import { ServiceError } from '../core/errors.ts'
import type { PaymentChange, RecordedPayment } from '../operations/record-payments.ts'
import { NatsSource, type NatsSourceOptions, type Turn } from './nats-source.ts'

const binary = findNatsServer()
const skip = binary === null ? 'nats-server is not installed: apt-get install nats-server' : false
if (skip) console.log(`skipped: ${skip}`)

const SPANS = {
  ackWaitMs: 2_000,
  workingEveryMs: 500,
  pullExpiresMs: 1_000,
  restMs: 50,
  restMsMax: 200,
  turnEveryMs: 100,
}

let server: NatsServer
let nats: NatsConnection
const cleanUps: (() => Promise<void> | void)[] = []
const owner = { after: (run: () => Promise<void> | void) => void cleanUps.push(run) }
after(async () => {
  for (const cleanUp of cleanUps.toReversed()) await cleanUp()
})
before(async () => {
  if (binary === null) return
  server = await startNatsServer(owner, binary)
  nats = await connect({ servers: server.url, maxReconnectAttempts: -1, reconnectTimeWait: 100 })
  cleanUps.push(() => nats.close())
})

interface Stage {
  account: string
  recorded: string[]
  publish(id: string, reference: string, changes?: Record<string, unknown>): Promise<void>
  publishBytes(bytes: Uint8Array, subject?: string): Promise<void>
  source(options?: Partial<NatsSourceOptions>): NatsSource
  /** Delivered or waiting, and not acknowledged. */
  open(): Promise<number>
}

/** A stream of its own for each test. */
async function stage(
  submit: (change: PaymentChange) => Promise<unknown> = async () => {},
): Promise<Stage> {
  const name = `T${randomUUID().slice(0, 8)}`
  const account = randomUUID()
  const manager = await jetstreamManager(nats)
  await manager.streams.add({ name, subjects: [`${name}.>`] })
  const recorded: string[] = []
  const publishBytes = async (bytes: Uint8Array, subject = `${name}.${account}`) => {
    await jetstream(nats).publish(subject, bytes)
  }
  return {
    account,
    recorded,
    publishBytes,
    publish: (id, reference, changes = {}) =>
      publishBytes(
        sampleBody({ id, reference, document: undefined, version: undefined, ...changes }),
      ),
    source: (options = {}) => {
      const source = new NatsSource({
        settings: {
          urls: [server.url],
          stream: name,
          subject: `${name}.>`,
          durable: 'paybell',
          credentials: null,
        },
        gatherer: {
          async submit(change) {
            await submit(change)
            recorded.push(change.write.reference)
            return {} as RecordedPayment
          },
        },
        turn: { take: async () => ({ release: async () => {} }) },
        log: { info() {}, warn() {} },
        spans: SPANS,
        ...options,
      })
      cleanUps.push(() => source.stop())
      source.start()
      return source
    },
    open: async () => {
      const { num_ack_pending, num_pending } = await manager.consumers.info(name, 'paybell')
      return num_ack_pending + num_pending
    },
  }
}

async function deadLetters(account: string) {
  const manager = await jetstreamManager(nats)
  return manager.streams
    .getMessage('PAYBELL_DEAD', { last_by_subj: `paybell.dead.${account}` })
    .catch(() => null)
}

test('a message is recorded and then acknowledged, and one that waited too', { skip }, async () => {
  const it = await stage()
  await it.publish(randomUUID(), 'before')
  const source = it.source()
  await it.publish(randomUUID(), 'after')
  await until('both are recorded', () => it.recorded.length === 2)
  await until('both are acknowledged', async () => (await it.open()) === 0)
  assert.deepEqual(it.recorded, ['before', 'after'])
  await source.stop()
})

test('what can never be recorded goes to the dead letters, with the problem and the body', {
  skip,
}, async () => {
  const it = await stage(async ({ write }) => {
    if (write.reference === 'moves')
      throw new ServiceError('forbidden-move', 'A payment cannot go.')
  })
  const source = it.source()
  const wrong = sampleBody({
    quoteId: 'x',
    document: { base64EncodedFile: '?', mediaType: 'a/b', name: 'n' },
  })
  await it.publishBytes(wrong)
  await until('the first letter is there', () => deadLetters(it.account))
  const letter = await deadLetters(it.account)
  assert.deepEqual(Buffer.from(letter?.data ?? []), wrong)
  assert.equal(letter?.header?.get('Paybell-Code'), 'invalid-fields')
  assert.equal(letter?.header?.get('Paybell-Sequence'), '1')
  const problem = JSON.parse(letter?.header?.get('Paybell-Problem') ?? '')
  assert.deepEqual(
    problem.errors.map(({ pointer }: { pointer: string }) => pointer),
    ['/quoteId', '/document/base64EncodedFile'],
  )
  await it.publish(randomUUID(), 'moves')
  await until(
    'the second letter is there',
    async () => (await deadLetters(it.account))?.header?.get('Paybell-Code') === 'forbidden-move',
  )
  await it.publish(randomUUID(), 'good')
  await until('its neighbour is recorded', () => it.recorded.includes('good'))
  await until('all are acknowledged', async () => (await it.open()) === 0)
  assert.deepEqual(it.recorded, ['good'])
  await source.stop()
})

test('a database that is away costs time: nothing is lost, and the order of a payment is kept', {
  skip,
}, async () => {
  let isAway = true
  let tries = 0
  const it = await stage(async () => {
    await delay(Math.random() * 5)
    tries++
    if (isAway || Math.random() < 0.02) throw new ServiceError('database-away', 'Away.')
  })
  const ids = Array.from({ length: 10 }, () => randomUUID())
  for (let round = 0; round < 8; round++) {
    for (const [index, id] of ids.entries()) await it.publish(id, `${index} ${round}`)
  }
  const source = it.source()
  await until('it was tried', () => tries > 10)
  assert.equal(it.recorded.length, 0)
  isAway = false
  await until(
    'all are acknowledged',
    async () => it.recorded.length >= 80 && (await it.open()) === 0,
    60_000,
  )
  for (const index of ids.keys()) {
    const rounds = it.recorded
      .filter((text) => text.startsWith(`${index} `))
      .map((text) => Number(text.slice(2)))
    // A repeat of the latest is harmless; an older one behind a newer one would not be.
    assert.deepEqual(
      rounds,
      rounds.toSorted((a, b) => a - b),
    )
    assert.deepEqual([...new Set(rounds)], [0, 1, 2, 3, 4, 5, 6, 7])
  }
  await source.stop()
})

test('a process that dies in the middle is followed in order: its leftovers come first', {
  skip,
}, async () => {
  const id = randomUUID()
  let isHanging = true
  const hung: (() => void)[] = []
  const it = await stage(() =>
    isHanging ? new Promise<void>((resolve) => hung.push(resolve)) : Promise.resolve(),
  )
  // Dies: it never acknowledges, and says no more that it is working.
  const dead = it.source({ spans: { ...SPANS, workingEveryMs: 1_000_000 } })
  await it.publish(id, 'a')
  await it.publish(id, 'b')
  await until('the first is under way', () => hung.length === 1)
  isHanging = false
  const heir = it.source()
  await it.publish(id, 'c')
  await until('all are recorded', () => it.recorded.length === 3)
  assert.deepEqual(it.recorded, ['a', 'b', 'c'])
  await until('all are acknowledged', async () => (await it.open()) === 0)
  await heir.stop()
  for (const resolve of hung) resolve()
  await dead.stop()
})

test('one process consumes at a time, and the next takes over', { skip }, async () => {
  const it = await stage()
  let holder: string | null = null
  const turn = (name: string): Turn => ({
    async take() {
      if (holder !== null) return null
      holder = name
      return {
        release: async () => {
          holder = null
        },
      }
    },
  })
  const one = it.source({ turn: turn('one') })
  await until('the first has it', () => holder === 'one')
  const other = it.source({ turn: turn('other') })
  await it.publish(randomUUID(), 'x')
  await until('it is recorded', () => it.recorded.length === 1)
  await one.stop()
  await until('the other has it', () => holder === 'other')
  await it.publish(randomUUID(), 'y')
  await until('it is recorded, too', () => it.recorded.length === 2)
  await other.stop()
  assert.equal(holder, null)
})

test('what is in hand has a limit in bytes: the rest waits, and all comes through', {
  skip,
}, async () => {
  const held: (() => void)[] = []
  let isHolding = true
  const it = await stage(() =>
    isHolding ? new Promise<void>((resolve) => held.push(resolve)) : Promise.resolve(),
  )
  const reason = 'x'.repeat(900)
  for (let n = 0; n < 40; n++) {
    await it.publish(randomUUID(), `${n}`, { status: { state: 'DUE', reason } })
  }
  // About 1,500 bytes each: six at a time.
  const source = it.source({ inHandBytesMax: 10_000 })
  await until('it is full', () => held.length >= 5)
  await delay(1_500)
  assert.ok(held.length <= 8, `${held.length}`)
  isHolding = false
  for (const resolve of held) resolve()
  await until('all are recorded', () => it.recorded.length === 40)
  await until('all are acknowledged', async () => (await it.open()) === 0)
  await source.stop()
})

test('a source that stops hands back what it has not begun: the next finds it at once', {
  skip,
}, async () => {
  const held: (() => void)[] = []
  const it = await stage(() => new Promise<void>((resolve) => held.push(resolve)))
  const id = randomUUID()
  for (const reference of ['a', 'b', 'c']) await it.publish(id, reference)
  const source = it.source({ spans: { ...SPANS, ackWaitMs: 60_000 } })
  await until('the first is under way', () => held.length === 1)
  const stopped = source.stop()
  held[0]?.()
  await stopped
  assert.deepEqual(it.recorded, ['a'])
  const next = it.source({
    spans: { ...SPANS, ackWaitMs: 60_000 },
    gatherer: {
      async submit({ write }) {
        it.recorded.push(write.reference)
        return {} as RecordedPayment
      },
    },
  })
  await until('the others follow', () => it.recorded.length === 3, 10_000)
  assert.deepEqual(it.recorded, ['a', 'b', 'c'])
  await next.stop()
})

test('a broker that goes away and comes back is found again', { skip }, async () => {
  const it = await stage()
  const source = it.source()
  await it.publish(randomUUID(), 'before')
  await until('it is recorded', () => it.recorded.length === 1)
  await server.stop('SIGKILL')
  await delay(300)
  await server.start()
  await until('the test is connected again', () =>
    nats.flush().then(
      () => true,
      () => false,
    ),
  )
  await until('published', () =>
    it.publish(randomUUID(), 'after').then(
      () => true,
      () => false,
    ),
  )
  await until('it is recorded, too', () => it.recorded.includes('after'), 40_000)
  await source.stop()
})

test('a source whose broker was never there stops at once', { skip: false }, async () => {
  const source = new NatsSource({
    settings: {
      urls: ['nats://127.0.0.1:9'],
      stream: 's',
      subject: 's.>',
      durable: 'd',
      credentials: null,
    },
    gatherer: { submit: () => Promise.reject(new Error('nothing comes')) },
    turn: { take: async () => ({ release: async () => {} }) },
    log: { info() {}, warn() {} },
    spans: SPANS,
  })
  source.start()
  await delay(100)
  const stoppedAt = performance.now()
  await source.stop()
  assert.ok(performance.now() - stoppedAt < 2_000)
})
