// Kafka as a broker of a run: one that is controller, too, with a topic of several partitions, keyed by payment.

import { type KafkaBrokerProcess, startKafka, untilListening } from '../support/kafka-cluster.ts'
import { KafkaFeed } from '../support/kafka-feed.ts'
import { findKafka } from '../support/kafka-jars.ts'
import type { Owner } from '../support/owner.ts'
import type { StartedServer } from './broker.ts'

/** More than there are processes, so that each of them has several. */
const PARTITIONS = 8

export async function startKafkaBroker(owner: Owner): Promise<StartedServer> {
  const kafka = await findKafka()
  if ('missing' in kafka) return kafka
  const [server] = (await startKafka(owner, kafka.classPath)) as [KafkaBrokerProcess]
  const feed = await KafkaFeed.open(owner, [server.address], {
    payments: 0,
    partitions: PARTITIONS,
  })
  return {
    settings: {
      PAYBELL_KAFKA_BROKERS: server.address,
      PAYBELL_KAFKA_TOPIC: feed.topic,
      PAYBELL_KAFKA_GROUP: feed.group,
    },
    signal: (name) => server.signal(name),
    kill: () => server.stop('SIGKILL'),
    restart: () => untilListening(server),
    // What an answer was lost of is there twice, and its version tells.
    publish: (accountId, body) =>
      feed.sendOnce([
        {
          topic: feed.topic,
          key: Buffer.from(body.id),
          value: Buffer.from(JSON.stringify({ ...body, accountId })),
        },
      ]),
    open: () => feed.uncommitted(),
  }
}
