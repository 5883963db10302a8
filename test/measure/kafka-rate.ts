// npm run measure:kafka -- [records a second] [seconds]. Publishes payments to a real Kafka at a steady rate, with
// the whole service consuming them and delivering each to a receiver, and prints every few seconds how many wait. 0 records
// a second: all of them are in the topic before the service starts, and it goes as fast as it can.
// Not part of the tests: it takes a minute.

import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { Admin, Producer } from '@platformatic/kafka'
import { pino } from 'pino'
import { createApp } from '../../server/app.ts'
import { loadConfig } from '../../server/config/config.ts'
import { Caller } from '../support/caller.ts'
import { startKafka } from '../support/kafka-cluster.ts'
import { findKafka } from '../support/kafka-jars.ts'
import { readArguments, toSeconds, toWhole } from '../support/number-arguments.ts'
import { collectCleanUps } from '../support/owner.ts'
import { addClient } from '../support/paybell.ts'
import { sampleBody } from '../support/payment-sample.ts'
import { databaseUrl, onServer, startTestServer, TEMPLATE } from '../support/test-server.ts'
import { until } from '../support/until.ts'

const [perSecond, seconds] = readArguments(() => {
  const [rate = '0', length = '30'] = process.argv.slice(2)
  return [toWhole('a second', rate), toSeconds('seconds', length)]
})
const TOPIC = 'paybell.payments'
const TICK_MS = 50
const PAYMENTS = 5_000
/** Of what is published ahead. */
const AHEAD = 30_000

const owner = collectCleanUps()
const kafka = await findKafka()
if ('missing' in kafka) {
  console.log(kafka.missing)
  process.exit(1)
}
try {
  await measure(kafka.classPath)
} finally {
  await owner.cleanUp()
}

async function measure(classPath: string): Promise<void> {
  const server = await startTestServer()
  owner.after(() => server.stop())
  await onServer(server.url, (db) => db.query(`create database measured template ${TEMPLATE}`))
  const receiver = new Worker(new URL('./quick-receiver.ts', import.meta.url))
  owner.after(() => receiver.terminate())
  const [port] = (await once(receiver, 'message')) as [number]
  const [broker] = await startKafka(owner, classPath)
  const address = broker?.address ?? ''
  const client = { clientId: 'measure', bootstrapBrokers: [address] }
  const admin = new Admin(client)
  const producer = new Producer(client)
  owner.after(() => Promise.all([admin.close(), producer.close()]))
  await until('the topic is made', () =>
    admin.createTopics({ topics: [TOPIC], partitions: 6, replicas: 1 }).then(
      () => true,
      () => false,
    ),
  )
  const masterKey = randomBytes(32)
  const operatorKey = randomBytes(32).toString('base64url')
  const appOf = (env: Record<string, string>) =>
    createApp({
      config: loadConfig('sandbox', { PORT: '0', ...env }),
      logger: pino({ level: 'warn' }),
      databaseUrl: databaseUrl(server.url, 'measured'),
      masterKeys: [masterKey],
      operatorKey,
    })
  const setUp = appOf({})
  await setUp.start()
  const facts = await addClient({ app: setUp, operatorKey }, 'Measured')
  await new Caller(facts).addWebhook(`http://127.0.0.1:${port}/`, 'a key of sixteen letters')
  await setUp.stop()

  const ids = Array.from({ length: PAYMENTS }, () => randomUUID())
  let published = 0
  const publish = async (count: number) => {
    const messages = Array.from({ length: count }, () => {
      const id = ids[published % PAYMENTS] as string
      const version = ++published
      const body = { id, accountId: facts.accountId, version, reference: `${version}` }
      const value = sampleBody({ ...body, document: undefined })
      return { topic: TOPIC, key: Buffer.from(id), value }
    })
    if (count > 0) await producer.send({ messages, acks: 1 })
  }
  while (perSecond === 0 && published < AHEAD) await publish(500)

  const app = appOf({ PAYBELL_KAFKA_BROKERS: address })
  await app.start()
  owner.after(() => app.stop())
  const startedAt = performance.now()
  const cpuBefore = process.cpuUsage()
  const elapsed = () => (performance.now() - startedAt) / 1_000
  const count = async (table: string) => {
    const { rows } = await app.deps.pool.query<{ count: number }>(
      `select count(*)::int from ${table}`,
    )
    return rows[0]?.count ?? 0
  }
  let next = 5
  const tell = async (what: string) => {
    const [events, delivered] = [await count('events'), await count('final_deliveries')]
    const rate = (figure: number) => `${figure} (${(figure / elapsed()).toFixed(0)}/s)`
    console.log(
      `${elapsed().toFixed(1)} s ${what}: published ${published}, recorded ${rate(events)}, delivered ${rate(delivered)}`,
    )
    return { events, delivered }
  }
  while (perSecond > 0 && elapsed() < seconds) {
    await publish(Math.max(0, Math.floor(elapsed() * perSecond) - published))
    await delay(TICK_MS)
    if (elapsed() < next) continue
    next += 5
    await tell('so far')
  }
  for (let events = 0; events < published; await delay(100)) {
    events = await count('events')
    if (elapsed() < next) continue
    next += 5
    await tell('so far')
  }
  await tell('all are recorded')
  for (let delivered = 0; delivered < published; await delay(100)) {
    delivered = await count('final_deliveries')
  }
  await tell('all are delivered')
  const { user, system } = process.cpuUsage(cpuBefore)
  console.log(
    `CPU of this process, receiver included: ${((user + system) / published).toFixed(0)} µs a record`,
  )
}
