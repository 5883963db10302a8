// Payments through a real NATS JetStream into the whole service: recorded, delivered, refused into the
// dead letters, and taken over by another process.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import { parseMetrics } from '../deploy/scrape.ts'
import { findNatsServer, startNatsServer } from '../support/nats-server.ts'
import { type Paybell, startPaybell, until } from '../support/paybell.ts'
import { sampleBody } from '../support/payment-sample.ts'
import { startReceiver } from '../support/receiver.ts'

const binary = findNatsServer()
const skip = binary === null ? 'nats-server is not installed: apt-get install nats-server' : false
if (skip) console.log(`skipped: ${skip}`)

test('from a message to a callback, and on when the process that consumed has gone', {
  skip,
}, async (t) => {
  const server = await startNatsServer(t, binary ?? '')
  const nats = await connect({ servers: server.url })
  t.after(() => nats.close())
  const manager = await jetstreamManager(nats)
  await manager.streams.add({ name: 'PAYBELL', subjects: ['paybell.payments.>'] })

  const env = { PAYBELL_NATS_URL: server.url }
  const receiver = await startReceiver(t)
  // Whatever interrupts a session, a busy machine for example, what it left comes again within the test's time.
  // Terms that fail one after the other, each when the broker did not answer within 5 s, rest no longer than
  // that either.
  const timing = {
    sources: {
      nats: { ackWaitMs: 4_000, workingEveryMs: 1_000, askEveryMs: 1_000, restMsMax: 1_000 },
    },
  }
  const one = await startPaybell(t, { env, timing })
  const other = await startPaybell(t, { env, timing, beside: one })
  await one.caller.register(receiver.url(), 'key')
  const id = randomUUID()
  const publish = (changes: object, accountId = one.accountId) =>
    jetstream(nats).publish(
      `paybell.payments.${accountId}`,
      sampleBody({ id, version: undefined, ...changes }),
    )
  await publish({ reference: 'first' })
  await publish({ reference: 'second' })
  // The same again, as a broker may do: nothing changes.
  await publish({ reference: 'second' })
  await receiver.hasSeen(({ accepted }) => accepted.length === 2)
  assert.deepEqual(receiver.sequences(), [1, 2])

  const unknown = randomUUID()
  await publish({ id: randomUUID() }, unknown)
  await publish({ status: { state: 'DRAFT' } })
  const codeOf = async (account: string) => {
    const query = { last_by_subj: `paybell.dead.${account}` }
    const letter = await manager.streams.getMessage('PAYBELL_DEAD', query).catch(() => null)
    return letter?.header?.get('Paybell-Code')
  }
  await until('an unknown account', async () => (await codeOf(unknown)) === 'unknown-account')
  await until('a forbidden move', async () => (await codeOf(one.accountId)) === 'forbidden-move')
  // An alert looks at this counter, because the broker has an acknowledgement and the producer no refusal.
  await until('both are counted', async () => {
    const counts = await Promise.all([one, other].map(countDeadLetters))
    return counts.reduce((sum, count) => sum + count) === 2
  })

  // One of the two consumes. It goes; the other takes over.
  await one.stop()
  await publish({ reference: 'third' })
  await receiver.hasSeen(({ accepted }) => accepted.length === 3)
  await until('all are acknowledged', async () => {
    const info = await manager.consumers.info('PAYBELL', 'paybell')
    return info.num_ack_pending + info.num_pending === 0
  })
  assert.deepEqual(receiver.sequences(), [1, 2, 3])
  await other.stop()
})

async function countDeadLetters({ baseUrl }: Paybell): Promise<number> {
  const series = parseMetrics(await (await fetch(`${baseUrl}/metrics`)).text())
  const found = series.find(
    ({ name, labels }) =>
      name === 'paybell_nats_messages_total' && labels.outcome === 'dead_lettered',
  )
  return found?.value ?? assert.fail('the counter is missing')
}
