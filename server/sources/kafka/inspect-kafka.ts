// What `paybell doctor` asks of Kafka: whether the service would be let in, and finds its topic.

import { Admin } from '@platformatic/kafka'
import type { KafkaSettings } from '../../config/config.ts'
import { describeError } from '../broker/describe-error.ts'
import { prepare, toClientOptions } from './kafka-clients.ts'

export interface KafkaFacts {
  /** 0: the topic is not there. */
  partitions: number
  hasDeadTopic: boolean
}

/** Throws where no broker can be reached, or lets the user in. */
export async function inspectKafka(settings: KafkaSettings): Promise<KafkaFacts> {
  let refused: string | null = null
  const onRefused = (fault: string) => {
    refused = fault
  }
  const admin = prepare(new Admin(toClientOptions(settings)), { ...settings, onRefused })
  try {
    const topics = await admin.listTopics()
    const hasDeadTopic = topics.includes(`${settings.topic}.dead`)
    if (!topics.includes(settings.topic)) return { partitions: 0, hasDeadTopic }
    const { topics: found } = await admin.metadata({ topics: [settings.topic] })
    return { partitions: found.get(settings.topic)?.partitionsCount ?? 0, hasDeadTopic }
  } catch (error) {
    throw new Error(refused ?? describeError(error))
  } finally {
    await admin.close().catch(() => {})
  }
}
