// The source against logs of a real Kafka that have holes: compacted, and with transactions that were aborted.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { ProduceAcks, Producer } from '@platformatic/kafka'
import { startKafka } from '../../../test/support/kafka-cluster.ts'
import { KafkaFeed } from '../../../test/support/kafka-feed.ts'
import { findKafka } from '../../../test/support/kafka-jars.ts'
import { until } from '../../../test/support/until.ts'

const kafka = await findKafka()
const skip = 'missing' in kafka ? kafka.missing : false
if (skip) console.log(`skipped: ${skip}`)

const COMPACTED = {
  'cleanup.policy': 'compact',
  'segment.ms': '100',
  'min.cleanable.dirty.ratio': '0.01',
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0)

test('holes of compaction and aborted transactions are gone by, tombstones are put aside', {
  skip,
}, async (t) => {
  if ('missing' in kafka) return
  const [broker] = await startKafka(t, kafka.classPath)
  assert.ok(broker)
  const compacted = await KafkaFeed.open(t, [broker.address], {
    ...{ partitions: 2, hasVersions: true, configs: COMPACTED },
  })
  const { topic } = compacted
  const key = Buffer.from(randomUUID())
  await compacted.send([{ topic, key, value: compacted.body({ id: String(key), version: 1 }) }])
  await compacted.send([{ topic, key }])
  await until('most of the log is gone', async () => {
    await compacted.publishRound()
    return (await compacted.remaining()).length * 2 < sum(await compacted.ends())
  })
  let read = 0
  const source = compacted.source({ onRecord: () => void read++ })
  await compacted.publishRound()
  await compacted.untilApplied()
  const [tombstone] = await compacted.letters(1)
  assert.equal(tombstone?.key, String(key))
  assert.match(tombstone?.headers.get('Paybell-Problem') ?? '', /tombstone/)
  await until('all is committed', async () => (await compacted.uncommitted()) === 0)
  await source.stop()
  assert.deepEqual(await compacted.committed(), await compacted.ends())
  const ends = sum(await compacted.ends())
  assert.ok(read < ends, `${read} of ${ends} were there`)
  t.diagnostic(`${read} of ${ends} records were there`)

  const feed = await KafkaFeed.open(t, [broker.address], { partitions: 2 })
  const client = { clientId: 'transactions', bootstrapBrokers: [broker.address] }
  const producer = new Producer({ ...client, idempotent: true, transactionalId: randomUUID() })
  t.after(() => producer.close())
  const record = (id: string) => ({
    ...{ topic: feed.topic, key: Buffer.from(id) },
    value: feed.body({ id, reference: 'update 1' }),
  })
  const ids = { abort: randomUUID(), commit: randomUUID() }
  for (const end of ['abort', 'commit'] as const) {
    const transaction = await producer.beginTransaction()
    await transaction.send({ messages: [record(ids[end])], acks: ProduceAcks.ALL })
    await transaction[end]()
  }
  await feed.publishRound()
  feed.source()
  await feed.untilApplied()
  await until('all is committed', async () => (await feed.uncommitted()) === 0)
  feed.assertWhole()
  assert.deepEqual(feed.applied.get(ids.commit), [1])
  assert.equal(feed.applied.has(ids.abort), false)
})
