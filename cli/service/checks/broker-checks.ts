// Whether the brokers that feed payments can be read: `paybell doctor` asks them as the service would.

import type { Config } from '../../../server/config/config.ts'
import type { KafkaFacts } from '../../../server/sources/kafka/inspect-kafka.ts'
import type { Check } from '../../basics/doctor-check.ts'
import { plural } from '../../basics/terminal.ts'

export type InspectKafka = (settings: NonNullable<Config['kafka']>) => Promise<KafkaFacts>

export async function* checkBrokers(
  { kafka }: Pick<Config, 'kafka'>,
  inspect: InspectKafka = inspectReally,
): AsyncGenerator<Check> {
  if (kafka === null) return
  const name = 'kafka'
  try {
    const { partitions, hasDeadTopic } = await inspect(kafka)
    if (partitions === 0) {
      const detail = `the topic ${kafka.topic} is not there, or is not shown to this user`
      yield { name, status: 'failed', detail, remedy: 'Create it, or set PAYBELL_KAFKA_TOPIC.' }
      return
    }
    const letters = hasDeadTopic ? 'is there' : 'is made with the first dead letter'
    const detail = `${kafka.topic} has ${plural(partitions, 'partition')}; ${kafka.topic}.dead ${letters}`
    yield { name, status: 'ok', detail }
  } catch (error) {
    yield {
      name,
      status: 'failed',
      detail: `no broker can be used: ${(error as Error).message}`,
      remedy:
        'Check PAYBELL_KAFKA_BROKERS, whether they want TLS and SASL, and the firewall. Payment changes wait in the topic.',
    }
  }
}

/** The packages of Kafka are loaded where it is set. */
async function inspectReally(settings: NonNullable<Config['kafka']>): Promise<KafkaFacts> {
  const { inspectKafka } = await import('../../../server/sources/kafka/inspect-kafka.ts')
  return inspectKafka(settings)
}
