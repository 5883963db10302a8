// The input of an import: a file, read from where the last import ended, or a stream, of which as many
// bytes are skipped. Either way its beginning is compared first.

import { createReadStream } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { HEAD_BYTES_MAX, headOf, type ImportProgress, isSameHead } from './progress-file.ts'

export interface Input {
  head: ImportProgress['head']
  /** False when the input does not begin as it did, or ends before where the import stood. */
  isSame: boolean
  bytesTotal: number | null
  chunks: AsyncIterable<Uint8Array>
}

export async function openFile(path: string, earlier: ImportProgress | null): Promise<Input> {
  const { size } = await stat(path)
  const file = await open(path, 'r')
  const bytes = Buffer.alloc(Math.min(HEAD_BYTES_MAX, size))
  try {
    await file.read(bytes, 0, bytes.length, 0)
  } finally {
    await file.close()
  }
  const isSame = earlier === null || (isSameHead(earlier.head, bytes) && size >= earlier.offset)
  return {
    head: headOf(bytes),
    isSame,
    bytesTotal: size,
    chunks: createReadStream(path, { start: earlier?.offset ?? 0, highWaterMark: 256 * 1024 }),
  }
}

export async function openStream(
  stream: AsyncIterable<Uint8Array>,
  earlier: ImportProgress | null,
): Promise<Input> {
  const chunks = stream[Symbol.asyncIterator]()
  const first: Uint8Array[] = []
  let length = 0
  while (length < HEAD_BYTES_MAX) {
    const { value, done } = await chunks.next()
    if (done) break
    first.push(value)
    length += value.length
  }
  const head = Buffer.concat(first)
  return {
    head: headOf(head),
    isSame: earlier === null || isSameHead(earlier.head, head),
    bytesTotal: null,
    chunks: skip(earlier?.offset ?? 0, head, chunks),
  }
}

async function* skip(
  count: number,
  head: Uint8Array,
  rest: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  let left = count
  for (let chunk: Uint8Array | null = head; chunk !== null; ) {
    if (chunk.length > left) yield chunk.subarray(left)
    left = Math.max(0, left - chunk.length)
    const { value, done } = await rest.next()
    chunk = done ? null : value
  }
  if (left > 0) throw new Error('the input ends before where the last import stood')
}
