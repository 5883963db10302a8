// Payments through a real Kafka into the whole service, as several processes: recorded, delivered, put aside; and a
// process that is frozen while its partitions move, and then wakes up.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { parseMetrics } from '../deploy/scrape.ts'
import { startKafka } from '../support/kafka-cluster.ts'
import { KafkaFeed } from '../support/kafka-feed.ts'
import { findKafka } from '../support/kafka-jars.ts'
import { startPaybell, until } from '../support/paybell.ts'
import { readCertificate } from '../support/raw-receiver.ts'
import { startReceiver } from '../support/receiver.ts'
import { startServe, untilServed } from '../support/served.ts'

const kafka = await findKafka()
const skip = 'missing' in kafka ? kafka.missing : false
if (skip) console.log(`skipped: ${skip}`)

const LONG_MS = 90_000
const CA_FILE = fileURLToPath(new URL('../support/certificates/ca.pem', import.meta.url))

test('a frozen process is replaced; when it wakes up it neither records nor commits for what has moved', {
  skip,
}, async (t) => {
  if ('missing' in kafka) return
  const [broker] = await startKafka(t, kafka.classPath)
  assert.ok(broker)
  const feed = await KafkaFeed.open(t, [broker.address], { payments: 12, partitions: 4 })
  const env = {
    PAYBELL_KAFKA_BROKERS: broker.address,
    PAYBELL_KAFKA_TOPIC: feed.topic,
    PAYBELL_KAFKA_GROUP: feed.group,
    // Either of the two may have the endpoint's shard, and one runs as in production.
    PAYBELL_ALLOWED_NETWORKS: '127.0.0.0/8',
    PAYBELL_EXTRA_CA_FILE: CA_FILE,
  }
  const tls = { key: readCertificate('server.key'), cert: readCertificate('good.pem') }
  const receiver = await startReceiver(t, tls)
  const paybell = await startPaybell(t, { env })
  feed.accountId = paybell.accountId
  await paybell.caller.register(receiver.url(), 'key')
  const frozen = startServe(t, paybell.database, {
    ...env,
    PAYBELL_MASTER_KEY: paybell.masterKey.toString('base64'),
  })
  await untilServed(frozen)
  await frozen.hasPrinted(/"msg":"kafka\.consuming"/, LONG_MS)
  const figure = async (name: string) => {
    const series = parseMetrics(await (await fetch(`${paybell.baseUrl}/metrics`)).text())
    return series.filter((one) => one.name === name).map(({ value }) => value)
  }
  const untilRecorded = (when: string) =>
    until(
      `all is recorded ${when}`,
      async () => {
        const { rows } = await paybell.pool.query<{ count: number }>(
          `select count(*)::int from payments where text::json ->> 'reference' = $1`,
          [`update ${feed.round}`],
        )
        return rows[0]?.count === feed.ids.length
      },
      LONG_MS,
    )
  const publish = async (rounds: number) => {
    for (let round = 0; round < rounds; round++) await feed.publishRound()
  }

  await publish(20)
  frozen.process.kill('SIGSTOP')
  await publish(20)
  await untilRecorded('while one is frozen')
  await until('all is committed', async () => (await figure('paybell_kafka_lag_records'))[0] === 0)
  const committed = await feed.committed()
  frozen.process.kill('SIGCONT')
  await frozen.hasPrinted(/"msg":"kafka\.consuming".*"msg":"kafka\.consuming"/s, LONG_MS)
  const afterwards = await feed.committed()
  assert.deepEqual(afterwards, committed, 'it has set no offset back, and none on')
  await feed.send([{ topic: feed.topic, key: Buffer.from('tombstone') }])
  await publish(20)
  await untilRecorded('after it has woken up')

  const { rows } = await paybell.pool.query<{ references: string[] }>(
    `select array_agg(text::json ->> 'reference' order by sequence) as references
     from events group by payment_id`,
  )
  const expected = Array.from({ length: feed.round }, (_, index) => `update ${index + 1}`)
  assert.equal(rows.length, feed.ids.length)
  for (const { references } of rows) assert.deepEqual(references, expected)
  // What the frozen one had under way comes twice.
  await receiver.hasSeen(
    ({ accepted }) =>
      new Set(accepted.map(({ headers }) => headers['webhook-id'])).size ===
      feed.ids.length * feed.round,
  )
  const letters = await feed.letters(1)
  assert.equal(letters[0]?.headers.get('Paybell-Code'), 'malformed-json')
  frozen.process.kill('SIGTERM')
  await frozen.ended
})
