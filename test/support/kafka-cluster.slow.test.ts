// What a broker of the tests leaves behind when it is killed: nothing outside of its test's own folder.

import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { type KafkaBrokerProcess, startKafka } from './kafka-cluster.ts'
import { KafkaFeed } from './kafka-feed.ts'
import { findKafka } from './kafka-jars.ts'
import { collectCleanUps } from './owner.ts'
import { until } from './until.ts'

const kafka = await findKafka()
const missing =
  'missing' in kafka
    ? kafka.missing
    : process.platform !== 'linux' &&
      'what a process has loaded is found in /proc, which only Linux has'

test('regression: what a killed broker has unpacked goes with the folder of its test', {
  skip: missing,
}, async (t) => {
  const owner = collectCleanUps()
  t.after(() => owner.cleanUp())
  const { classPath } = kafka as { classPath: string }
  const [broker] = (await startKafka(owner, classPath)) as [KafkaBrokerProcess]
  const feed = await KafkaFeed.open(owner, [broker.address], {
    payments: 1,
    configs: { 'compression.type': 'lz4' },
  })
  // The broker compresses it, and unpacks a library for that.
  await feed.publishRound()
  const unpacked = await until('the library is loaded', async () => {
    const loaded = await readFile(`/proc/${broker.pid}/maps`, 'utf8')
    return /\S*\/liblz4-java\S*\.so/.exec(loaded)?.[0]
  })
  const own = join(tmpdir(), 'paybell-kafka-')
  assert.ok(unpacked.startsWith(own), unpacked)
  assert.ok(
    !existsSync(`/tmp/hsperfdata_${userInfo().username}/${broker.pid}`),
    'counters for other tools',
  )
  // It kills the broker.
  await owner.cleanUp()
  assert.ok(!existsSync(unpacked))
})
