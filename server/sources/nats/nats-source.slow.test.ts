// The source against a real nats-server and a gatherer whose behaviour changes.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, connect as connectTo, createServer, type Socket } from 'node:net'
import { after, before, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { type JsMsg, jetstream, jetstreamManager } from '@nats-io/jetstream'
import { connect, type NatsConnection } from '@nats-io/transport-node'
import { endsWithin } from '../../../test/support/ends-within.ts'
import {
  findNatsServer,
  type NatsServer,
  startNatsServer,
} from '../../../test/support/nats-server.ts'
import { collectCleanUps } from '../../../test/support/owner.ts'
import { until } from '../../../test/support/paybell.ts'
import { sampleBody } from '../../../test/support/payment-sample.ts'
import type { NatsSettings } from '../../config/config.ts'
import { ServiceError } from '../../core/plain/errors.ts'
import type { PaymentChange, RecordedPayment } from '../../operations/accepting/record-payments.ts'
import type { BrokerSource } from '../broker/broker-source.ts'
import { openConsumer } from './nats-connection.ts'
import type { NatsRight } from './nats-session.ts'
import { createNatsSource, type NatsSourceOptions } from './nats-source.ts'

const binary = findNatsServer()
const skip = binary === null ? 'nats-server is not installed: apt-get install nats-server' : false
if (skip) console.log(`skipped: ${skip}`)

const TIMING = {
  ackWaitMs: 2_000,
  workingEveryMs: 500,
  pullExpiresMs: 1_000,
  restMs: 50,
  restMsMax: 200,
  askEveryMs: 100,
}

const RIGHT: NatsRight = {
  source: 'nats',
  id: randomUUID(),
  isHeld: () => true,
  release: async () => {},
}

let server: NatsServer
let nats: NatsConnection
const owner = collectCleanUps()
after(() => owner.cleanUp())
before(async () => {
  if (binary === null) return
  server = await startNatsServer(owner, binary)
  nats = await connect({ servers: server.url, maxReconnectAttempts: -1, reconnectTimeWait: 100 })
  owner.after(() => nats.close())
})

interface Stage {
  name: string
  account: string
  recorded: string[]
  /** What the source has said, the last of it. */
  lines: string[]
  publish(id: string, reference: string, changes?: Record<string, unknown>): Promise<void>
  publishBytes(bytes: Uint8Array, subject?: string): Promise<void>
  source(options?: Partial<NatsSourceOptions>): BrokerSource
  /** Delivered or waiting, and not acknowledged. */
  open(): Promise<number>
}

/** Limit for the broker's reply to a message: thousands at once wait for each other. */
const PUBLISH_MS_MAX = 60_000

const LINES_KEPT = 20

/** A stream of its own for each test. */
async function stage(
  submit: (change: PaymentChange) => Promise<unknown> = async () => {},
): Promise<Stage> {
  const name = `T${randomUUID().slice(0, 8)}`
  const account = randomUUID()
  const manager = await jetstreamManager(nats)
  await manager.streams.add({ name, subjects: [`${name}.>`] })
  const recorded: string[] = []
  const lines: string[] = []
  const note = (fields: unknown, message?: string) => {
    lines.push(`${message} ${JSON.stringify(fields)}`)
    if (lines.length > LINES_KEPT) lines.shift()
  }
  const publishBytes = async (bytes: Uint8Array, subject = `${name}.${account}`) => {
    await jetstream(nats).publish(subject, bytes, { timeout: PUBLISH_MS_MAX })
  }
  return {
    name,
    account,
    recorded,
    lines,
    publishBytes,
    publish: (id, reference, changes = {}) =>
      publishBytes(
        sampleBody({ id, reference, document: undefined, version: undefined, ...changes }),
      ),
    source: (options = {}) => {
      const source = createNatsSource({
        settings: settingsOf({ name }, server.port),
        gatherer: {
          async submit(change) {
            await submit(change)
            recorded.push(change.write.reference)
            return {} as RecordedPayment
          },
        },
        takeLease: async () => RIGHT,
        log: { info: note, warn: note },
        timing: TIMING,
        ...options,
      })
      owner.after(() => source.stop())
      source.start()
      return source
    },
    open: async () => {
      const { num_ack_pending, num_pending } = await manager.consumers.info(name, 'paybell')
      return num_ack_pending + num_pending
    },
  }
}

function settingsOf({ name }: Pick<Stage, 'name'>, port: number): NatsSettings {
  const urls = [`nats://127.0.0.1:${port}`]
  return { urls, stream: name, subject: `${name}.>`, durable: 'paybell', credentials: null }
}

/** The numbers after `index` in what was recorded, in order of arrival. */
function roundsOf({ recorded }: Stage, index: number): number[] {
  return recorded
    .filter((text) => text.startsWith(`${index} `))
    .map((text) => Number(text.split(' ')[1]))
}

function inOrder(numbers: readonly number[]): number[] {
  return numbers.toSorted((one, other) => one - other)
}

interface LossyWay {
  port: number
  /** While true, messages of the server are lost. */
  isLosing: boolean
  /** How many pulls have ended because their time was over. */
  endedPulls: number
  /** While true, it refuses credentials, as a server does that has not read its users yet. */
  isRefusing: boolean
  refusals: number
  cut(): void
  /** Closes it for good. */
  close(): void
}

/** What the server says then. */
const PULL_ENDED = 'NATS/1.0 408'

/** A proxy to the server that can lose messages, as a broken connection does. */
async function startLossyWay(serverPort: number): Promise<LossyWay> {
  const sockets = new Set<Socket>()
  const listener = createServer((socket) => {
    const onward = connectTo(serverPort, '127.0.0.1')
    for (const one of [socket, onward]) {
      sockets.add(one)
      one.on('error', () => {})
      one.on('close', () => {
        sockets.delete(one)
        socket.destroy()
        onward.destroy()
      })
    }
    socket.on('data', (chunk) => {
      if (!way.isRefusing) return void onward.write(chunk)
      way.refusals++
      socket.end("-ERR 'Authorization Violation'\r\n")
    })
    onward.on('data', (chunk) => {
      if (way.isLosing) return
      if (chunk.includes(PULL_ENDED)) way.endedPulls++
      socket.write(chunk)
    })
  }).listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  const close = () => {
    listener.close()
    cut()
  }
  owner.after(close)
  const { port } = listener.address() as AddressInfo
  const way = {
    port,
    isLosing: false,
    endedPulls: 0,
    isRefusing: false,
    refusals: 0,
    cut,
    close,
  }
  return way
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
  )
  for (const index of ids.keys()) {
    const rounds = it.recorded
      .filter((text) => text.startsWith(`${index} `))
      .map((text) => Number(text.slice(2)))
    // A repeat of the latest is harmless; an older one after a newer one would not be.
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
  const away = new ServiceError('database-away', 'Away.')
  let isHanging = true
  const hung: (() => void)[] = []
  const it = await stage(async () => {
    if (isHanging) await new Promise((_, reject) => hung.push(() => reject(away)))
  })
  const way = await startLossyWay(server.port)
  const dead = it.source({ settings: settingsOf(it, way.port) })
  owner.after(() => hung.forEach((end) => void end()))
  await it.publish(id, 'a')
  await it.publish(id, 'b')
  await until('the first is under way', () => hung.length === 1)
  // It dies: it never acknowledges, and no longer reports that it is working.
  way.close()
  isHanging = false
  const heir = it.source()
  await it.publish(id, 'c')
  await until('all are recorded', () => it.recorded.length === 3)
  assert.deepEqual(it.recorded, ['a', 'b', 'c'])
  await until('all are acknowledged', async () => (await it.open()) === 0)
  await heir.stop()
  for (const end of hung) end()
  await dead.stop()
})

