// A dead letter of Kafka, and what is left of it where the topic does not take it whole. What is left out is said in the
// letter: its origin leads to the rest. Pure.

import { PAYMENT_BODY_BYTES_MAX } from '../../core/payments/payment.ts'
import type { ServiceError } from '../../core/plain/errors.ts'
import { type KafkaHeader, readHeaders } from '../batches/batch-records.ts'
import type { FetchedRecord, RefusedBatch } from '../batches/record-batches.ts'
import { BODY_LEFT_OUT, describeProblem } from '../broker/dead-letter.ts'

export interface KafkaLetter {
  key: Buffer | null
  value: Buffer | null
  /** Names may come more than once. */
  headers: ReadonlyMap<Buffer, Buffer>
  /** Of value and headers. */
  bytes: number
}

export interface LetterOrigin {
  topic: string
  partition: number
}

type Header = readonly [name: string, value: string]

const OWN = 'Paybell-'
const HEADERS_LEFT_OUT: Header = ['Paybell-Headers', 'left-out']
const KEY_CUT: Header = ['Paybell-Key', 'cut']
/** The id of a payment has 36. The client chooses the partition by the key, and of one of 2 MiB that takes it minutes in which
 *  nothing else runs. */
const KEY_BYTES_MAX = 256

/** The largest payment, and as much again as its other fields may have. A larger value was never one. */
const LETTER_BYTES_MAX = PAYMENT_BODY_BYTES_MAX + 1_024 * 1_024
/** A record may have millions of empty ones. */
const HEADERS_MAX = 1_000

/** The whole one first, then without the larger of value and headers, then without both; of these, those that no broker refuses
 *  for what a payment never has. */
export function toLetters(
  origin: LetterOrigin,
  fetched: FetchedRecord | RefusedBatch,
  problem: ServiceError,
): readonly KafkaLetter[] {
  const own = describeOrigin(origin, fetched, problem)
  if (fetched.kind === 'refused') return [toLetter(null, null, [], [...own, BODY_LEFT_OUT])]
  const { key: wholeKey, value } = fetched.record
  const key = wholeKey?.subarray(0, KEY_BYTES_MAX) ?? null
  const headers = readHeaders(fetched.record.headers, HEADERS_MAX)
  const original = (headers ?? []).filter(([name]) => !name.toString().startsWith(OWN))
  const marks = [...own, ...(wholeKey?.length === key?.length ? [] : [KEY_CUT])]
  const letters =
    headers === null
      ? [
          toLetter(key, value, [], [...marks, HEADERS_LEFT_OUT]),
          toLetter(key, null, [], [...marks, BODY_LEFT_OUT, HEADERS_LEFT_OUT]),
        ]
      : [
          toLetter(key, value, original, marks),
          bytesOf(original) > (value?.length ?? 0)
            ? toLetter(key, value, [], [...marks, HEADERS_LEFT_OUT])
            : toLetter(key, null, original, [...marks, BODY_LEFT_OUT]),
          toLetter(key, null, [], [...marks, BODY_LEFT_OUT, HEADERS_LEFT_OUT]),
        ]
  return letters.filter(({ bytes }) => bytes <= LETTER_BYTES_MAX)
}

function describeOrigin(
  { topic, partition }: LetterOrigin,
  fetched: FetchedRecord | RefusedBatch,
  problem: ServiceError,
): readonly Header[] {
  return [
    ...describeProblem(problem),
    ['Paybell-Topic', topic],
    ['Paybell-Partition', String(partition)],
    ['Paybell-Offset', String(fetched.offset)],
    ...(fetched.kind === 'refused'
      ? ([
          ['Paybell-Last-Offset', String(fetched.last)],
          ['Paybell-Codec', fetched.codec],
        ] as const)
      : []),
  ]
}

function toLetter(
  key: Buffer | null,
  value: Buffer | null,
  original: readonly KafkaHeader[],
  own: readonly Header[],
): KafkaLetter {
  const texts = own.map(([name, text]) => [Buffer.from(name), Buffer.from(text)] as const)
  const headers = new Map([...original, ...texts])
  return { key, value, headers, bytes: (value?.length ?? 0) + bytesOf([...headers]) }
}

function bytesOf(headers: readonly KafkaHeader[]): number {
  return headers.reduce((sum, [name, text]) => sum + name.length + text.length, 0)
}
