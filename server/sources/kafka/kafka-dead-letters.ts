// Dead letters of Kafka: records that can never be recorded, in the topic beside theirs, with their key, their value and
// their headers, and with the problem and the origin as headers. One that was stored and whose offset was not committed
// comes again: the origin tells the copies.

import { Admin, findErrorBy, ProduceAcks, Producer } from '@platformatic/kafka'
import type { KafkaSettings } from '../../config/config.ts'
import type { ServiceError } from '../../core/plain/errors.ts'
import { BODY_LEFT_OUT, describeProblem } from '../broker/dead-letter.ts'
import { acceptLeaderless, toClientOptions } from './kafka-clients.ts'
import type { FetchedRecord } from './record-batches.ts'

const OWN = 'Paybell-'

export class KafkaDeadLetters {
  readonly #settings: KafkaSettings
  readonly #topic: string
  #producer: Producer | null = null
  #hasTopic = false

  constructor(settings: KafkaSettings) {
    this.#settings = settings
    this.#topic = `${settings.topic}.dead`
  }

  async put(
    partition: number,
    { offset, record }: FetchedRecord,
    problem: ServiceError,
  ): Promise<void> {
    await this.#ensureTopic()
    const headers = new Map<Buffer, Buffer>()
    const add = (name: string, value: string) => headers.set(Buffer.from(name), Buffer.from(value))
    for (const [name, value] of record.headers) {
      if (name !== null && value !== null && !name.toString().startsWith(OWN)) {
        headers.set(name, value)
      }
    }
    for (const [name, value] of describeProblem(problem)) add(name, value)
    add('Paybell-Topic', this.#settings.topic)
    add('Paybell-Partition', String(partition))
    add('Paybell-Offset', String(offset))
    try {
      await this.#send(record.key, record.value, headers)
    } catch (error) {
      if (!isTooLarge(error)) throw error
      // With its headers it is larger than the topic allows: its origin leads to it.
      add(...BODY_LEFT_OUT)
      await this.#send(record.key, null, headers)
    }
  }

  async close(): Promise<void> {
    await this.#producer?.close().catch(() => {})
  }

  async #send(
    key: Buffer | null,
    value: Buffer | null,
    headers: Map<Buffer, Buffer>,
  ): Promise<void> {
    this.#producer ??= acceptLeaderless(new Producer(toClientOptions(this.#settings)))
    await this.#producer.send({
      // Without a value it says, as the original does, that there is none.
      messages: [{ topic: this.#topic, ...(key && { key }), ...(value && { value }), headers }],
      acks: ProduceAcks.ALL,
    })
  }

  /** Made when the operator has not: with the cluster's own number of partitions and copies. */
  async #ensureTopic(): Promise<void> {
    if (this.#hasTopic) return
    const admin = acceptLeaderless(new Admin(toClientOptions(this.#settings)))
    try {
      if (!(await admin.listTopics()).includes(this.#topic)) {
        await admin.createTopics({ topics: [this.#topic], partitions: -1, replicas: -1 })
      }
      this.#hasTopic = true
    } catch (error) {
      if (isThere(error)) return
      const reason = error instanceof Error ? error.message : String(error)
      throw new Error(
        `the topic ${this.#topic} is not there and could not be made (${reason}): add it`,
      )
    } finally {
      await admin.close().catch(() => {})
    }
  }
}

function isTooLarge(error: unknown): boolean {
  return ['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE'].some(
    (id) => findErrorBy(error as Error, 'apiId', id) !== null,
  )
}

/** Another process was quicker. */
function isThere(error: unknown): boolean {
  return findErrorBy(error as Error, 'apiId', 'TOPIC_ALREADY_EXISTS') !== null
}