test('regression: 400 messages, 256 of them unacknowledged by a consumer that died, are all taken', {
  skip,
}, async () => {
  const it = await stage()
  const ids = Array.from({ length: 40 }, () => randomUUID())
  await Promise.all(
    Array.from({ length: 400 }, (_, n) => it.publish(ids[n % 40] ?? '', `${n % 40} ${n}`)),
  )
  const dead = await openConsumer(nats, settingsOf(it, server.port), {
    inHandMax: 256,
    ackWaitMs: TIMING.ackWaitMs,
  })
  for (let taken = 0; taken < 256; ) {
    for await (const _ of await dead.fetch({ max_messages: 256 - taken, expires: 1_000 })) taken++
  }
  const source = it.source()
  await until('all are recorded', () => it.recorded.length >= 400).catch(async (error: Error) => {
    const { length } = it.recorded
    throw new Error(`${error.message}: ${length}, ${await it.open()} open\n${it.lines.join('\n')}`)
  })
  await until('all are acknowledged', async () => (await it.open()) === 0)
  for (const index of ids.keys())
    assert.deepEqual(roundsOf(it, index), inOrder(roundsOf(it, index)))
  await source.stop()
})

test('regression: a process that stands still past the ack wait applies nothing a second time after what is younger', {
  skip,
}, async () => {
  // What it had in hand comes a second time. It acknowledges the first copies before it reads the second ones, and
  // reads these together with the confirmations.
  let hasStalled = false
  const it = await stage(async () => {
    await delay(20)
    if (hasStalled || it.recorded.length < 90) return
    hasStalled = true
    setTimeout(() => standStill(TIMING.ackWaitMs + 300))
    for (let moment = 1; moment < 20; moment++) setTimeout(() => standStill(30), moment * 5)
  })
  const ids = Array.from({ length: 40 }, () => randomUUID())
  await Promise.all(
    Array.from({ length: 400 }, (_, n) => it.publish(ids[n % 40] ?? '', `${n % 40} ${n}`)),
  )
  const source = it.source()
  await until('all are recorded', () => new Set(it.recorded).size === 400)
  await until('all are acknowledged', async () => (await it.open()) === 0)
  for (const index of ids.keys())
    assert.deepEqual(roundsOf(it, index), inOrder(roundsOf(it, index)))
  await source.stop()
})

