// Decompresses what a batch holds. Never more than the limit is made of it, and in no stretch that others would wait for: what
// turns out to be large is decompressed beside the loop (gzip, zstd), or a step at a time.

import { setImmediate as yieldToOthers } from 'node:timers/promises'
import {
  createGunzip,
  createZstdDecompress,
  gunzipSync,
  type InputType,
  type ZlibOptions,
  zstdDecompressSync,
} from 'node:zlib'
import { openLz4 } from './lz4.ts'
import { openSnappy } from './snappy.ts'
import { BATCH_BYTES_MAX, damaged, tooLarge, UnreadableBatch } from './unreadable.ts'

/** By the number in the attributes of a batch. */
export const CODECS = ['none', 'gzip', 'snappy', 'lz4', 'zstd'] as const
export type Codec = (typeof CODECS)[number]

/** So much is decompressed at once: a millisecond or two. */
const AT_ONCE_BYTES_MAX = 1_024 * 1_024

/** At once, and beside the loop, a piece after the other. */
const INFLATES = {
  gzip: { now: gunzipSync, open: createGunzip },
  zstd: { now: zstdDecompressSync, open: createZstdDecompress },
} satisfies Partial<Record<Codec, Inflate>>

interface Inflate {
  now(bytes: InputType, limits: Pick<ZlibOptions, 'maxOutputLength'>): Buffer
  open(limits: Pick<ZlibOptions, 'chunkSize'>): NodeJS.ReadWriteStream & { destroy(): void }
}

/** Throws an `UnreadableBatch`. */
export async function openBatch(
  codec: Codec,
  bytes: Buffer,
  bytesMax = BATCH_BYTES_MAX,
): Promise<Buffer> {
  switch (codec) {
    case 'none':
      if (bytes.length > bytesMax) throw tooLarge(bytesMax)
      return bytes
    case 'gzip':
    case 'zstd':
      return inflate(codec, bytes, bytesMax)
    case 'snappy':
      return inSteps(openSnappy(bytes, bytesMax))
    case 'lz4':
      return inSteps(openLz4(bytes, bytesMax))
  }
}

async function inflate(codec: 'gzip' | 'zstd', bytes: Buffer, bytesMax: number): Promise<Buffer> {
  const maxOutputLength = Math.min(bytesMax, AT_ONCE_BYTES_MAX)
  try {
    if (bytes.length <= AT_ONCE_BYTES_MAX) return INFLATES[codec].now(bytes, { maxOutputLength })
  } catch (error) {
    if (!isTooLarge(error)) throw damaged(codec)
  }
  const pieces = INFLATES[codec].open({ chunkSize: AT_ONCE_BYTES_MAX })
  pieces.end(bytes)
  try {
    return await gather(pieces, bytesMax)
  } catch (error) {
    throw error instanceof UnreadableBatch ? error : damaged(codec)
  } finally {
    pieces.destroy()
  }
}

/** To join them in the end would hold the loop. Pages that are never written cost no memory. */
async function gather(pieces: AsyncIterable<Buffer | string>, bytesMax: number): Promise<Buffer> {
  const opened = Buffer.allocUnsafe(bytesMax)
  let to = 0
  for await (const piece of pieces as AsyncIterable<Buffer>) {
    if (to + piece.length > bytesMax) throw tooLarge(bytesMax)
    to += piece.copy(opened, to)
  }
  return opened.subarray(0, to)
}

function isTooLarge(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE'
}

async function inSteps(steps: Generator<void, Buffer>): Promise<Buffer> {
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
    await yieldToOthers()
  }
}
