// A session against partitions that are lists in memory: what is committed when, what is read again, what ends it.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { batch, encode, fetched, pretend } from '../../../test/support/kafka-batches.ts'
import { sampleBody } from '../../../test/support/payment-sample.ts'
import { until } from '../../../test/support/until.ts'
import { ServiceError } from '../../core/plain/errors.ts'
import type { PaymentChange, RecordedPayment } from '../../operations/accepting/record-payments.ts'
import { OwnFaults } from '../broker/own-faults.ts'
import {
  type FetchRequest,
  KafkaSession,
  type KafkaSessionOptions,
  SessionOver,
} from './kafka-session.ts'

const ACCOUNT = randomUUID()
const TIMING = { restMs: 5, restMsMax: 20, askEveryMs: 5, commitEveryMs: 1 }
const AT_ONCE = 3
const NOBODY = -1

/** A topic of two partitions, led by one broker each, and a session that reads it. */
class Stage {
  readonly logs: (Buffer | null)[][] = [[], []]
  readonly recorded: string[] = []
  readonly aside: string[] = []
  readonly warnings: string[] = []
  readonly committed = [0, 0]
  leaders = [10, 11]
  isHeld = true
  /** Thrown instead of an answer. */
  failures: { fetch?: (node: number) => Error | null; commit?: () => Error | null } = {}
  write: (change: PaymentChange) => Promise<void> = async () => {}
  readonly #underWay: Promise<void>[] = []
  readonly #positions = [0, 0]
  isHasty = false
  /** In place of what is in the logs. */
  batches: ((partition: number, position: bigint) => Buffer[]) | null = null

  /** A version makes it harmless to read a record again. */
  publish(partition: number, id: string, reference: string, version?: number): void {
    const body = { id, reference, accountId: ACCOUNT, document: undefined, version }
    this.logs[partition]?.push(sampleBody(body))
  }

  session(options: Partial<KafkaSessionOptions> = {}): KafkaSession {
    const right = { source: 'test', id: randomUUID(), isHeld: () => this.isHeld }
    const partitions = new Map(this.logs.map((_, partition) => [partition, right]))
    const session = new KafkaSession({
      timing: TIMING,
      ownFaults: new OwnFaults(TIMING),
      partitions,
      log: { info() {}, warn: (_, message) => void this.warnings.push(message) },
      gatherer: {
        submit: async (change) => {
          await this.write(change)
          this.recorded.push(change.write.reference)
          return {} as RecordedPayment
        },
      },
      cluster: {
        findLeaders: async (own) => {
          const leaders = Map.groupBy(own, (partition) => this.leaders[partition] ?? NOBODY)
          leaders.delete(NOBODY)
          return leaders
        },
        findStarts: async (own) => {
          assert.ok(own.every((partition) => this.leaders[partition] !== NOBODY))
          return new Map(
            own.map((partition) => [partition, BigInt(this.committed[partition] ?? 0)]),
          )
        },
        fetch: (request) => this.#fetch(request),
        commit: async (offsets) => {
          const failure = this.failures.commit?.()
          if (failure) throw failure
          for (const [partition, offset] of offsets) this.committed[partition] = Number(offset)
        },
        putAside: async (partition, { offset }, { code }) =>
          void this.aside.push(`${partition}/${offset} ${code}`),
      },
      ...options,
    })
    const running = session.run()
    running.catch(() => {})
    this.#underWay.push(running)
    return session
  }

  /** Where a partition was read last. */
  position(partition: number): number {
    return this.#positions[partition] ?? 0
  }

  end(session: KafkaSession): Promise<Error | null> {
    session.end(null)
    return this.whatEnded()
  }

  /** Of the latest session; null where it was asked to. */
  whatEnded(): Promise<Error | null> {
    return (this.#underWay.at(-1) as Promise<void>).then(
      () => null,
      (error) => error,
    )
  }

  async #fetch({ node, positions, isHasty }: FetchRequest) {
    this.isHasty = isHasty
    await delay(1)
    const failure = this.failures.fetch?.(node)
    if (failure) throw failure
    return [...positions].map(([partition, position]) => {
      this.#positions[partition] = Number(position)
      if (this.batches) return fetched(partition, this.batches(partition, position), 4n)
      assert.equal(this.leaders[partition], node, 'asked of the leader')
      const log = this.logs[partition] ?? []
      const from = Number(position)
      const records = batch(position, log.slice(from, from + AT_ONCE))
      return fetched(partition, from < log.length ? [records] : [], BigInt(log.length))
    })
  }
}