test('regression: 5,000 messages at once are all taken, without one interruption', {
  skip,
}, async () => {
  const warnings: unknown[] = []
  const it = await stage(async () => {
    await delay(5)
  })
  const ids = Array.from({ length: 500 }, () => randomUUID())
  const source = it.source({
    // Where the machine is slow, nothing comes a second time for that.
    timing: { ...TIMING, ackWaitMs: 60_000 },
    log: { info() {}, warn: (fields, message) => void warnings.push({ ...fields, message }) },
  })
  const published = Array.from({ length: 5_000 }, (_, n) =>
    it.publish(ids[n % 500] ?? '', `${n % 500} ${n}`),
  )
  await Promise.all(published)
  await until('all are recorded', () => it.recorded.length >= 5_000)
  await until('all are acknowledged', async () => (await it.open()) === 0)
  assert.equal(it.recorded.length, 5_000)
  assert.deepEqual(warnings, [])
  await source.stop()
})

test('regression: what was on its way when the connection broke comes before what is younger', {
  skip,
}, async () => {
  const it = await stage()
  const id = randomUUID()
  const way = await startLossyWay(server.port)
  const source = it.source({ settings: settingsOf(it, way.port) })
  await it.publish(id, 'first')
  await until('the source consumes', () => it.recorded.length === 1)
  const manager = await jetstreamManager(nats)
  const delivered = async () => (await manager.consumers.info(it.name, 'paybell')).num_ack_pending
  await until('the first is acknowledged', async () => (await delivered()) === 0)
  way.isLosing = true
  await it.publish(id, 'second')
  await until('the second is on its way', async () => (await delivered()) === 1)
  way.cut()
  way.isLosing = false
  await it.publish(id, 'third')
  await until('all are recorded', () => it.recorded.length >= 3)
  assert.deepEqual(it.recorded, ['first', 'second', 'third'])
  await source.stop()
})

test('regression: a payment that another transaction holds does not hold up the others', {
  skip,
}, async () => {
  const locked = randomUUID()
  let isLocked = true
  const warnings: unknown[] = []
  const it = await stage(async ({ write }) => {
    if (write.id === locked && isLocked) {
      throw new ServiceError('overloaded', 'Held.', { retryAfterSeconds: 1 })
    }
  })
  const way = await startLossyWay(server.port)
  const source = it.source({
    settings: settingsOf(it, way.port),
    log: { info() {}, warn: (fields, message) => void warnings.push({ ...fields, message }) },
  })
  await it.publish(locked, 'locked 1')
  await it.publish(locked, 'locked 2')
  for (let n = 0; n < 300; n++) await it.publish(randomUUID(), 'stranger')
  await until('all strangers are recorded', () => it.recorded.length === 300)
  // Also when a pull has brought nothing, and only the locked ones are in hand.
  const ended = way.endedPulls
  await until('a pull has brought nothing', () => way.endedPulls > ended)
  await it.publish(randomUUID(), 'stranger')
  await until('another one, too', () => it.recorded.length === 301)
  await until('they are acknowledged', async () => (await it.open()) === 2)
  isLocked = false
  await until('the locked one follows', () => it.recorded.length === 303)
  assert.deepEqual(it.recorded.slice(301), ['locked 1', 'locked 2'])
  assert.deepEqual(warnings, [], 'no session has ended')
  await source.stop()
})

