// A permission of the service's own is taken away while payments come from a broker, and given back: nothing is put aside,
// nothing is lost, and each payment has its updates in order.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import type { Pool } from 'pg'
import { createPool } from '../../server/store/connection/db.ts'
import { grantToAppRole } from '../../server/store/schema/app-role.ts'
import { migrate } from '../../server/store/schema/migrate.ts'
import { parseMetrics } from '../deploy/scrape.ts'
import { startKafka } from '../support/kafka-cluster.ts'
import { KAFKA_TIMING, KafkaFeed } from '../support/kafka-feed.ts'
import { findKafka } from '../support/kafka-jars.ts'
import { findNatsServer, startNatsServer } from '../support/nats-server.ts'
import { startPaybell, until } from '../support/paybell.ts'
import { sampleBody } from '../support/payment-sample.ts'
import { makeRoles } from '../support/roles.ts'

const kafka = await findKafka()
const nats = findNatsServer()
/** More than a record is tried that is put aside. */
const TRIES = 12
const LONG_MS = 120_000

const TIMING = {
  sources: {
    kafka: { ...KAFKA_TIMING, restMs: 20, restMsMax: 200 },
    nats: { ackWaitMs: 4_000, workingEveryMs: 1_000, askEveryMs: 200, restMs: 20, restMsMax: 200 },
  },
}

/** The service under a role that may do what it needs, and what takes that away. */
async function prepare(t: TestContext, broker: 'kafka' | 'nats', env: Record<string, string>) {
  const roles = await makeRoles()
  await migrate(roles.ownerUrl, new Date())
  await grantToAppRole(roles.ownerUrl, roles.app)
  const pool = createPool({
    url: roles.ownerUrl,
    connectionsMax: 2,
    onIdleError: () => {},
    applicationName: 'paybell test',
  })
  const lines: string[] = []
  const paybell = await startPaybell(t, {
    ...{ env, timing: TIMING, log: (line: string) => void lines.push(line) },
    database: { url: roles.appUrl, pool, drop: async () => {} },
  })
  // First the service stops, then its database is dropped.
  t.after(() => pool.end())
  t.after(roles.drop)
  const said = (msg: string) => lines.filter((line) => line.includes(`"${broker}.${msg}"`))
  const figure = async (name: string, label = '') => {
    const text = await (await fetch(`${paybell.baseUrl}/metrics`)).text()
    const own = parseMetrics(text).filter((one) => one.name === name)
    return own.filter((one) => label === '' || Object.values(one.labels).includes(label))[0]?.value
  }
  const revoke = () => pool.query(`revoke insert, update on events from ${roles.app}`)
  const grant = () => pool.query(`grant insert, update on events to ${roles.app}`)
  return { paybell, pool, said, figure, revoke, grant }
}

async function assertWhole(pool: Pool, ids: readonly string[], rounds: number): Promise<void> {
  const { rows } = await pool.query<{ id: string; references: string[] }>(
    `select payment_id as id, array_agg(text::json ->> 'reference' order by sequence) as references
     from events group by payment_id`,
  )
  const expected = Array.from({ length: rounds }, (_, index) => `update ${index + 1}`)
  assert.equal(rows.length, ids.length)
  for (const { references } of rows) assert.deepEqual(references, expected)
}

const countOf = async (pool: Pool) =>
  (await pool.query<{ count: number }>('select count(*)::int from events')).rows[0]?.count

/** `publish` sends a next update of every payment. */
async function revokeAndGrant(
  it: Awaited<ReturnType<typeof prepare>>,
  broker: 'kafka' | 'nats',
  ids: readonly string[],
  publish: (round: number) => Promise<void>,
): Promise<void> {
  const rounds = 6
  const untilRecorded = (count: number) =>
    until(`${count} events`, async () => (await countOf(it.pool)) === count, LONG_MS)
  await publish(1)
  await untilRecorded(ids.length)
  await it.revoke()
  for (const round of [2, 3]) await publish(round)
  await until('it has failed', () => it.said('not-recorded').length > 0, LONG_MS)
  assert.match(
    it.said('not-recorded')[0] ?? '',
    /42501 permission denied for (table|relation) events/,
  )
  for (const round of [4, 5]) await publish(round)
  const before = it.said('interrupted').length
  await until('sessions end', () => it.said('interrupted').length > before + 1, LONG_MS)
  await until('more than enough tries', () => it.said('not-recorded').length > TRIES, LONG_MS)
  assert.equal(it.said('dead-lettered').length, 0)
  const consuming = await it.figure(`paybell_${broker}_consuming`)
  assert.equal(consuming, 0, 'an alert looks at that')
  assert.ok(((await it.figure('paybell_broker_failures_total', broker)) ?? 0) > TRIES)
  assert.equal(await countOf(it.pool), ids.length)
  await it.grant()
  await publish(6)
  await untilRecorded(ids.length * rounds)
  await assertWhole(it.pool, ids, rounds)
  assert.equal(it.said('dead-lettered').length, 0)
}

test('regression: from Kafka: no record is put aside, and all are recorded in order afterwards', {
  skip: 'missing' in kafka ? kafka.missing : false,
}, async (t) => {
  if ('missing' in kafka) return
  const [broker] = await startKafka(t, kafka.classPath)
  assert.ok(broker)
  const feed = await KafkaFeed.open(t, [broker.address], { payments: 30, partitions: 3 })
  const it = await prepare(t, 'kafka', {
    PAYBELL_KAFKA_BROKERS: broker.address,
    PAYBELL_KAFKA_TOPIC: feed.topic,
    PAYBELL_KAFKA_GROUP: feed.group,
  })
  feed.accountId = it.paybell.accountId
  await revokeAndGrant(it, 'kafka', feed.ids, () => feed.publishRound())
  await until('all is committed', async () => (await feed.uncommitted()) === 0, LONG_MS)
  assert.ok(!(await feed.admin.listTopics()).includes(`${feed.topic}.dead`))
  await it.paybell.stop()
})

test('regression: from NATS: no message is put aside, and all are recorded in order afterwards', {
  skip: nats === null ? 'nats-server is not installed' : false,
}, async (t) => {
  const server = await startNatsServer(t, nats ?? '')
  const connection = await connect({ servers: server.url })
  t.after(() => connection.close())
  const manager = await jetstreamManager(connection)
  await manager.streams.add({ name: 'PAYBELL', subjects: ['paybell.payments.>'] })
  const it = await prepare(t, 'nats', { PAYBELL_NATS_URL: server.url })
  const ids = Array.from({ length: 30 }, () => randomUUID())
  await revokeAndGrant(it, 'nats', ids, async (round) => {
    for (const id of ids) {
      const body = sampleBody({ id, version: undefined, reference: `update ${round}` })
      await jetstream(connection).publish(`paybell.payments.${it.paybell.accountId}`, body)
    }
  })
  await until('all are acknowledged', async () => {
    const info = await manager.consumers.info('PAYBELL', 'paybell')
    return info.num_ack_pending + info.num_pending === 0
  })
  const names = await Array.fromAsync(manager.streams.list(), ({ config }) => config.name)
  assert.deepEqual(names, ['PAYBELL'], 'no stream of dead letters was needed')
  await it.paybell.stop()
})
