// The source while partitions of a real Kafka change their leaders: moved away from a broker that lives, or from one that
// is frozen and goes on. Each round has records that can never be applied.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { alterPartitionReassignmentsV0, Connection } from '@platformatic/kafka'
import { startKafka } from '../../../test/support/kafka-cluster.ts'
import { KafkaFeed } from '../../../test/support/kafka-feed.ts'
import { findKafka } from '../../../test/support/kafka-jars.ts'
import { until } from '../../../test/support/until.ts'

const kafka = await findKafka()
const skip = 'missing' in kafka ? kafka.missing : false
if (skip) console.log(`skipped: ${skip}`)

const LONG_MS = 90_000

test('leaders that are moved, and one that is frozen and goes on, lose and invert nothing, nor a letter', {
  skip,
}, async (t) => {
  if ('missing' in kafka) return
  const brokers = await startKafka(t, kafka.classPath, { count: 3 })
  const addresses = brokers.map(({ address }) => address)
  const feed = await KafkaFeed.open(t, addresses, { partitions: 3 })
  const dead = `${feed.topic}.dead`
  const leaders = async (topic = feed.topic) => {
    const metadata = await feed.admin
      .metadata({ topics: [topic], forceUpdate: true })
      .catch(() => null)
    const partitions = metadata?.topics.get(topic)?.partitions ?? []
    return partitions.map(({ leader, isr }) => ({ leader, isr }))
  }
  const feedUntil = (what: string, fact: () => Promise<boolean>) =>
    until(
      what,
      async () => {
        await feed.publishRound({ hasPoison: true })
        await feed.untilApplied()
        return fact()
      },
      LONG_MS,
    )
  const source = feed.source()
  await feedUntil('it consumes', async () => source.isConsuming)

  const before = await leaders()
  const connection = new Connection('reassigning')
  t.after(() => connection.close())
  const [host = '', port] = addresses[0]?.split(':') ?? []
  await connection.connect(host, Number(port))
  const ids = brokers.map(({ id }) => id)
  const partitions = before.map(({ leader }, partitionIndex) => ({
    partitionIndex,
    replicas: ids.filter((id) => id !== leader),
  }))
  // Of the letters not the first broker, which is never frozen: this test's own clients begin there.
  const ofLetters = [{ partitionIndex: 0, replicas: ids.slice(1) }]
  const topics = [
    { name: feed.topic, partitions },
    { name: dead, partitions: ofLetters },
  ]
  await alterPartitionReassignmentsV0.api.async(connection, 10_000, false, topics)
  await feedUntil('others lead every partition', async () => {
    const now = await leaders()
    return now.length === 3 && now.every((one, index) => one.leader !== before[index]?.leader)
  })
  const back = topics.map((topic) => ({
    ...topic,
    partitions: topic.partitions.map((one) => ({
      ...one,
      replicas: [...one.replicas, ...ids.filter((id) => !one.replicas.includes(id))],
    })),
  }))
  await alterPartitionReassignmentsV0.api.async(connection, 10_000, false, back)
  const all = async () => [...(await leaders()), ...(await leaders(dead))]
  const areInSync = async () => (await all()).filter(({ isr }) => isr.length === 3).length === 4
  await feedUntil('all are in sync again', areInSync)

  const [letters] = await leaders(dead)
  const payments = (await leaders()).findLast(({ leader }) => leader !== brokers[0]?.id)
  for (const led of new Set([letters?.leader, payments?.leader])) {
    const frozen = brokers.find(({ id }) => id === led)
    assert.ok(frozen)
    t.diagnostic(`round ${feed.round}: broker ${led} is frozen`)
    frozen.signal('SIGSTOP')
    await feedUntil('others lead', async () => {
      const now = await all()
      return now.length === 4 && now.every(({ leader }) => leader !== led)
    })
    t.diagnostic(`round ${feed.round}: it goes on`)
    frozen.signal('SIGCONT')
    await feedUntil('it is in sync', areInSync)
  }
  feed.assertWhole()
  await feed.assertPutAside(feed.round)
  t.diagnostic(`${feed.round} rounds of ${feed.ids.length} updates`)
  await source.stop()
})
