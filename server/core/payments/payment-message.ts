// A payment change that came through a broker: the subject's last token is the account, the message is
// a line of a batch. And which of the refusals are final: what is wrong with the message itself stays
// wrong however often it is tried.

import { type ErrorCode, ServiceError } from '../plain/errors.ts'
import { parseJson } from '../plain/exact-json.ts'
import { isUuid } from '../plain/uuid.ts'
import { PAYMENT_BODY_BYTES_MAX, type PaymentWrite } from './payment.ts'
import { parsePaymentOf, readPaymentId } from './payment-fields.ts'

export interface PaymentMessage {
  /** Null where the subject names none. */
  accountId: string | null
  /** Null where it cannot be read. */
  paymentId: string | null
  change: { accountId: string; write: PaymentWrite } | null
  /** What is wrong with it; null just when there is a change. */
  error: ServiceError | null
}

export function readPaymentMessage(subject: string, bytes: Uint8Array): PaymentMessage {
  const read: PaymentMessage = { accountId: null, paymentId: null, change: null, error: null }
  try {
    const accountId = accountOf(subject)
    read.accountId = accountId
    if (bytes.length > PAYMENT_BODY_BYTES_MAX) {
      throw new ServiceError('body-too-large', 'The message is longer than any payment can be.')
    }
    const { value, amountText } = parseJson(bytes)
    read.paymentId = readPaymentId(value)
    read.change = { accountId, write: parsePaymentOf(accountId, value, amountText) }
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

/** `isLastTry` decides about mistakes of our own, which may be passing ones. */
export function isPoison(error: ServiceError, isLastTry: boolean): boolean {
  if (error.code === 'internal') return isLastTry
  return !NOT_NOW.includes(error.code)
}