test('one process consumes at a time, and the next takes over', { skip }, async () => {
  const it = await stage()
  let holder: string | null = null
  const takeAs = (name: string) => async () => {
    if (holder !== null) return null
    holder = name
    const release = async () => {
      holder = null
    }
    return { ...RIGHT, release }
  }
  const one = it.source({ takeLease: takeAs('one') })
  await until('the first has it', () => holder === 'one')
  const other = it.source({ takeLease: takeAs('other') })
  assert.ok(!other.isConsuming)
  await it.publish(randomUUID(), 'x')
  await until('it is recorded', () => it.recorded.length === 1)
  await one.stop()
  await until('the other has it', () => holder === 'other')
  await it.publish(randomUUID(), 'y')
  await until('it is recorded, too', () => it.recorded.length === 2)
  await other.stop()
  assert.equal(holder, null)
})

test('regression: one whose lease may be over, by its own clock, records and acknowledges nothing more', {
  skip,
}, async () => {
  const written = Promise.withResolvers<void>()
  let isHeld = true
  let taken = 0
  let submitted = 0
  const it = await stage(() => {
    submitted++
    return written.promise
  })
  const takeLease = async () => (taken++ === 0 ? { ...RIGHT, isHeld: () => isHeld } : null)
  const frozen = it.source({ takeLease })
  const id = randomUUID()
  await it.publish(id, 'under way')
  await it.publish(id, 'behind it')
  await until('the first is being written', () => submitted === 1)
  // It is frozen while the first is written, and another process takes over.
  isHeld = false
  written.resolve()
  await until('its session has ended', () => taken > 1)
  assert.ok(!frozen.isConsuming)
  assert.deepEqual(it.recorded, ['under way'])
  const consumer = await (await jetstreamManager(nats)).consumers.info(it.name, 'paybell')
  assert.equal(consumer.ack_floor.stream_seq, 0, 'nothing was acknowledged')
  await frozen.stop()
})