test('everything is recorded in the order of its payment, and committed', async () => {
  const it = new Stage()
  const ids = [randomUUID(), randomUUID()]
  for (let n = 0; n < 40; n++) it.publish(n % 2, ids[n % 2] as string, `${n % 2} ${n}`, n + 1)
  const session = it.session()
  await until('all are committed', () => it.committed.every((offset) => offset === 20))
  assert.equal(session.lag, 0)
  assert.ok(session.isConsuming && session.hasSettled)
  for (const partition of ['0', '1']) {
    const own = it.recorded.filter((text) => text.startsWith(`${partition} `))
    assert.deepEqual(
      own,
      own.toSorted((a, b) => Number(a.slice(2)) - Number(b.slice(2))),
    )
    assert.equal(own.length, 20)
  }
  assert.equal(await it.end(session), null)
})

test('nothing is committed beyond a record that is not on disk; others are recorded meanwhile', async () => {
  const it = new Stage()
  const held = Promise.withResolvers<void>()
  it.write = ({ write }) => (write.reference === 'slow' ? held.promise : Promise.resolve())
  it.publish(0, randomUUID(), 'before', 1)
  it.publish(0, randomUUID(), 'slow', 1)
  for (let n = 0; n < 9; n++) it.publish(0, randomUUID(), `after ${n}`, 1)
  const session = it.session()
  await until('the others are recorded', () => it.recorded.length === 10)
  await until('what is before it is committed', () => it.committed[0] === 1)
  assert.equal(session.lag, 10)
  held.resolve()
  await until('all are committed', () => it.committed[0] === 11)
  await it.end(session)
})

test('without a version the next record of a payment waits for the commit of the one before', async () => {
  const it = new Stage()
  const id = randomUUID()
  let isRefusing = true
  it.failures.commit = () => (isRefusing ? new Error('not now') : null)
  it.publish(0, id, 'a')
  it.publish(0, id, 'b')
  it.publish(0, randomUUID(), 'stranger')
  const session = it.session()
  await until('it was tried', () => it.warnings.includes('kafka.not-committed'))
  await until('the stranger is recorded', () => it.recorded.includes('stranger'))
  assert.ok(!it.recorded.includes('b'))
  isRefusing = false
  await until('it follows', () => it.recorded.includes('b'))
  await it.end(session)
})

test('a poison record and a tombstone are put aside, and their offsets committed', async () => {
  const it = new Stage()
  it.logs[0]?.push(Buffer.from('{'), null)
  it.publish(0, randomUUID(), 'good', 1)
  const session = it.session()
  await until('all are committed', () => it.committed[0] === 3)
  assert.deepEqual(it.aside, ['0/0 malformed-json', '0/1 malformed-json'])
  assert.deepEqual(it.recorded, ['good'])
  await it.end(session)
})

test('regression: a batch that cannot be read is put aside by its offsets, and what follows is recorded', async () => {
  const it = new Stage()
  const large = encode(0n, [{ value: Buffer.alloc(70_000_000) }], { compression: 'zstd' })
  const many = pretend(batch(1n, ['a']), { count: 1_000_000, last: 1 })
  const body = sampleBody({ id: randomUUID(), accountId: ACCOUNT, reference: 'behind', version: 1 })
  it.batches = (partition, position) =>
    partition === 0 && position < 4n ? [large, many, batch(3n, [body])] : []
  const session = it.session()
  await until('all is committed', () => it.committed[0] === 4)
  assert.deepEqual(it.recorded, ['behind'])
  assert.deepEqual(it.aside.toSorted(), ['0/0 unreadable-batch', '0/1 unreadable-batch'])
  assert.equal(session.lag, 4, 'of the other partition, which has said that it has four')
  assert.equal(await it.end(session), null)
})

test('a broker that fails is not waited for: its partitions are read from their new leader', async () => {
  const it = new Stage()
  it.publish(0, randomUUID(), 'a', 1)
  it.publish(1, randomUUID(), 'b', 1)
  it.failures.fetch = (node) => (node === 11 ? new Error('connection refused') : null)
  const session = it.session()
  await until('one is recorded', () => it.recorded.includes('a'))
  await until('the other failed', () => it.warnings.includes('kafka.not-read'))
  it.leaders = [10, 12]
  await until('the other one, too', () => it.recorded.includes('b'))
  assert.deepEqual(it.recorded.toSorted(), ['a', 'b'], 'each once')
  assert.equal(await it.end(session), null)
})

