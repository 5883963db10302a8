// Dead letters of Kafka: records that can never be recorded, in the topic beside theirs, as whole as it takes them. One
// that was stored and whose offset was not committed comes again: the origin tells the copies.

import { Admin, findErrorBy, ProduceAcks, Producer } from '@platformatic/kafka'
import type { KafkaSettings } from '../../config/config.ts'
import type { ServiceError } from '../../core/plain/errors.ts'
import type { FetchedRecord, RefusedBatch } from '../batches/record-batches.ts'
import { type FrameLimits, prepare, toClientOptions } from './kafka-clients.ts'
import { type KafkaLetter, toLetters } from './kafka-letters.ts'

/** No broker is set to less than that: it is what the smallest topics let through. */
const CLOSED_ABOVE_BYTES = 1_024 * 1_024

export class KafkaDeadLetters {
  readonly #settings: KafkaSettings
  readonly #limits: FrameLimits
  readonly #topic: string
  #producer: Producer | null = null
  #hasTopic = false

  constructor(settings: KafkaSettings, onRefused: FrameLimits['onRefused']) {
    this.#settings = settings
    this.#limits = { ...settings, onRefused }
    this.#topic = `${settings.topic}.dead`
  }

  async put(
    partition: number,
    fetched: FetchedRecord | RefusedBatch,
    problem: ServiceError,
  ): Promise<void> {
    await this.#ensureTopic()
    const origin = { topic: this.#settings.topic, partition }
    for (const letter of toLetters(origin, fetched, problem)) {
      if (await this.#send(letter)) return
    }
    const where = `of partition ${partition}, offset ${fetched.offset}`
    throw new Error(
      `the dead letter ${where} does not fit into the topic ${this.#topic}, not even without its value and headers: raise its max.message.bytes`,
    )
  }

  async close(): Promise<void> {
    await this.#producer?.close().catch(() => {})
  }

  /** False where it is larger than the topic allows. */
  async #send({ key, value, headers, bytes }: KafkaLetter): Promise<boolean> {
    this.#producer ??= prepare(new Producer(toClientOptions(this.#settings)), this.#limits)
    // Without a value it says, as the original does, that there is none.
    const content = { ...(key && { key }), ...(value && { value }), headers: new Map(headers) }
    try {
      await this.#producer.send({
        messages: [{ topic: this.#topic, ...content }],
        acks: ProduceAcks.ALL,
      })
      return true
    } catch (error) {
      if (isTooLarge(error)) return false
      if (bytes <= CLOSED_ABOVE_BYTES || !isClosed(error)) throw error
      // The next letter would be given the same connection, where the client has not seen yet that it is over.
      await this.close()
      this.#producer = null
      return false
    }
  }

  /** Made when the operator has not: with the cluster's own number of partitions and copies. */
  async #ensureTopic(): Promise<void> {
    if (this.#hasTopic) return
    const admin = prepare(new Admin(toClientOptions(this.#settings)), this.#limits)
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

/** A broker closes the connection under a request that is larger than it takes (socket.request.max.bytes). */
function isClosed(error: unknown): boolean {
  return findErrorBy(error as Error, 'message', 'Connection closed') !== null
}

/** Another process was quicker. */
function isThere(error: unknown): boolean {
  return findErrorBy(error as Error, 'apiId', 'TOPIC_ALREADY_EXISTS') !== null
}
