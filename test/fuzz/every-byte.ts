// Every byte there is, or one of each kind, put in or in place of another, at every place of a few answers: what dice take
// long to find.

import { assertNoMoreLenient, told } from './compare.ts'
import { readByNode } from './node-reader.ts'
import { readByUs } from './our-reader.ts'

const ANSWERS = [
  'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok',
  'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;a="b"\r\nok\r\n0\r\nX: a\r\n\r\n',
  'HTTP/1.0 200 OK\r\nConnection: x, keep-alive\r\nContent-Length: 0\r\n\r\n',
  'HTTP/1.1 100 x\r\nA: b\r\n\r\nHTTP/1.1 503 x\r\nRetry-After: 5\r\nConnection: close\r\n\r\nab',
  'HTTP/1.1 204 x\r\nKeep-Alive: timeout=5\r\n\r\n',
]

/** Every byte, and one or two of each kind that a grammar tells apart. */
export const EVERY_BYTE: readonly number[] = [...Array(256).keys()]
export const KINDS_OF_BYTES: readonly number[] = [
  ...Buffer.from('\0\b\t\n\v\r\x1f !"(),-/019:;=@AGZ\\_az{\x7f'),
  ...[0x80, 0xa0, 0xff],
]

/** How many were read, and how many of them our reader took; Node is asked about those only. */
export async function compareBytes(
  bytes: readonly number[],
): Promise<{ read: number; taken: number }> {
  const count = { read: 0, taken: 0 }
  for (const answer of ANSWERS) {
    for (let at = 0; at <= answer.length; at += 1) {
      for (const replaced of [0, 1]) {
        for (const byte of bytes) {
          const end = answer.slice(at + replaced)
          await compare(answer.slice(0, at) + String.fromCharCode(byte) + end, count)
        }
      }
    }
  }
  return count
}

async function compare(text: string, count: { read: number; taken: number }): Promise<void> {
  // As `spoil` does, and for the same reason.
  if (text.includes('HTTP/1.0 1')) return
  const bytes = Buffer.from(text, 'latin1')
  const ours = readByUs(bytes, [])
  count.read += 1
  if (ours.status === 0) return
  count.taken += 1
  assertNoMoreLenient(ours, await readByNode(bytes), told(bytes, null))
}
