// How the source is let in, by a real broker: TLS with an authority of one's own, and each way to prove who one is.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { test } from 'node:test'
import { issue } from '../../../test/support/issue-certificate.ts'
import { startKafka } from '../../../test/support/kafka-cluster.ts'
import { KafkaFeed } from '../../../test/support/kafka-feed.ts'
import { findKafka } from '../../../test/support/kafka-jars.ts'
import { until } from '../../../test/support/until.ts'
import type { KafkaSettings } from '../../config/config.ts'

const kafka = await findKafka()
const skip = 'missing' in kafka ? kafka.missing : false
if (skip) console.log(`skipped: ${skip}`)

const LONG_MS = 60_000

test('over TLS, by each mechanism; and not with a wrong password, nor past a certificate that is not trusted, or of another name', {
  skip,
}, async (t) => {
  if ('missing' in kafka) return
  const root = issue({ subject: 'CN=Root', isAuthority: true })
  const own = issue({
    subject: 'CN=broker',
    by: root,
    purposes: ['server'],
    names: ['kafka.example'],
    addresses: ['127.0.0.1'],
  })
  const user = { name: 'paybell', password: 'a-long-secret', certificate: own.keyPem + own.pem }
  const [broker] = await startKafka(t, kafka.classPath, { user })
  assert.ok(broker)
  const feed = await KafkaFeed.open(t, [broker.address], { payments: 4, partitions: 2 })
  const settingsOf = (
    mechanism: NonNullable<KafkaSettings['sasl']>['mechanism'],
    password = user.password,
  ): KafkaSettings => ({
    brokers: [broker.secureAddress],
    topic: feed.topic,
    group: feed.group,
    tls: { extraCa: root.pem },
    sasl: { mechanism, username: user.name, password },
  })
  for (const mechanism of ['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512'] as const) {
    const source = feed.source({ settings: settingsOf(mechanism) })
    await feed.publishRound()
    await feed.untilApplied()
    await source.stop()
  }
  feed.assertWhole()

  const elsewhere = createServer((socket) => {
    const onward = connect(Number(broker.secureAddress.split(':')[1]), '127.0.0.1')
    for (const one of [socket, onward]) one.on('error', () => one.destroy())
    socket.pipe(onward).pipe(socket)
  })
  elsewhere.listen(0, '127.0.0.2')
  await once(elsewhere, 'listening')
  t.after(() => void elsewhere.close())
  const { port } = elsewhere.address() as AddressInfo
  const own512 = settingsOf('SCRAM-SHA-512')
  const byName = broker.secureAddress.replace('127.0.0.1', 'localhost')
  const refused: readonly [string, KafkaSettings, RegExp][] = [
    ['a wrong password', settingsOf('SCRAM-SHA-512', 'another'), /authentication/i],
    [
      'an unknown authority',
      { ...settingsOf('SCRAM-SHA-512'), tls: { extraCa: null } },
      /certificate|connection/i,
    ],
    ['another name', { ...own512, brokers: [byName] }, /does not match.*localhost\. is not in/],
    // Where an IP address is listed, no name is sent; the certificate is held to it all the same.
    [
      'another address',
      { ...own512, brokers: [`127.0.0.2:${port}`] },
      /does not match.*IP: 127\.0\.0\.2 is not in/,
    ],
  ]
  for (const [what, settings, reason] of refused) {
    const before = feed.warnings.length
    const source = feed.source({ settings })
    const warning = await until(what, () => feed.warnings.at(before), LONG_MS)
    assert.match(warning, /^kafka\.interrupted/)
    assert.match(warning, reason)
    assert.doesNotMatch(warning, /another|a-long-secret/)
    await source.stop()
  }
})
