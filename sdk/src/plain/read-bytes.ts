// Reads a body up to a limit, so that a sender cannot fill the memory.

import { type Bytes, concat } from './hmac.ts'

export class BodyTooLarge extends Error {}
/** The connection ended first. */
export class BodyUnreadable extends Error {}

export async function readBytes(
  source: { body: ReadableStream<Uint8Array> | null; headers: Headers },
  bytesMax: number,
): Promise<Bytes> {
  const { body } = source
  if (Number(source.headers.get('content-length')) > bytesMax) {
    await body?.cancel()
    throw new BodyTooLarge(`The body has more than ${bytesMax} bytes.`)
  }
  if (!body) return new Uint8Array(0)
  const reader = body.getReader()
  const parts: Uint8Array[] = []
  let length = 0
  for (;;) {
    const { done, value } = await reader.read().catch((cause) => {
      throw new BodyUnreadable('The body could not be read to its end.', { cause })
    })
    if (done) return concat(parts)
    length += value.length
    if (length > bytesMax) {
      await reader.cancel()
      throw new BodyTooLarge(`The body has more than ${bytesMax} bytes.`)
    }
    parts.push(value)
  }
}