test('regression: what went to another process in between is applied before what is younger', {
  skip,
}, async () => {
  const it = await stage()
  const warnings: string[] = []
  const log = { info() {}, warn: (fields: object) => void warnings.push(JSON.stringify(fields)) }
  const way = await startLossyWay(server.port)
  const source = it.source({ log, settings: settingsOf(it, way.port) })
  const id = randomUUID()
  await it.publish(id, '0 0')
  await until('it consumes', () => it.recorded.length === 1)
  // A process that was frozen before its pull went out: it gets a message, and hands it back.
  const rival = await jetstream(nats).consumers.get(it.name, 'paybell')
  const pulled = rival.next({ expires: 30_000 })
  const ended = way.endedPulls
  await until('its pull is the first in the line', () => way.endedPulls > ended)
  for (let round = 1; round <= 10; round++) await it.publish(id, `0 ${round}`)
  const stray = (await pulled) ?? assert.fail('it got none')
  stray.nak()
  await until('all are acknowledged', async () => (await it.open()) === 0)
  const rounds = roundsOf(it, 0)
  assert.deepEqual([...new Set(rounds)], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
  assert.deepEqual(rounds, inOrder(rounds))
  assert.ok(
    warnings.some((line) => line.includes('went elsewhere')),
    warnings.join(),
  )
  await source.stop()
})

test('regression: what was acknowledged elsewhere while leftovers were gathered does not stand for one that is missing', {
  skip,
}, async () => {
  const it = await stage()
  const frozen = await openConsumer(nats, settingsOf(it, server.port), {
    inHandMax: 256,
    ackWaitMs: TIMING.ackWaitMs,
  })
  const id = randomUUID()
  for (const round of [1, 2]) await it.publish(id, `0 ${round}`)
  await it.publish(randomUUID(), 'recorded before it froze')
  const messages = await frozen.fetch({ max_messages: 3, expires: 5_000 })
  const all: JsMsg[] = []
  for await (const message of messages) all.push(message)
  // A pull that was under way when it froze is the first in the line: it gets the first one again.
  const stray = frozen.next({ expires: 30_000 })
  const source = it.source()
  assert.equal((await stray)?.seq, 1)
  const manager = await jetstreamManager(nats)
  const delivered = async () => (await manager.consumers.info(it.name, 'paybell')).delivered
  await until('the others are here', async () => (await delivered()).consumer_seq >= 6)
  all[2]?.ack()
  await until('all are acknowledged', async () => (await it.open()) === 0)
  assert.deepEqual([...new Set(roundsOf(it, 0))], [1, 2])
  await source.stop()
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

test('regression: while it waits for leftovers, what is in hand keeps its limit in bytes', {
  skip,
}, async () => {
  const it = await stage()
  const reason = 'x'.repeat(900)
  for (let n = 0; n < 40; n++) {
    await it.publish(randomUUID(), `${n}`, { status: { state: 'DUE', reason } })
  }
  const dead = await openConsumer(nats, settingsOf(it, server.port), {
    inHandMax: 256,
    ackWaitMs: TIMING.ackWaitMs,
  })
  assert.equal((await dead.next({ expires: 1_000 }))?.seq, 1)
  const source = it.source({ inHandBytesMax: 10_000 })
  const manager = await jetstreamManager(nats)
  let delivered = 0
  await until('all are recorded', async () => {
    if (it.recorded.length > 0) return it.recorded.length === 40
    const { num_ack_pending: now } = await manager.consumers.info(it.name, 'paybell')
    delivered = Math.max(delivered, now)
    return false
  })
  assert.ok(delivered > 1 && delivered <= 9, `${delivered}`)
  await source.stop()
})

test('a source that stops hands back what it has not begun: the next finds it at once', {
  skip,
}, async () => {
  const held: (() => void)[] = []
  const it = await stage(() => new Promise<void>((resolve) => held.push(resolve)))
  const id = randomUUID()
  for (const reference of ['a', 'b', 'c']) await it.publish(id, reference)
  const source = it.source({ timing: { ...TIMING, ackWaitMs: 600_000 } })
  await until('the first is under way', () => held.length === 1)
  // What is still on its way to a source that stops comes again only when the broker has waited for its answer.
  const manager = await jetstreamManager(nats)
  await until('all are in hand', async () => {
    return (await manager.consumers.info(it.name, 'paybell')).num_ack_pending === 3
  })
  const stopped = source.stop()
  held[0]?.()
  await stopped
  assert.deepEqual(it.recorded, ['a'])
  const next = it.source({
    timing: { ...TIMING, ackWaitMs: 600_000 },
    gatherer: {
      async submit({ write }) {
        it.recorded.push(write.reference)
        return {} as RecordedPayment
      },
    },
  })
  await until('the others follow', () => it.recorded.length === 3)
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
  await until('it is recorded, too', () => it.recorded.includes('after'))
  await source.stop()
})

test('regression: a broker that refuses the credentials for a while is found again', {
  skip,
}, async () => {
  const it = await stage()
  const way = await startLossyWay(server.port)
  const warnings: string[] = []
  const source = it.source({
    settings: settingsOf(it, way.port),
    log: {
      info() {},
      warn: (fields) => void warnings.push((fields as { error: string }).error),
    },
  })
  await it.publish(randomUUID(), 'before')
  await until('it is recorded', () => it.recorded.length === 1)
  way.isRefusing = true
  way.cut()
  // The driver gives up after the second refusal.
  await until('it was refused again', () => way.refusals > 3)
  assert.ok(warnings.includes('Authorization Violation'), warnings.join(', '))
  way.isRefusing = false
  await it.publish(randomUUID(), 'after')
  await until('it is recorded, too', () => it.recorded.includes('after'))
  await source.stop()
})

test('a source whose broker was never there stops at once', { skip: false }, async () => {
  const source = createNatsSource({
    settings: {
      urls: ['nats://127.0.0.1:9'],
      stream: 's',
      subject: 's.>',
      durable: 'd',
      credentials: null,
    },
    gatherer: { submit: () => Promise.reject(new Error('nothing comes')) },
    takeLease: async () => RIGHT,
    log: { info() {}, warn() {} },
    timing: TIMING,
  })
  source.start()
  await delay(100)
  await endsWithin(2_000, () => source.stop())
})

/** As a machine that is overloaded does: nothing is read, and no message is reported as being worked on. */
function standStill(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}
