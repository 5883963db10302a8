// A payment as a real one looks, for `trigger` and `demo`: random where payments differ, and every
// field can be set by name. The amount is text until it is written, so its digits are the caller's.

import { randomInt, randomUUID } from 'node:crypto'
import { basename, extname } from 'node:path'
import type { DocumentWithFile } from '../../sdk/src/internal/operator-types.ts'
import type { PaymentState } from '../../sdk/src/wire/types.ts'
import { FILE_BYTES_MAX } from '../../server/core/payments/payment.ts'
import { readGivenBytes } from '../basics/given-file.ts'
import { UsageError } from '../basics/run.ts'

export type SamplePayment = Record<string, unknown> & { id: string }

const CURRENCIES = ['EUR', 'GBP', 'USD', 'CHF', 'SGD'] as const
const PURPOSES = ['COMPUTER_SERVICES', 'SALARY_PAYMENT', 'EXPORTED_GOODS', 'ADVISORY_FEES'] as const

export function samplePayment(): SamplePayment {
  const number = String(randomInt(1, 1_000_000)).padStart(6, '0')
  return {
    id: randomUUID(),
    externalId: `INV-${new Date().getUTCFullYear()}-${number}`,
    quoteId: randomUUID(),
    amount: {
      amount: `${randomInt(20, 20_000)}.${String(randomInt(0, 100)).padStart(2, '0')}`,
      currency: CURRENCIES[randomInt(CURRENCIES.length)],
    },
    reference: `Invoice ${number}`,
    purposeOfPayment: PURPOSES[randomInt(PURPOSES.length)],
    beneficiaryId: randomUUID(),
  }
}

const OVERRIDES = [
  'id',
  'status.reason',
  'createdAt',
  'completedAt',
  'externalId',
  'quoteId',
  'amount.amount',
  'amount.currency',
  'reference',
  'purposeOfPayment',
  'beneficiaryId',
  'documentReference',
  'document.mediaType',
  'document.name',
  'document.base64EncodedFile',
  'version',
] as const

/** As JSON writes numbers. */
const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/

/** The types of the language library do not know it yet. */
const rawJson = (JSON as unknown as { rawJSON(text: string): object }).rawJSON

/** `amount.amount=1250.00`: sets one field. Numbers keep their digits; everything else is text. */
export function override(payment: SamplePayment, text: string): void {
  const [, path, value] = /^([\w.]+)=(.*)$/s.exec(text) ?? []
  if (path === undefined || value === undefined) {
    throw new UsageError('an override looks like amount.amount=1250.00')
  }
  if (path === 'status.state') throw new UsageError('say the state with --state STATE')
  if (!OVERRIDES.some((one) => one === path)) {
    throw new UsageError(`a payment has no ${path}. Its fields: ${OVERRIDES.join(', ')}.`)
  }
  const isNumber = path === 'amount.amount' || path === 'version'
  if (isNumber && !NUMBER.test(value)) {
    throw new UsageError(`${path} must be a number as JSON writes it, such as 1250.00`)
  }
  const [first, second] = path.split('.') as [string, string?]
  // An amount is text until it is written; of a version, too, no digit may be lost.
  const put = path === 'version' ? rawJson(value) : value
  if (second === undefined) payment[first] = put
  else payment[first] = { ...(payment[first] as object | undefined), [second]: put }
}

/** The way from the beginning to a state, as most payments go it. */
export function pathTo(state: PaymentState): readonly PaymentState[] {
  const path: PaymentState[] = ['DRAFT', 'PENDING_APPROVAL', 'DUE', 'PAID']
  return state === 'CANCELLED'
    ? ['DRAFT', 'PENDING_APPROVAL', 'CANCELLED']
    : path.slice(0, path.indexOf(state) + 1)
}

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  '.pdf': 'application/pdf',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.png': 'image/png',
  '.txt': 'text/plain',
  '.csv': 'text/csv',
  '.xml': 'application/xml',
  '.json': 'application/json',
}

export async function readDocument(path: string): Promise<DocumentWithFile> {
  const bytes = await readGivenBytes(path)
  if (bytes.length > FILE_BYTES_MAX) {
    throw new UsageError(`${path} has more than 10 MiB, which is the limit for a document.`)
  }
  return {
    mediaType: MEDIA_TYPES[extname(path).toLowerCase()] ?? 'application/octet-stream',
    name: basename(path),
    base64EncodedFile: bytes.toString('base64'),
  }
}
