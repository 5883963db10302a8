// A payment change that came through a broker: a line of a batch, whose account the subject of a message names by its
// last token, and a record by its own field. And which of the refusals are final: what is wrong with the message itself
// stays wrong however often it is tried.

import { type ErrorCode, ServiceError } from '../plain/errors.ts'
import { type ParsedJson, parseJson } from '../plain/exact-json.ts'
import { isUuid } from '../plain/uuid.ts'
import { PAYMENT_BODY_BYTES_MAX, type PaymentWrite } from './payment.ts'
import { parsePaymentLine, parsePaymentOf, readPaymentId } from './payment-fields.ts'

export interface PaymentMessage {
  /** Null where the subject names none. */
  accountId: string | null
  /** Null where it cannot be read. */
  paymentId: string | null
  change: { accountId: string; write: PaymentWrite } | null
  /** What is wrong with it; null just when there is a change. */
  error: ServiceError | null
}

/** A message of NATS. */
export function readPaymentMessage(subject: string, bytes: Uint8Array): PaymentMessage {
  return readAs((read) => {
    const accountId = accountOf(subject)
    read.accountId = accountId
    const { value, amountText } = parse(bytes, read)
    return { accountId, write: parsePaymentOf(accountId, value, amountText) }
  })
}

/** A record of Kafka. */
export function readPaymentRecord(
  key: Uint8Array | null,
  bytes: Uint8Array | null,
): PaymentMessage {
  return readAs((read) => {
    if (bytes === null) {
      throw new ServiceError(
        'malformed-json',
        'The record has no value. It is a tombstone, and payments are not deleted by one.',
      )
    }
    const { value, amountText } = parse(bytes, read)
    const change = parsePaymentLine(value, amountText, false)
    read.accountId = change.accountId
    assertKey(key, change.write.id)
    return change
  })
}

/** Records of one key keep their order; those of one payment with several keys, or with none, have none. */
function assertKey(key: Uint8Array | null, paymentId: string): void {
  if (key === null) {
    throw new ServiceError('key-mismatch', 'The record has no key. It must be the payment’s id.')
  }
  // In any case, as in the payment itself.
  if (key.length === paymentId.length && toText(key).toLowerCase() === paymentId) return
  throw new ServiceError('key-mismatch', 'The key of the record must be the payment’s id.')
}

function toText(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes)
}

function parse(bytes: Uint8Array, read: PaymentMessage): ParsedJson {
  if (bytes.length > PAYMENT_BODY_BYTES_MAX) {
    throw new ServiceError('body-too-large', 'The message is longer than any payment can be.')
  }
  const parsed = parseJson(bytes)
  read.paymentId = readPaymentId(parsed.value)
  return parsed
}

function readAs(
  readChange: (read: PaymentMessage) => NonNullable<PaymentMessage['change']>,
): PaymentMessage {
  const read: PaymentMessage = { accountId: null, paymentId: null, change: null, error: null }
  try {
    read.change = readChange(read)
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    read.error = error
  }
  return read
}

function accountOf(subject: string): string {
  const account = subject.slice(subject.lastIndexOf('.') + 1)
  if (isUuid(account)) return account.toLowerCase()
  throw new ServiceError(
    'account-required',
    'The last token of the subject must be the uuid of the account that the payment belongs to.',
  )
}

const NOT_NOW: readonly ErrorCode[] = ['database-away', 'overloaded', 'not-ready']

/** `isItsOwn` decides about faults of our own: whether it is this record that brings them about. */
export function isPoison(error: ServiceError, isItsOwn: boolean): boolean {
  if (error.code === 'internal') return isItsOwn
  return !NOT_NOW.includes(error.code)
}
