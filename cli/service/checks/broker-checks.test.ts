import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadConfig } from '../../../server/config/config.ts'
import { checkBrokers, type InspectKafka } from './broker-checks.ts'

const CONFIG = loadConfig('sandbox', { PAYBELL_KAFKA_BROKERS: '127.0.0.1:9' })

const checksOf = async (config: Parameters<typeof checkBrokers>[0], inspect?: InspectKafka) => {
  const checks = []
  for await (const check of checkBrokers(config, inspect)) checks.push(check)
  return checks
}

test('without a broker there is nothing to say', async () => {
  assert.deepEqual(await checksOf(loadConfig('sandbox', {})), [])
})

test('a topic that is there is ok, one that is not is a failure', async () => {
  const [found] = await checksOf(CONFIG, async () => ({ partitions: 3, hasDeadTopic: false }))
  assert.equal(found?.status, 'ok')
  assert.match(found?.detail ?? '', /paybell\.payments has 3 partitions/)
  const [missing] = await checksOf(CONFIG, async () => ({ partitions: 0, hasDeadTopic: false }))
  assert.equal(missing?.status, 'failed')
})

test('brokers that are away are a failure, with the reason', async () => {
  const [away] = await checksOf(CONFIG)
  assert.equal(away?.status, 'failed')
  assert.match(away?.detail ?? '', /127\.0\.0\.1:9/)
})
