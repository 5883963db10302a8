// The payments that every system is fed with: all of one size, each with its number in its id, so that
// the receiver knows from the body alone which one arrived, whatever the service calls it.

import { createHash } from 'node:crypto'

const CREATED_AT = '2026-01-31T09:30:00.000Z'

/** Where the number of a payment stands in a callback's body: {"id":"xxxxxxxx-xxxx-4xxx-8xxx-<here>". */
export const NUMBER_AT = 7 + 24
export const NUMBER_LENGTH = 12

export class PaymentMaker {
  readonly #idHead: string
  readonly #uuid: string
  readonly #document: string

  /** The same seed makes the same payments; `documentBytes` adds a file of that size to each. */
  constructor(seed: string, documentBytes = 0) {
    const hex = createHash('sha256').update(seed).digest('hex')
    this.#idHead = `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-`
    this.#uuid = `${hex.slice(20, 28)}-${hex.slice(28, 32)}-4${hex.slice(33, 36)}-8${hex.slice(37, 40)}-${hex.slice(40, 52)}`
    const file = Buffer.alloc(documentBytes, hex).toString('base64')
    this.#document =
      documentBytes === 0
        ? ''
        : `,"document":{"mediaType":"application/pdf","name":"receipt.pdf","base64EncodedFile":"${file}"}`
  }

  id(number: number): string {
    return this.#idHead + number.toString(16).padStart(NUMBER_LENGTH, '0')
  }

  /** What is PUT. */
  body(number: number): string {
    return `{"id":"${this.id(number)}","status":{"state":"DUE"},${this.#rest(number)}}`
  }

  /** One line of a batch. */
  line(number: number, accountId: string): string {
    return `{"id":"${this.id(number)}","accountId":"${accountId}","status":{"state":"DUE"},${this.#rest(number)}}\n`
  }

  /** What a callback carries, for senders that have no Paybell in front of them. */
  callback(number: number): string {
    return `{"id":"${this.id(number)}","status":{"state":"DUE"},"complete":false,${this.#rest(number)}}`
  }

  #rest(number: number): string {
    return `"createdAt":"${CREATED_AT}","externalId":"EXT-${number}","quoteId":"${this.#uuid}","amount":{"amount":12345.67,"currency":"EUR"},"reference":"Invoice ${number}","purposeOfPayment":"COMPUTER_SERVICES","beneficiaryId":"${this.#uuid}"${this.#document}`
  }
}
