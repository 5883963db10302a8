// npm run measure:nats -- [messages a second] [seconds]. Publishes payments to a real nats-server at a steady
// rate, with the whole service consuming, and prints every few seconds how many messages wait.
// Not part of the tests: it takes a minute.

import { randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import { pino } from 'pino'
import { createApp } from '../../server/app.ts'
import { loadConfig } from '../../server/config/config.ts'
import { onboardClient } from '../../server/operations/clients/onboard-client.ts'
import { openAccount } from '../../server/operations/clients/open-account.ts'
import { findNatsServer, startNatsServer } from '../support/nats-server.ts'
import { readArguments, toCount, toSeconds } from '../support/number-arguments.ts'
import { collectCleanUps } from '../support/owner.ts'
import { sampleBody } from '../support/payment-sample.ts'
import { databaseUrl, onServer, startTestServer, TEMPLATE } from '../support/test-server.ts'

const [perSecond, seconds] = readArguments(() => {
  const [rate = '500', length = '60'] = process.argv.slice(2)
  return [toCount('a second', rate), toSeconds('seconds', length)]
})
const TICK_MS = 20
const PAYMENTS = 2_000

const owner = collectCleanUps()
const binary = findNatsServer()
if (binary === null) {
  console.log('nats-server is not installed: apt-get install nats-server')
  process.exit(1)
}
try {
  await measure(binary)
} finally {
  await owner.cleanUp()
}

async function measure(binary: string): Promise<void> {
  const server = await startTestServer()
  owner.after(() => server.stop())
  await onServer(server.url, (db) => db.query(`create database measured template ${TEMPLATE}`))
  const natsServer = await startNatsServer(owner, binary)
  const nats = await connect({ servers: natsServer.url })
  owner.after(() => nats.close())
  const manager = await jetstreamManager(nats)
  await manager.streams.add({ name: 'PAYBELL', subjects: ['paybell.payments.>'] })
  const app = createApp({
    config: loadConfig('sandbox', { PORT: '0', PAYBELL_NATS_URL: natsServer.url }),
    logger: pino({ level: 'warn' }),
    databaseUrl: databaseUrl(server.url, 'measured'),
    masterKeys: [randomBytes(32)],
    operatorKey: randomBytes(32).toString('base64url'),
  })
  await app.start()
  owner.after(() => app.stop())
  const { client } = await onboardClient(app.deps, 'Measured')
  const account = await openAccount(app.deps, client.id, 'Main')

  const ids = Array.from({ length: PAYMENTS }, () => randomUUID())
  let published = 0
  const behind = async () => {
    const info = await manager.consumers.info('PAYBELL', 'paybell')
    return { waiting: info.num_pending, inHand: info.num_ack_pending }
  }
  const startedAt = performance.now()
  const elapsed = () => (performance.now() - startedAt) / 1_000
  const behinds: number[] = []
  const watching = (async () => {
    for (let next = 5; elapsed() < seconds; await delay(100)) {
      const { waiting, inHand } = await behind().catch(() => ({ waiting: 0, inHand: 0 }))
      behinds.push(waiting + inHand)
      if (elapsed() < next) continue
      next += 5
      console.log(
        `${elapsed().toFixed(0)} s: published ${published}, behind ${waiting} + ${inHand}`,
      )
    }
  })()
  const open: Promise<unknown>[] = []
  while (elapsed() < seconds) {
    for (; published < elapsed() * perSecond; published++) {
      const id = ids[published % PAYMENTS]
      const body = sampleBody({
        id,
        reference: `${published}`,
        version: undefined,
        document: undefined,
      })
      open.push(jetstream(nats).publish(`paybell.payments.${account.id}`, body))
    }
    await delay(TICK_MS)
  }
  await Promise.all([...open, watching])
  const publishedIn = elapsed()
  for (let state = await behind(); state.waiting + state.inHand > 0; state = await behind()) {
    await delay(20)
  }
  const { rows } = await app.deps.pool.query<{ count: number }>('select count(*)::int from events')
  const sorted = behinds.toSorted((one, other) => one - other)
  const at = (part: number) => sorted[Math.floor((sorted.length - 1) * part)]
  console.log(
    `published ${published} in ${publishedIn.toFixed(1)} s (${(published / publishedIn).toFixed(0)}/s); ` +
      `all acknowledged ${((elapsed() - publishedIn) * 1_000).toFixed(0)} ms later; ` +
      `behind p50 ${at(0.5)}, p99 ${at(0.99)}, max ${at(1)} messages; events ${rows[0]?.count}`,
  )
}