test('partitions without a leader hold up nothing: the others are read, and they as soon as they have one', async () => {
  const it = new Stage()
  it.leaders = [10, NOBODY]
  it.committed[1] = 1
  it.publish(0, randomUUID(), 'a', 1)
  for (const reference of ['committed', 'b', 'c']) it.publish(1, randomUUID(), reference, 1)
  let failures = 0
  const session = it.session({ onBrokerFailure: () => void failures++ })
  await until('the one that is led is read', () => it.committed[0] === 1)
  assert.deepEqual(it.warnings, ['kafka.no-leader'], 'said once')
  await until('counted for as long as it lasts', () => failures > 3)
  for (const leader of [12, NOBODY, 11]) {
    it.leaders = [10, leader]
    it.publish(0, randomUUID(), `beside ${leader}`, 1)
    await until('it is still read', () => it.recorded.includes(`beside ${leader}`))
    if (leader !== NOBODY) {
      await until('the other one, too', () => it.committed[1] === it.logs[1]?.length)
      it.publish(1, randomUUID(), `after ${leader}`, 1)
    }
  }
  await until('all of it', () => it.committed[1] === 5)
  const own = it.recorded.filter((reference) => !/^(a|beside .*)$/.test(reference))
  assert.deepEqual(
    own.toSorted(),
    ['after 11', 'after 12', 'b', 'c'],
    'each once, from the commit on',
  )
  assert.equal(await it.end(session), null)
})

test('while no partition has a leader it says so, and reads when one has', async () => {
  const it = new Stage()
  it.leaders = [NOBODY, NOBODY]
  it.publish(1, randomUUID(), 'a', 1)
  let failures = 0
  const session = it.session({ onBrokerFailure: () => void failures++ })
  await until('it says so', () => it.warnings.length > 2)
  assert.deepEqual(new Set(it.warnings), new Set(['kafka.not-read']))
  assert.equal(failures, it.warnings.length)
  assert.ok(!session.isConsuming, 'as for the alert')
  it.leaders = [NOBODY, 11]
  await until('it is read', () => it.committed[1] === 1)
  assert.ok(session.isConsuming)
  assert.equal(await it.end(session), null)
})

test('a commit that the group refuses ends the session', async () => {
  const it = new Stage()
  it.failures.commit = () => new SessionOver('gone on')
  it.publish(0, randomUUID(), 'a', 1)
  const session = it.session()
  assert.match(String(await it.whatEnded()), /gone on/)
  assert.ok(!session.isConsuming)
  assert.deepEqual(it.committed, [0, 0])
})

test('one whose partitions may have moved reads, records and commits nothing more', async () => {
  const it = new Stage()
  it.publish(0, randomUUID(), 'a', 1)
  const session = it.session()
  await until('it is committed', () => it.committed[0] === 1)
  it.isHeld = false
  it.publish(0, randomUUID(), 'b', 1)
  assert.match(String(await it.whatEnded()), /right to consume/)
  assert.ok(!session.isConsuming)
  assert.deepEqual(it.recorded, ['a'])
  assert.equal(it.committed[0], 1)
})

test('what was not committed is read again by the next session, from there on', async () => {
  const it = new Stage()
  const id = randomUUID()
  for (let n = 1; n <= 6; n++) it.publish(0, id, `${n}`, n)
  let isAway = false
  it.write = async ({ write }) => {
    isAway ||= write.reference === '4'
    if (isAway) throw new ServiceError('database-away', 'Away.')
  }
  it.session()
  assert.match(String(await it.whatEnded()), /Away/)
  assert.equal(it.committed[0], 3, 'and all that is on disk was committed at the end')
  it.write = async () => {}
  const second = it.session()
  await until('all are committed', () => it.committed[0] === 6)
  assert.deepEqual(it.recorded, ['1', '2', '3', '4', '5', '6'])
  await it.end(second)
})

