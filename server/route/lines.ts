// Lines of NDJSON, one at a time, from bytes as they come: long ones are not kept, and null stands for them. And the wait of
// who writes them, when a stream is full.

import { once } from 'node:events'
import type { Writable } from 'node:stream'

const NEWLINE = 0x0a

export async function* readLines(
  chunks: AsyncIterable<Uint8Array>,
  lineBytesMax: number,
): AsyncGenerator<Buffer | null, void> {
  let parts: Uint8Array[] = []
  let length = 0
  const take = (): Buffer | null => {
    const line = length > lineBytesMax ? null : Buffer.concat(parts, length)
    parts = []
    length = 0
    return line
  }
  const keep = (part: Uint8Array) => {
    length += part.length
    if (length <= lineBytesMax) parts.push(part)
    else parts = []
  }
  for await (const chunk of chunks) {
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      keep(chunk.subarray(start, end))
      start = end + 1
      yield take()
    }
    if (start < chunk.length) keep(chunk.subarray(start))
  }
  if (length > 0) yield take()
}

/** Waits until a stream that is full takes more, or will take nothing any more. Nothing is left listening to it. */
export async function untilDrained(stream: Writable): Promise<void> {
  const stop = new AbortController()
  const { signal } = stop
  const waits = ['drain', 'close'].map((event) => once(stream, event, { signal }))
  await Promise.race(waits).finally(() => stop.abort())
  await Promise.allSettled(waits)
}
