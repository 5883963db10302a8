// A dead letter of Kafka, and what is left of it where the topic does not take it whole. What is left out is said in the
// letter: its origin leads to the rest. Pure.

import type { ServiceError } from '../../core/plain/errors.ts'
import { BODY_LEFT_OUT, describeProblem } from '../broker/dead-letter.ts'
import type { FetchedRecord } from './record-batches.ts'

export interface KafkaLetter {
  key: Buffer | null
  value: Buffer | null
  /** Names may come more than once. */
  headers: ReadonlyMap<Buffer, Buffer>
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

/** The whole one first, then without the larger of value and headers, then without both. */
export function toLetters(
  { topic, partition }: LetterOrigin,
  { offset, record }: FetchedRecord,
  problem: ServiceError,
): readonly KafkaLetter[] {
  const { value } = record
  const key = record.key?.subarray(0, KEY_BYTES_MAX) ?? null
  const original = record.headers.flatMap(([name, text]) =>
    name === null || text === null || name.toString().startsWith(OWN)
      ? []
      : [[name, text] as const],
  )
  const own: readonly Header[] = [
    ...describeProblem(problem),
    ['Paybell-Topic', topic],
    ['Paybell-Partition', String(partition)],
    ['Paybell-Offset', String(offset)],
    ...(record.key !== null && record.key.length > KEY_BYTES_MAX ? [KEY_CUT] : []),
  ]
  const headers = (kept: typeof original, ...marks: readonly Header[]) =>
    new Map([
      ...kept,
      ...[...own, ...marks].map(([name, text]) => [Buffer.from(name), Buffer.from(text)] as const),
    ])
  const headerBytes = original.reduce((sum, [name, text]) => sum + name.length + text.length, 0)
  return [
    { key, value, headers: headers(original) },
    headerBytes > (value?.length ?? 0)
      ? { key, value, headers: headers([], HEADERS_LEFT_OUT) }
      : { key, value: null, headers: headers(original, BODY_LEFT_OUT) },
    { key, value: null, headers: headers([], BODY_LEFT_OUT, HEADERS_LEFT_OUT) },
  ]
}
