// Snappy as producers of Kafka write it: one block, or the blocks of Java's stream, each behind its length. The lengths that
// the blocks declare are looked at before anything is made of them. A step at a time: see open-batch.ts.
// https://github.com/google/snappy/blob/main/format_description.txt

import { damaged, tooLarge } from './unreadable.ts'

const STREAM_MAGIC = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0x00])
/** The magic and two versions. */
const STREAM_HEAD_BYTES = 16
const STEP_BYTES = 1_024 * 1_024
/** What two bytes, the shortest element, stand for at most is less. */
const RATIO_MAX = 64

export function* openSnappy(bytes: Buffer, bytesMax: number): Generator<void, Buffer> {
  const blocks = splitBlocks(bytes)
  let total = 0
  for (const block of blocks) {
    const { length } = readLength(block)
    if (length > block.length * RATIO_MAX) throw damaged('snappy')
    total += length
  }
  if (total > bytesMax) throw tooLarge(bytesMax)
  const opened = Buffer.allocUnsafe(total)
  let from = 0
  for (const block of blocks) from = yield* openBlock(block, opened, from)
  return opened
}

function splitBlocks(bytes: Buffer): readonly Buffer[] {
  if (!bytes.subarray(0, STREAM_MAGIC.length).equals(STREAM_MAGIC)) return [bytes]
  const blocks: Buffer[] = []
  for (let at = STREAM_HEAD_BYTES; at < bytes.length; ) {
    if (at + 4 > bytes.length) throw damaged('snappy')
    const end = at + 4 + bytes.readUInt32BE(at)
    if (end > bytes.length) throw damaged('snappy')
    blocks.push(bytes.subarray(at + 4, end))
    at = end
  }
  return blocks
}

function readLength(block: Buffer): { length: number; at: number } {
  let length = 0
  for (let at = 0; at < 5; at++) {
    const byte = block[at]
    if (byte === undefined) break
    length += (byte & 0x7f) * 2 ** (7 * at)
    if (byte < 0x80) return { length, at: at + 1 }
  }
  throw damaged('snappy')
}

function* openBlock(block: Buffer, opened: Buffer, from: number): Generator<void, number> {
  const { length, at: first } = readLength(block)
  const end = from + length
  let to = from
  let at = first
  let nextStep = to + STEP_BYTES
  while (at < block.length) {
    if (to >= nextStep) {
      yield
      nextStep = to + STEP_BYTES
    }
    const tag = block[at] as number
    const kind = tag & 3
    at++
    if (kind === 0) {
      const extra = Math.max(0, (tag >> 2) - 59)
      if (at + extra > block.length) throw damaged('snappy')
      const count = (extra === 0 ? tag >> 2 : block.readUIntLE(at, extra)) + 1
      at += extra
      if (at + count > block.length || to + count > end) throw damaged('snappy')
      block.copy(opened, to, at, at + count)
      at += count
      to += count
      continue
    }
    const offsetBytes = kind === 3 ? 4 : kind
    if (at + offsetBytes > block.length) throw damaged('snappy')
    const low = block.readUIntLE(at, offsetBytes)
    const offset = kind === 1 ? ((tag >> 5) << 8) | low : low
    const count = kind === 1 ? ((tag >> 2) & 7) + 4 : (tag >> 2) + 1
    at += offsetBytes
    // A block refers to nothing before its own beginning.
    if (offset === 0 || offset > to - from || to + count > end) throw damaged('snappy')
    // Not by a copy of memory: what is copied may be what is being written.
    for (let index = 0; index < count; index++, to++) opened[to] = opened[to - offset] as number
  }
  if (to !== end) throw damaged('snappy')
  return to
}
