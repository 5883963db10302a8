// Bytes to lines, each with its number and its position in the file. A line that is longer than any
// payment can be is counted and not kept, so that memory does not grow with the input.

import { PAYMENT_BODY_BYTES_MAX } from '../../server/core/payments/payment.ts'

export interface InputLine {
  /** Counted from 1. */
  number: number
  /** Without its newline; null when it is too long to be a payment. */
  bytes: Uint8Array | null
  /** Where the line after it begins. */
  end: number
}

const NEWLINE = 0x0a

/** `from` is where the chunks begin: how many lines and bytes came before. */
export async function* readLines(
  chunks: AsyncIterable<Uint8Array>,
  from: { line: number; offset: number },
  bytesMax: number = PAYMENT_BODY_BYTES_MAX,
): AsyncGenerator<InputLine> {
  let parts: Uint8Array[] = []
  let length = 0
  let number = from.line
  let offset = from.offset
  for await (const chunk of chunks) {
    let start = 0
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, start)) {
      length += at - start
      if (length <= bytesMax) parts.push(chunk.subarray(start, at))
      yield { number: ++number, bytes: join(parts, length, bytesMax), end: offset + at + 1 }
      parts = []
      length = 0
      start = at + 1
    }
    length += chunk.length - start
    if (length <= bytesMax) parts.push(chunk.subarray(start))
    else parts = []
    offset += chunk.length
  }
  if (length > 0) yield { number: ++number, bytes: join(parts, length, bytesMax), end: offset }
}

function join(parts: readonly Uint8Array[], length: number, bytesMax: number): Uint8Array | null {
  if (length > bytesMax) return null
  return parts.length === 1 ? (parts[0] as Uint8Array) : Buffer.concat(parts, length)
}
