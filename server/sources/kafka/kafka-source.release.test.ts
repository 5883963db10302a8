// The source against a real Kafka of three brokers: killed, without a leader, rebalanced, with records of every kind.

import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { tracingChannel } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { after, before, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { findErrorBy } from '@platformatic/kafka'
import { type KafkaBrokerProcess, startKafka } from '../../../test/support/kafka-cluster.ts'
import { KAFKA_TIMING, KafkaFeed } from '../../../test/support/kafka-feed.ts'
import { findKafka } from '../../../test/support/kafka-jars.ts'
import { collectCleanUps } from '../../../test/support/owner.ts'
import { until } from '../../../test/support/until.ts'

const kafka = await findKafka()
const skip = 'missing' in kafka ? kafka.missing : false
if (skip) console.log(`skipped: ${skip}`)

const ROUNDS = 30
const LONG_MS = 90_000
/** A producer that runs ahead while brokers are away leaves more than is applied in minutes. */
const ROUNDS_AHEAD_MAX = 20

let brokers: readonly KafkaBrokerProcess[] = []
const owner = collectCleanUps()
before(async () => {
  if ('missing' in kafka) return
  brokers = await startKafka(owner, kafka.classPath, { count: 3 })
})
after(() => owner.cleanUp())

const open = (options: Parameters<typeof KafkaFeed.open>[2] = {}) =>
  KafkaFeed.open(
    owner,
    brokers.map(({ address }) => address),
    options,
  )

/** Feeds rounds, with poison in each, while `trouble` happens, and checks that nothing came of it. */
async function feedThrough(feed: KafkaFeed, trouble: () => Promise<void>): Promise<void> {
  let isOver = false
  const troubled = trouble().finally(() => {
    isOver = true
  })
  for (let round = 0; round < ROUNDS || !isOver; round++) {
    await feed.publishRound({ hasPoison: true })
    const isNear = () => isOver || feed.roundsAhead <= ROUNDS_AHEAD_MAX
    await until('the updates are applied, but for the latest', isNear, LONG_MS)
  }
  await troubled
  await feed.publishRound({ hasPoison: true })
  await feed.untilApplied()
  feed.assertWhole()
  await feed.assertPutAside(feed.round)
}

test('records are applied and committed; what can never be is in the dead letters, whole', {
  skip,
}, async () => {
  const feed = await open()
  const outcomes: string[] = []
  const source = feed.source({ onRecord: (outcome) => void outcomes.push(outcome) })
  await feed.publishRound()
  const traced = new Map([[Buffer.from('trace'), Buffer.from('a trace')]])
  const poison = feed.body({ id: randomUUID(), quoteId: 'x' })
  await feed.send([
    { topic: feed.topic, key: Buffer.from('poison'), value: poison, headers: traced },
    { topic: feed.topic, key: Buffer.from('tombstone') },
    { topic: feed.topic, key: Buffer.from('no json'), value: Buffer.from('{') },
  ])
  await feed.publishRound()
  await feed.untilApplied()
  feed.assertWhole()
  const letters = new Map((await feed.letters(3)).map((letter) => [letter.key, letter]))
  assert.deepEqual([...letters.keys()].toSorted(), ['no json', 'poison', 'tombstone'])
  assert.deepEqual(letters.get('poison')?.value, poison)
  assert.equal(letters.get('poison')?.headers.get('trace'), 'a trace')
  assert.equal(letters.get('poison')?.headers.get('Paybell-Code'), 'invalid-fields')
  assert.match(letters.get('poison')?.headers.get('Paybell-Problem') ?? '', /\/quoteId/)
  assert.equal(letters.get('poison')?.headers.get('Paybell-Topic'), feed.topic)
  assert.match(letters.get('poison')?.headers.get('Paybell-Offset') ?? '', /^\d+$/)
  assert.equal(letters.get('tombstone')?.value, null)
  assert.match(letters.get('tombstone')?.headers.get('Paybell-Problem') ?? '', /tombstone/)
  await until('everything is committed', () => source.lag === 0)
  const counted = () => outcomes.filter((outcome) => outcome === 'dead-lettered').length
  await until('the letters are counted', () => counted() === 3)
  await source.stop()
  assert.deepEqual(await feed.committed(), await feed.ends(), 'at the stop, all of it')
})

test('a second and a third process join and leave: nothing is lost, inverted or doubled', {
  skip,
}, async () => {
  const feed = await open()
  const first = feed.source()
  await feedThrough(feed, async () => {
    await until('the first consumes', () => first.isConsuming, LONG_MS)
    const second = feed.source()
    await until('both consume', () => first.isConsuming && second.isConsuming, LONG_MS)
    const third = feed.source()
    const all = [first, second, third]
    await until('all consume', () => all.every((source) => source.isConsuming), LONG_MS)
    await first.stop()
    await until('two go on', () => second.isConsuming && third.isConsuming, LONG_MS)
    await third.stop()
    await until('one goes on', () => second.isConsuming, LONG_MS)
  })
})

test('members of one group that read other topics have partitions of their own each', {
  skip,
}, async () => {
  const [feed, other] = [await open(), await open()]
  const client = { brokers: brokers.map(({ address }) => address), tls: null, sasl: null }
  const first = feed.source()
  await until('the first consumes', () => first.isConsuming, LONG_MS)
  const second = other.source({ settings: { ...client, topic: other.topic, group: feed.group } })
  const third = feed.source()
  const all = [first, second, third]
  await until('all consume', () => all.every((source) => source.isConsuming), LONG_MS)
  for (const one of [feed, other]) await one.publishRound()
  for (const one of [feed, other]) await one.untilApplied()
  // The leader goes, and another shares out.
  await first.stop()
  for (const one of [feed, other]) await one.publishRound()
  for (const one of [feed, other]) await one.untilApplied()
  for (const one of [feed, other]) one.assertWhole()
  await Promise.all([second.stop(), third.stop()])
})

test('a process that leaves while it joins does not beat afterwards', { skip }, async () => {
  const feed = await open()
  const first = feed.source()
  await until('the first consumes', () => first.isConsuming, LONG_MS)
  const beats: unknown[] = []
  listenTo('heartbeat', ({ client }) => beats.push(client))
  const second = feed.source()
  let leaving: unknown = null
  let stopped: Promise<void> | null = null
  listenTo('group', ({ client, operation }) => {
    if (stopped !== null || operation !== 'syncGroup' || beats.includes(client)) return
    leaving = client
    stopped = second.stop()
  })
  await until('the second is given its partitions', () => stopped !== null, LONG_MS)
  await stopped
  const beatsAtStop = beats.length
  await until('the first beats on', () => beats.length >= beatsAtStop + 10, LONG_MS)
  assert.equal(beats.slice(beatsAtStop).includes(leaving), false)
})

/** What the library tells of its clients. */
function listenTo(
  what: 'group' | 'heartbeat',
  hear: (context: { client: unknown; operation: string }) => unknown,
): void {
  const heard = { start: hear as (context: object) => void }
  const channel = tracingChannel(`plt:kafka:consumer:${what}`)
  channel.subscribe(heard as never)
  owner.after(() => void channel.unsubscribe(heard as never))
}

test('brokers killed one after the other, leaders and coordinators among them, cost only time', {
  skip,
}, async () => {
  const feed = await open()
  const sources = [feed.source(), feed.source()]
  await feedThrough(feed, async () => {
    await until('both consume', () => sources.every((source) => source.isConsuming), LONG_MS)
    for (const broker of brokers) {
      await broker.stop('SIGKILL')
      const { applied } = feed
      const counted = () => [...applied.values()].reduce((sum, { length }) => sum + length, 0)
      const before = counted()
      // The others lead its partitions now.
      await until('records come through', () => counted() > before + 100, LONG_MS)
      broker.start()
      await until('it is back', () => broker.isListening(), LONG_MS)
      await until('it is in sync', () => isInSync(feed), LONG_MS)
    }
  })
  // One that was given up and could not leave would hold partitions that are not read.
  const isAlone = async () => (await feed.members()) === sources.length
  await until('no member is left behind', isAlone, LONG_MS)
  await Promise.all(sources.map((source) => source.stop()))
})

test('all brokers away: the source says so, and goes on when they are back', { skip }, async () => {
  const feed = await open()
  const source = feed.source()
  await feed.publishRound()
  await feed.untilApplied()
  await Promise.all(brokers.map((broker) => broker.stop('SIGKILL')))
  await until('it no longer consumes', () => !source.isConsuming, LONG_MS)
  await until(
    'it says why',
    () => feed.warnings.some((text) => text.startsWith('kafka.interrupted')),
    LONG_MS,
  )
  for (const broker of brokers) broker.start()
  await feed.publishRound()
  await feed.untilApplied()
  feed.assertWhole()
  await source.stop()
})

test('a broker that accepts connections and says nothing is gone by, also where it is the first one', {
  skip,
}, async () => {
  const silent = createServer()
  silent.listen(0, '127.0.0.1')
  await once(silent, 'listening')
  owner.after(() => void silent.close())
  const feed = await open()
  const { port } = silent.address() as AddressInfo
  const settings = {
    brokers: [`127.0.0.1:${port}`, ...brokers.map(({ address }) => address)],
    ...{ topic: feed.topic, group: feed.group, tls: null, sasl: null },
  }
  const source = feed.source({ settings })
  await until('it consumes', () => source.isConsuming, LONG_MS)
  await feed.publishRound()
  await feed.untilApplied()
  feed.assertWhole()
})

test('partitions without a leader at the start: the others are read, and they when their broker is back', {
  skip,
}, async () => {
  const feed = await open({ replicas: 1, hasVersions: true, payments: 60 })
  await feed.publishRound()
  const away = brokers[0] as KafkaBrokerProcess
  const { topics } = await feed.admin.metadata({ topics: [feed.topic], forceUpdate: true })
  const isAway = (partition: number) =>
    topics.get(feed.topic)?.partitions[partition]?.leader === away.id
  const led = (await feed.ends()).map((end, partition) => (isAway(partition) ? 0 : end))
  await away.stop('SIGKILL')
  // Only then nobody leads them: before, a start would still find them led by it.
  await until('the others miss it', () => isLeaderless(feed), LONG_MS)
  const source = feed.source()
  const isRead = async () => isDeepStrictEqual(await feed.committed(), led)
  await until('the others are read', isRead, LONG_MS)
  assert.ok(feed.roundsAhead > 0 && source.isConsuming)
  assert.ok(feed.warnings.some((text) => text.startsWith('kafka.no-leader')))
  away.start()
  await feed.untilApplied()
  feed.assertWhole()
  await source.stop()
})

test('records of 10 MiB are taken, and put aside, whole or with what leads to them', {
  skip,
}, async () => {
  const feed = await open({ configs: { 'max.message.bytes': '20971520' } })
  const source = feed.source()
  const id = randomUUID()
  const file = { base64EncodedFile: randomBytes(10 * 1_024 * 1_024).toString('base64') }
  const document = { mediaType: 'application/pdf', name: 'large.pdf', ...file }
  const large = feed.body({ id, version: 1, document })
  await feed.send([{ topic: feed.topic, key: Buffer.from(id), value: large }])
  await until('it is applied', () => feed.applied.get(id)?.length === 1, LONG_MS)
  const poison = feed.body({ id: randomUUID(), quoteId: 'x', document })
  await feed.send([{ topic: feed.topic, key: Buffer.from('large'), value: poison }])
  const [whole] = await feed.letters(1)
  assert.ok(whole?.value?.equals(poison))
  const configs = [{ name: 'max.message.bytes', value: '1048576', configOperation: 0 }]
  const dead = { resourceType: 2, resourceName: `${feed.topic}.dead`, configs }
  await feed.admin.incrementalAlterConfigs({ resources: [dead] } as never)
  await feed.send([{ topic: feed.topic, key: Buffer.from('too large'), value: poison }])
  const letters = await feed.letters(2)
  const left = letters.find(({ key }) => key === 'too large')
  assert.equal(left?.value, null)
  assert.equal(left?.headers.get('Paybell-Body'), 'left-out')
  const trace = new Map([[Buffer.from('trace'), Buffer.alloc(2 * 1_024 * 1_024)]])
  const small = feed.body({ id: randomUUID(), quoteId: 'x' })
  const key = Buffer.alloc(1_000, 'k')
  await feed.send([{ topic: feed.topic, key: Buffer.from('traced'), value: small, headers: trace }])
  await feed.send([{ topic: feed.topic, key, value: small }])
  const all = await feed.letters(4)
  const traced = all.find((letter) => letter.key === 'traced')
  assert.deepEqual(traced?.value, small)
  assert.equal(traced?.headers.get('Paybell-Headers'), 'left-out')
  assert.equal(traced?.headers.get('trace'), undefined)
  const cut = all.find((letter) => letter.headers.get('Paybell-Key') === 'cut')
  assert.match(cut?.key ?? '', /^k{256}$/)
  await source.stop()
})

test('offsets that are reset by hand are gone by: back changes nothing twice, beyond the end says so', {
  skip,
}, async () => {
  // Without a version, what is read again is a change.
  const feed = await open({ hasVersions: true })
  const first = feed.source()
  for (let round = 0; round < 5; round++) await feed.publishRound()
  await feed.untilApplied()
  await until('all is committed', () => first.lag === 0)
  await first.stop()
  const ends = await feed.committed()
  const reset = (offset: (end: number) => number) =>
    until(
      'the group is empty, and its offsets are set',
      () =>
        feed.admin
          .alterConsumerGroupOffsets({
            groupId: feed.group,
            topics: [
              {
                name: feed.topic,
                partitionOffsets: ends.map((end, partition) => ({
                  partition,
                  offset: BigInt(offset(end)),
                })),
              },
            ],
          })
          .then(
            () => true,
            () => false,
          ),
      LONG_MS,
    )
  await reset(() => 0)
  let repeated = 0
  const second = feed.source({ onRecord: () => void repeated++ })
  await until('all were read again', () => repeated >= 100, LONG_MS)
  feed.assertWhole()
  await until('all is committed again', () => second.lag === 0)
  await second.stop()
  await reset((end) => end + 1_000)
  const third = feed.source()
  await until(
    'it says so',
    () => feed.warnings.some((text) => text.startsWith('kafka.records-gone')),
    LONG_MS,
  )
  await feed.publishRound()
  await feed.untilApplied()
  feed.assertWhole()
  await third.stop()
})

test('partitions that are added are shared out', { skip }, async () => {
  const feed = await open({ partitions: 1 })
  const source = feed.source({ timing: { ...KAFKA_TIMING, lookEveryMs: 500 } })
  await feed.publishRound()
  await feed.untilApplied()
  await feed.admin.createPartitions({
    topics: [{ name: feed.topic, count: 4, assignments: null }],
  } as never)
  await until(
    'new records are in new partitions, too',
    async () => {
      await feed.publishRound()
      return (await feed.committed()).filter((offset) => offset > 0).length > 1
    },
    LONG_MS,
  )
  await source.stop()
})

/** The client of the tests takes a partition without a leader for a failure of the whole answer. */
async function isLeaderless(feed: KafkaFeed): Promise<boolean> {
  return feed.admin.metadata({ topics: [feed.topic], forceUpdate: true }).then(
    () => false,
    (error: Error) => findErrorBy(error, 'apiId', 'LEADER_NOT_AVAILABLE') !== null,
  )
}

async function isInSync(feed: KafkaFeed): Promise<boolean> {
  const metadata = await feed.admin
    .metadata({ topics: [feed.topic], forceUpdate: true })
    .catch(() => null)
  const partitions = metadata?.topics.get(feed.topic)?.partitions ?? []
  return partitions.length > 0 && partitions.every(({ isr }) => isr.length === brokers.length)
}
