// Frames of LZ4. Few declare how large they are, so their output is counted while it is made, and room is reserved for no more
// than their blocks may become. Checksums are not looked at. A step at a time: see open-batch.ts.
// https://github.com/lz4/lz4/blob/dev/doc/lz4_Frame_format.md and lz4_Block_format.md

import { damaged, tooLarge } from './unreadable.ts'

const MAGIC = 0x184d2204
const IS_UNCOMPRESSED = 0x8000_0000
const HAS_BLOCK_CHECKSUM = 0b1_0000
const HAS_SIZE = 0b1000
const HAS_CHECKSUM = 0b100
const HAS_DICTIONARY = 0b1
/** By the number in the frame's head. */
const BLOCK_BYTES_MAX = new Map([4, 5, 6, 7].map((size) => [size, 1 << (8 + 2 * size)]))
/** A byte more of a length stands for so many. */
const RATIO_MAX = 255
const MATCH_BYTES_MIN = 4

interface Block {
  bytes: Buffer
  isCompressed: boolean
  bytesMax: number
}

export function* openLz4(bytes: Buffer, bytesMax: number): Generator<void, Buffer> {
  const blocks = splitFrames(bytes)
  const total = blocks.reduce((sum, block) => sum + block.bytesMax, 0)
  // Pages that are never written cost no memory.
  const opened = Buffer.allocUnsafe(Math.min(total, bytesMax))
  let to = 0
  for (const { bytes: own, isCompressed, bytesMax: most } of blocks) {
    const end = Math.min(opened.length, to + most)
    const past = end === bytesMax ? tooLarge(bytesMax) : damaged('lz4')
    if (isCompressed) to = openBlock(own, opened, { from: to, end, past })
    else if (to + own.length > end) throw past
    else to += own.copy(opened, to)
    // A block has 4 MiB at most.
    yield
  }
  return opened.subarray(0, to)
}

function splitFrames(bytes: Buffer): readonly Block[] {
  const blocks: Block[] = []
  for (let at = 0; at < bytes.length; ) at = splitFrame(bytes, at, blocks)
  return blocks
}

/** Where the frame ends. */
function splitFrame(bytes: Buffer, start: number, blocks: Block[]): number {
  const reach = (end: number) => {
    if (end > bytes.length) throw damaged('lz4')
    return end
  }
  reach(start + 7)
  const flags = bytes[start + 4] as number
  const largest = BLOCK_BYTES_MAX.get(((bytes[start + 5] as number) >> 4) & 7)
  if (bytes.readUInt32LE(start) !== MAGIC || flags >> 6 !== 1) throw damaged('lz4')
  if (largest === undefined || flags & HAS_DICTIONARY) throw damaged('lz4')
  const checksumBytes = flags & HAS_BLOCK_CHECKSUM ? 4 : 0
  let at = start + 7 + (flags & HAS_SIZE ? 8 : 0)
  for (;;) {
    const size = bytes.readUInt32LE(reach(at + 4) - 4)
    at += 4
    if (size === 0) return reach(at + (flags & HAS_CHECKSUM ? 4 : 0))
    const isCompressed = size < IS_UNCOMPRESSED
    const length = isCompressed ? size : size - IS_UNCOMPRESSED
    if (length > largest) throw damaged('lz4')
    const own = bytes.subarray(at, reach(at + length))
    const bytesMax = isCompressed ? Math.min(largest, length * RATIO_MAX) : length
    blocks.push({ bytes: own, isCompressed, bytesMax })
    at = reach(at + length + checksumBytes)
  }
}

/** How far it is written. A block may refer to what those before it have become. */
function openBlock(
  block: Buffer,
  out: Buffer,
  { from, end, past }: { from: number; end: number; past: Error },
): number {
  let at = 0
  let to = from
  const more = (count: number) => {
    if (count < 15) return count
    let sum = count
    for (;;) {
      const byte = block[at++]
      if (byte === undefined) throw damaged('lz4')
      sum += byte
      if (byte < 255) return sum
    }
  }
  while (at < block.length) {
    const token = block[at++] as number
    const literals = more(token >> 4)
    if (at + literals > block.length) throw damaged('lz4')
    if (to + literals > end) throw past
    to += block.copy(out, to, at, at + literals)
    at += literals
    // The last sequence has literals alone.
    if (at === block.length) return to
    if (at + 2 > block.length) throw damaged('lz4')
    const offset = block.readUInt16LE(at)
    at += 2
    const count = more(token & 15) + MATCH_BYTES_MIN
    if (offset === 0 || offset > to) throw damaged('lz4')
    if (to + count > end) throw past
    copyMatch(out, to, offset, count)
    to += count
  }
  throw damaged('lz4')
}

/** A match may reach into what it writes: then each copy is as long as what is there. */
function copyMatch(out: Buffer, to: number, offset: number, count: number): void {
  const source = to - offset
  for (let done = 0; done < count; ) {
    const length = Math.min(count - done, offset + done)
    out.copyWithin(to + done, source, source + length)
    done += length
  }
}
