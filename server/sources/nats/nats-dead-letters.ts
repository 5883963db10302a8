// Dead letters of NATS: messages that can never be recorded, with the problem as headers and the unchanged body. Kept
// in a stream, because the original is acknowledged only when its dead letter is stored.

import { JetStreamApiError, type JsMsg, jetstream, jetstreamManager } from '@nats-io/jetstream'
import { headers, type MsgHdrs, type NatsConnection } from '@nats-io/transport-node'
import type { NatsSettings } from '../../config/config.ts'
import type { ServiceError } from '../../core/plain/errors.ts'
import { BODY_LEFT_OUT, describeProblem } from '../broker/dead-letter.ts'

const DEAD_SUBJECT = 'paybell.dead'
/** Made when no stream of the operator has the subject. */
const DEAD_STREAM = 'PAYBELL_DEAD'
const DEAD_BYTES_MAX = 1_024 * 1_024 * 1_024
/** Room for the headers within the server's largest message. */
const HEADER_BYTES = 8 * 1_024

export class NatsDeadLetters {
  readonly #connection: NatsConnection
  readonly #settings: Pick<NatsSettings, 'stream'>
  #hasStream = false

  constructor(connection: NatsConnection, settings: Pick<NatsSettings, 'stream'>) {
    this.#connection = connection
    this.#settings = settings
  }

  async put(message: JsMsg, accountId: string | null, error: ServiceError): Promise<void> {
    const subject = `${DEAD_SUBJECT}.${accountId ?? 'unknown'}`
    await this.#ensureStream(subject)
    const letter = toHeaders(message, this.#settings.stream, error)
    // A body that fills a whole message leaves no room for headers and is left out: its sequence leads to it.
    const bytesMax = (this.#connection.info?.max_payload ?? 0) - HEADER_BYTES
    const isWhole = message.data.length <= bytesMax
    if (!isWhole) letter.set(...BODY_LEFT_OUT)
    await jetstream(this.#connection).publish(subject, isWhole ? message.data : new Uint8Array(), {
      headers: letter,
      // If it is sent again after a lost reply, the stream keeps one copy.
      msgID: `${this.#settings.stream}/${message.seq}`,
      timeout: 5_000,
    })
  }

  async #ensureStream(subject: string): Promise<void> {
    if (this.#hasStream) return
    const manager = await jetstreamManager(this.#connection, { checkAPI: false })
    const taken = await manager.streams.find(subject).catch((error: unknown) => {
      if (isNoStream(error)) return null
      throw error
    })
    if (taken === null) {
      await manager.streams
        .add({ name: DEAD_STREAM, subjects: [`${DEAD_SUBJECT}.>`], max_bytes: DEAD_BYTES_MAX })
        .catch((error: unknown) => {
          const reason = error instanceof Error ? error.message : String(error)
          throw new Error(
            `no stream takes ${DEAD_SUBJECT}.> and none could be made (${reason}): add one`,
          )
        })
    }
    this.#hasStream = true
  }
}

function isNoStream(error: unknown): boolean {
  if (error instanceof JetStreamApiError) return error.status === 404
  return error instanceof Error && /no stream matches/i.test(error.message)
}

function toHeaders(message: JsMsg, stream: string, error: ServiceError): MsgHdrs {
  const letter = headers()
  for (const [name, value] of describeProblem(error)) letter.set(name, value)
  letter.set('Paybell-Subject', message.subject)
  letter.set('Paybell-Stream', stream)
  letter.set('Paybell-Sequence', String(message.seq))
  return letter
}
