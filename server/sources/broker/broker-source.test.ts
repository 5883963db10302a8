import assert from 'node:assert/strict'
import { test } from 'node:test'
import { endsWithin } from '../../../test/support/ends-within.ts'
import { until } from '../../../test/support/until.ts'
import type { Broker, BrokerSession } from './broker.ts'
import { BrokerSource } from './broker-source.ts'

const TIMING = { restMs: 1, restMsMax: 4, askEveryMs: 1 }

/** A broker whose sessions run until they are ended, or fail at once where they are told to. */
function stage(open: (count: number) => 'session' | 'none' | 'failing' | Error) {
  let opened = 0
  const released: number[] = []
  const warnings: object[] = []
  const toSession = (count: number, kind: 'session' | 'failing'): BrokerSession => {
    const ended = Promise.withResolvers<void>()
    if (kind === 'failing') ended.reject(new Error(`failed ${count}`))
    ended.promise.catch(() => {})
    return {
      isConsuming: true,
      lag: 3,
      hasSettled: false,
      run: () => ended.promise,
      end: () => ended.resolve(),
      release: async () => void released.push(count),
    }
  }
  let isClosed = false
  const broker: Broker = {
    name: 'nats',
    async open() {
      const kind = open(++opened)
      if (kind instanceof Error) throw kind
      return kind === 'none' ? null : toSession(opened, kind)
    },
    interrupt() {},
    async close() {
      isClosed = true
    },
  }
  const log = {
    info() {},
    warn: (fields: object, message: string) => void warnings.push({ ...fields, message }),
  }
  let failures = 0
  const onBrokerFailure = () => void failures++
  const source = new BrokerSource(broker, { log, onBrokerFailure }, TIMING)
  const counted = { opened: () => opened, failures: () => failures, isClosed: () => isClosed }
  return { source, released, warnings, ...counted }
}

test('after a session that failed, and after a broker that was away, there is another', async () => {
  const { source, released, warnings, failures, isClosed } = stage((count) => {
    if (count === 1) return new AggregateError([new Error('refused')], 'away.')
    return count === 2 ? 'failing' : 'session'
  })
  source.start()
  await until('it consumes', () => source.isConsuming && source.lag === 3)
  assert.deepEqual(warnings, [
    { error: 'away. refused', message: 'nats.interrupted' },
    { error: 'failed 2', message: 'nats.interrupted' },
  ])
  assert.equal(failures(), 2)
  assert.deepEqual(released, [2], 'its right was given back')
  await source.stop()
  assert.deepEqual(released, [2, 3])
  assert.ok(!source.isConsuming && source.lag === 0)
  assert.ok(isClosed())
})

test('while another process has the right it is asked for, without a warning', async () => {
  const { source, warnings, opened, failures } = stage(() => 'none')
  source.start()
  await until('it was asked for', () => opened() > 3)
  assert.ok(!source.isConsuming)
  assert.deepEqual(warnings, [])
  assert.equal(failures(), 0)
  await endsWithin(1_000, () => source.stop())
})