test('while as much is in hand as may be, nothing more is fetched', async () => {
  const it = new Stage()
  const held: (() => void)[] = []
  let most = 0
  it.write = () =>
    new Promise((resolve) => {
      held.push(resolve)
      most = Math.max(most, held.length)
    })
  for (let n = 0; n < 30; n++) it.publish(0, randomUUID(), `${n}`, 1)
  // One of two partitions has half of it.
  const session = it.session({ inHand: { messagesMax: 12 } })
  await until('it is full', () => held.length >= 6)
  await until('all are committed', () => {
    held.shift()?.()
    return it.committed[0] === 30
  })
  assert.ok(most <= 6 + AT_ONCE, `${most} at once`)
  await it.end(session)
})

test('behind a payment that is locked, as much is taken as may be, and other partitions go on', async () => {
  const it = new Stage()
  it.leaders = [10, 10]
  const lock = Promise.withResolvers<void>()
  const locked = randomUUID()
  let tried = 0
  it.write = async ({ write }) => {
    if (write.id !== locked) return
    tried++
    await lock.promise
  }
  for (let n = 0; n < 50; n++) it.publish(0, locked, `locked ${n}`, n + 1)
  const session = it.session({ inHand: { messagesMax: 6 } })
  await until('one is tried', () => tried === 1)
  const id = randomUUID()
  for (let n = 0; n < 50; n++) {
    it.publish(1, id, `other ${n}`)
    await until('it is recorded and committed', () => it.committed[1] === n + 1)
  }
  // Half of 6 is its share, and one answer may bring more.
  assert.ok(it.position(0) < 3 + AT_ONCE, `read up to ${it.position(0)}`)
  assert.equal(tried, 1)
  assert.ok(it.isHasty, 'it may have room before the other one has a record')
  lock.resolve()
  await until('all of it follows', () => it.committed[0] === 50)
  assert.equal(await it.end(session), null)
})

test('regression: behind a payment that is locked, a partition that moves is read from its new leader', async () => {
  const it = new Stage()
  const lock = Promise.withResolvers<void>()
  let tried = 0
  it.write = async ({ write }) => {
    if (write.reference !== 'locked') return
    tried++
    await lock.promise
  }
  for (let n = 0; n < 10; n++) it.publish(0, randomUUID(), 'locked', 1)
  const session = it.session({ inHand: { messagesMax: 6 } })
  await until('the first is full', () => tried === 3)
  it.failures.fetch = (node) => (node === 11 ? new Error('not the leader') : null)
  await until('a broker fails', () => it.warnings.includes('kafka.not-read'))
  it.leaders = [10, 12]
  it.publish(1, randomUUID(), 'moved', 1)
  await until('it is read there', () => it.committed[1] === 1)
  it.leaders = [10, NOBODY]
  it.failures.fetch = (node) => (node === 12 ? new Error('not the leader') : null)
  await until('nobody leads it', () => it.warnings.includes('kafka.no-leader'))
  it.leaders = [10, 11]
  it.publish(1, randomUUID(), 'back', 1)
  await until('it is read again', () => it.committed[1] === 2)
  lock.resolve()
  await until('all of it follows', () => it.committed[0] === 10)
  assert.equal(await it.end(session), null)
})

test('what is recorded and cannot be committed yet is remembered up to a limit', async () => {
  const it = new Stage()
  const lock = Promise.withResolvers<void>()
  it.write = ({ write }) => (write.reference === 'locked' ? lock.promise : Promise.resolve())
  it.publish(0, randomUUID(), 'locked', 1)
  for (let n = 0; n < 60; n++) it.publish(0, randomUUID(), `${n}`, 1)
  const session = it.session({ aheadMax: 20 })
  await until('as many are', () => it.recorded.length >= 19)
  it.publish(1, randomUUID(), 'beside', 1)
  await until('another partition goes on', () => it.committed[1] === 1)
  assert.ok(it.position(0) < 20 + AT_ONCE, `read up to ${it.position(0)}`)
  lock.resolve()
  await until('all of it follows', () => it.committed[0] === 61)
  assert.equal(await it.end(session), null)
})

test('a session that is stopped commits what is on disk', async () => {
  const it = new Stage()
  const written = Promise.withResolvers<void>()
  it.write = () => written.promise
  it.publish(0, randomUUID(), 'under way', 1)
  const session = it.session()
  await until('it is in hand', () => session.lag === 1)
  const ended = it.end(session)
  written.resolve()
  assert.equal(await ended, null)
  assert.equal(it.committed[0], 1)
})
