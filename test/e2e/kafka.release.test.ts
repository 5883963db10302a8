// Payments through a real Kafka into the whole service, as several processes: recorded, delivered, put aside; a process that
// is frozen while its partitions move, and then wakes up; and the processes of one command, killed and replaced.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Pool } from 'pg'
import { parseMetrics } from '../deploy/scrape.ts'
import { freePort } from '../support/free-port.ts'
import { startKafka } from '../support/kafka-cluster.ts'
import { KafkaFeed } from '../support/kafka-feed.ts'
import { findKafka } from '../support/kafka-jars.ts'
import { startPaybell, until } from '../support/paybell.ts'
import { readCertificate } from '../support/raw-receiver.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { linesOf, startServe, untilReady, untilServed } from '../support/served.ts'

const kafka = await findKafka()
const skip = 'missing' in kafka ? kafka.missing : false
if (skip) console.log(`skipped: ${skip}`)

const LONG_MS = 90_000
/** Between two rounds of a feed that goes on meanwhile: it leaves the processors to what it feeds. */
const ROUND_PAUSE_MS = 50
const CA_FILE = fileURLToPath(new URL('../support/certificates/ca.pem', import.meta.url))

/** A broker, a topic with a feed, a receiver, and the settings: `trust` of every process, as any may have the endpoint's
 *  shard, and `source` of those that take payments from the topic. */
async function prepare(t: TestContext, classPath: string) {
  const [broker] = await startKafka(t, classPath)
  assert.ok(broker)
  const feed = await KafkaFeed.open(t, [broker.address], { payments: 12, partitions: 4 })
  const trust = { PAYBELL_ALLOWED_NETWORKS: '127.0.0.0/8', PAYBELL_EXTRA_CA_FILE: CA_FILE }
  const source = {
    PAYBELL_KAFKA_BROKERS: broker.address,
    PAYBELL_KAFKA_TOPIC: feed.topic,
    PAYBELL_KAFKA_GROUP: feed.group,
  }
  const tls = { key: readCertificate('server.key'), cert: readCertificate('good.pem') }
  return { feed, trust, source, receiver: await startReceiver(t, tls) }
}

function untilRecorded(pool: Pool, feed: KafkaFeed, when: string): Promise<unknown> {
  return until(
    `all is recorded ${when}`,
    async () => {
      const { rows } = await pool.query<{ count: number }>(
        `select count(*)::int from payments where text::json ->> 'reference' = $1`,
        [`update ${feed.round}`],
      )
      return rows[0]?.count === feed.ids.length
    },
    LONG_MS,
  )
}

/** Every update of every payment once, in order, and all of them at the receiver. */
async function assertWhole(pool: Pool, feed: KafkaFeed, receiver: Receiver): Promise<void> {
  const { rows } = await pool.query<{ references: string[] }>(
    `select array_agg(text::json ->> 'reference' order by sequence) as references
     from events group by payment_id`,
  )
  const expected = Array.from({ length: feed.round }, (_, index) => `update ${index + 1}`)
  assert.equal(rows.length, feed.ids.length)
  for (const { references } of rows) assert.deepEqual(references, expected)
  // What one that was frozen or killed had under way comes twice.
  await receiver.hasSeen(
    ({ accepted }) =>
      new Set(accepted.map(({ headers }) => headers['webhook-id'])).size ===
      feed.ids.length * feed.round,
  )
}

async function figureOf(url: string, name: string): Promise<number> {
  const series = parseMetrics(await (await fetch(`${url}/metrics`)).text())
  return series.find((one) => one.name === name)?.value ?? assert.fail(`${name} is not there`)
}

async function publish(feed: KafkaFeed, rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round++) await feed.publishRound()
}

