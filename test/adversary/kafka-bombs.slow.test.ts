// Records that are small on the wire and large when they are decompressed, through a real broker into the whole service: each is
// put aside by its offsets, the next is recorded, and the process neither grows by what they hold nor stands still.

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { inspect } from 'node:util'
import { ProduceAcks, Producer } from '@platformatic/kafka'
import { limitOf } from '../support/busy-machine.ts'
import { startKafka } from '../support/kafka-cluster.ts'
import { KafkaFeed } from '../support/kafka-feed.ts'
import { findKafka } from '../support/kafka-jars.ts'
import { startPaybell, until } from '../support/paybell.ts'
import { startServe, untilServed } from '../support/served.ts'

const kafka = await findKafka()
const skip = 'missing' in kafka ? kafka.missing : false
if (skip) console.log(`skipped: ${skip}`)

const LONG_MS = 180_000
const MB = 1_000_000
/** Beside what is decompressed and thrown away: twice the limit of 64 MiB, and what a service grows by in its first minute. */
const GROWTH_MB_MAX = 250
const LIVEZ_MS_MAX = 1_000

type Compression = 'gzip' | 'snappy' | 'lz4' | 'zstd'

const BOMBS: readonly [name: string, Compression, () => Buffer[]][] = [
  ['zstd, 400 MB', 'zstd', () => [Buffer.alloc(400 * MB)]],
  ['gzip, 200 MB', 'gzip', () => [Buffer.alloc(200 * MB)]],
  ['lz4, 200 MB', 'lz4', () => [Buffer.alloc(200 * MB)]],
  ['snappy, 70 MB', 'snappy', () => [Buffer.alloc(70 * MB)]],
  [
    'zstd, 150,000 empty records',
    'zstd',
    () => Array.from({ length: 150_000 }, () => Buffer.alloc(0)),
  ],
]

async function rssMb(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1_024
}

test('regression: a compressed record of hundreds of MB stops neither its partition nor the service', {
  skip: skip || (process.platform !== 'linux' && 'only Linux says what a process takes'),
}, async (t) => {
  if ('missing' in kafka) return
  const [broker] = await startKafka(t, kafka.classPath)
  assert.ok(broker)
  const feed = await KafkaFeed.open(t, [broker.address], { payments: 3, partitions: 1 })
  const paybell = await startPaybell(t)
  feed.accountId = paybell.accountId
  // Before the service starts: to make them takes this machine some seconds.
  const producer = new Producer({
    ...{
      clientId: 'bombs',
      bootstrapBrokers: [broker.address],
      requestTimeout: LONG_MS,
      retries: 0,
    },
  })
  t.after(() => producer.close())
  for (const [name, compression, make] of BOMBS) {
    const messages = make().map((value) => ({ topic: feed.topic, key: Buffer.from(name), value }))
    const sent = producer.send({ messages, acks: ProduceAcks.ALL, compression })
    await sent.catch((error) => assert.fail(`${name}: ${inspect(error, { depth: 4 })}`))
    await feed.publishRound()
  }
  const served = startServe(t, paybell.database, {
    PAYBELL_MASTER_KEY: paybell.masterKey.toString('base64'),
    PAYBELL_KAFKA_BROKERS: broker.address,
    PAYBELL_KAFKA_TOPIC: feed.topic,
    PAYBELL_KAFKA_GROUP: feed.group,
  })
  const url = await untilServed(served)
  const pid = served.process.pid ?? 0
  const before = await rssMb(pid)
  let [peak, worst, isOver] = [0, 0, false]
  const watching = (async () => {
    while (!isOver) {
      const from = performance.now()
      await (await fetch(`${url}/livez`)).text()
      worst = Math.max(worst, performance.now() - from)
      peak = Math.max(peak, await rssMb(pid))
      await delay(5)
    }
  })()
  await until('all is committed', async () => (await feed.uncommitted()) === 0, LONG_MS)
  isOver = true
  await watching
  t.diagnostic(
    `RSS ${before.toFixed()} → ${peak.toFixed()} MB; /livez ${worst.toFixed()} ms at worst`,
  )

  const letters = await feed.letters(BOMBS.length)
  for (const [index, { value, headers }] of letters.entries()) {
    const [name, compression] = BOMBS[index] ?? []
    assert.equal(headers.get('Paybell-Code'), 'unreadable-batch', name)
    assert.equal(headers.get('Paybell-Codec'), compression, name)
    assert.match(headers.get('Paybell-Problem') ?? '', /more than (64 MiB|100000 records)/, name)
    assert.ok(Number(headers.get('Paybell-Last-Offset')) >= Number(headers.get('Paybell-Offset')))
    assert.equal(value, null)
  }
  const { rows } = await paybell.pool.query<{ references: string[] }>(
    `select array_agg(text::json ->> 'reference' order by sequence) as references
     from events group by payment_id`,
  )
  const expected = BOMBS.map((_, index) => `update ${index + 1}`)
  assert.deepEqual(
    rows.map(({ references }) => references),
    feed.ids.map(() => expected),
  )
  assert.ok(peak - before < GROWTH_MB_MAX, `${before} → ${peak} MB`)
  assert.ok(worst < limitOf(LIVEZ_MS_MAX), `/livez answered after ${worst} ms`)
  served.process.kill('SIGTERM')
  await served.ended
})

test('regression: where the broker closes the connection under a letter, it is put aside without its value', {
  skip,
}, async (t) => {
  if ('missing' in kafka) return
  const properties = { 'socket.request.max.bytes': 3 * MB }
  const [broker] = await startKafka(t, kafka.classPath, { properties })
  assert.ok(broker)
  const feed = await KafkaFeed.open(t, [broker.address], { payments: 2, partitions: 1 })
  const client = { clientId: 'large', bootstrapBrokers: [broker.address], retries: 0 }
  const producer = new Producer(client)
  t.after(() => producer.close())
  // One that a letter could have, and one that was never a payment.
  for (const value of [Buffer.alloc(5 * MB, 'x'), Buffer.alloc(40 * MB)]) {
    const messages = [{ topic: feed.topic, key: Buffer.from(`${value.length}`), value }]
    await producer.send({ messages, acks: ProduceAcks.ALL, compression: 'zstd' })
  }
  await feed.publishRound()
  const source = feed.source()
  await feed.untilApplied()
  const letters = await feed.letters(2)
  const said = letters.map(({ key, value, headers }) => [
    ...[key, value, headers.get('Paybell-Code'), headers.get('Paybell-Body')],
  ])
  assert.deepEqual(said, [
    [`${5 * MB}`, null, 'malformed-json', 'left-out'],
    [`${40 * MB}`, null, 'body-too-large', 'left-out'],
  ])
  // A broker that has just started may not have its coordinator yet.
  assert.deepEqual(
    feed.warnings.filter((text) => /not-read|letter does|closed/i.test(text)),
    [],
  )
  await source.stop()
})