test('a frozen process is replaced; when it wakes up it neither records nor commits for what has moved', {
  skip,
}, async (t) => {
  if ('missing' in kafka) return
  const { feed, trust, source, receiver } = await prepare(t, kafka.classPath)
  const env = { ...trust, ...source }
  const paybell = await startPaybell(t, { env })
  feed.accountId = paybell.accountId
  await paybell.caller.register(receiver.url(), 'key')
  const frozen = startServe(t, paybell.database, {
    ...env,
    PAYBELL_MASTER_KEY: paybell.masterKey.toString('base64'),
  })
  await untilServed(frozen)
  await frozen.hasPrinted(/"msg":"kafka\.consuming"/, LONG_MS)

  await publish(feed, 20)
  frozen.process.kill('SIGSTOP')
  await publish(feed, 20)
  await untilRecorded(paybell.pool, feed, 'while one is frozen')
  await until('all is committed', async () => {
    return (await figureOf(paybell.baseUrl, 'paybell_kafka_lag_records')) === 0
  })
  const committed = await feed.committed()
  frozen.process.kill('SIGCONT')
  await frozen.hasPrinted(/"msg":"kafka\.consuming".*"msg":"kafka\.consuming"/s, LONG_MS)
  const afterwards = await feed.committed()
  assert.deepEqual(afterwards, committed, 'it has set no offset back, and none on')
  await feed.send([{ topic: feed.topic, key: Buffer.from('tombstone') }])
  await publish(feed, 20)
  await untilRecorded(paybell.pool, feed, 'after it has woken up')

  await assertWhole(paybell.pool, feed, receiver)
  const letters = await feed.letters(1)
  assert.equal(letters[0]?.headers.get('Paybell-Code'), 'malformed-json')
  frozen.process.kill('SIGTERM')
  await frozen.ended
})

test('two processes of one command share the partitions, while one is killed and both are replaced', {
  skip,
}, async (t) => {
  if ('missing' in kafka) return
  const { feed, trust, source, receiver } = await prepare(t, kafka.classPath)
  // Takes nothing from Kafka: it is here for the client.
  const paybell = await startPaybell(t, { env: trust })
  feed.accountId = paybell.accountId
  await paybell.caller.register(receiver.url(), 'key')
  const operatorPort = await freePort()
  const served = startServe(
    t,
    paybell.database,
    {
      ...trust,
      ...source,
      PAYBELL_MASTER_KEY: paybell.masterKey.toString('base64'),
      PAYBELL_OPERATOR_PORT: `${operatorPort}`,
      PAYBELL_DRAIN_SECONDS: '1',
    },
    ['--processes', '2'],
  )
  const operatorUrl = `http://127.0.0.1:${operatorPort}`
  const [first, second] = await untilReady(served, 2)
  assert.ok(first && second)
  const untilShared = (pids: readonly number[]) =>
    until(
      'each has partitions, and none is without',
      () => {
        const lines = linesOf(served, 'kafka.consuming')
        const latest = pids.map((pid) => lines.findLast((line) => line.pid === pid)?.partitions)
        return latest.flat().toSorted().join() === '0,1,2,3' && latest.every((own) => own?.length)
      },
      LONG_MS,
    )
  await untilShared([first.pid, second.pid])

  const stopped = new AbortController()
  t.after(() => stopped.abort())
  const publishing = (async () => {
    while (!stopped.signal.aborted) {
      await publish(feed, 1)
      await delay(ROUND_PAUSE_MS)
    }
  })()
  await until('some rounds are published', () => feed.round > 20)
  process.kill(second.pid, 'SIGKILL')
  const [, , third] = await untilReady(served, 3)
  assert.ok(third)
  await untilShared([first.pid, third.pid])
  served.process.kill('SIGHUP')
  await served.hasPrinted(/"processes\.(not-)?replaced"/, LONG_MS)
  assert.equal(linesOf(served, 'processes.replaced').length, 1, served.stdout())
  const replaced = await untilReady(served, 5)
  await untilShared(replaced.slice(3).map(({ pid }) => pid))
  stopped.abort()
  await publishing

  await untilRecorded(paybell.pool, feed, 'whoever read it')
  await assertWhole(paybell.pool, feed, receiver)
  await until('all is committed, as the operator’s port says for both', async () => {
    return (await figureOf(operatorUrl, 'paybell_kafka_lag_records')) === 0
  })
  assert.equal((await fetch(`${first.baseUrl}/metrics`)).status, 404)
  served.process.kill('SIGTERM')
  const { code, stderr } = await served.ended
  assert.deepEqual([code, stderr], [0, ''])
  assert.equal(await feed.members(), 0, 'none stays in the group')
})
