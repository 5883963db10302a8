// Batches that are small as they come and large when they are decompressed. What is bounded is what is made, not only what is kept.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { compressionsAlgorithms } from '@platformatic/kafka'
import fc from 'fast-check'
import { type Codec, openBatch } from './open-batch.ts'
import { BATCH_BYTES_MAX, UnreadableBatch } from './unreadable.ts'

const MIB = 1_024 * 1_024
const COMPRESSED = ['gzip', 'snappy', 'lz4', 'zstd'] as const

const compress = (codec: Codec, bytes: Buffer) =>
  Buffer.from(compressionsAlgorithms[codec].compressSync(bytes))

/** A number of 32 bits, as snappy writes how long a block is. */
const lengthOf = (length: number) =>
  Buffer.from(
    [0, 7, 14, 21, 28].map((shift) => ((length >>> shift) & 0x7f) | (shift < 28 ? 0x80 : 0)),
  )

/** Java's stream of snappy: blocks of 32 KiB behind their lengths. */
function asStream(bytes: Buffer): Buffer {
  const head = Buffer.from('82534e4150505900' + '0000000100000001', 'hex')
  const parts = [head]
  for (let at = 0; at < bytes.length; at += 32_768) {
    const block = compress('snappy', bytes.subarray(at, at + 32_768))
    const length = Buffer.alloc(4)
    length.writeUInt32BE(block.length)
    parts.push(length, block)
  }
  return Buffer.concat(parts)
}

/** What a batch makes of the process, in bytes outside of the heap. */
async function madeBy(codec: Codec, bytes: Buffer, bytesMax: number): Promise<number> {
  const before = process.memoryUsage().arrayBuffers
  await assert.rejects(openBatch(codec, bytes, bytesMax), UnreadableBatch)
  return process.memoryUsage().arrayBuffers - before
}

test('every codec gives back what was compressed', async () => {
  const codecs = fc.constantFrom(...COMPRESSED)
  const piece = fc.tuple(fc.uint8Array({ maxLength: 300 }), fc.integer({ min: 1, max: 400 }))
  await fc.assert(
    fc.asyncProperty(codecs, fc.array(piece, { maxLength: 8 }), async (codec, pieces) => {
      const repeated = pieces.flatMap(([bytes, count]) =>
        Array.from({ length: count }, () => bytes),
      )
      const bytes = Buffer.concat(repeated)
      // The client cannot compress nothing by these two once its memory has grown (a detached ArrayBuffer).
      fc.pre(bytes.length > 0 || codec === 'gzip' || codec === 'zstd')
      assert.ok((await openBatch(codec, compress(codec, bytes))).equals(bytes))
      if (codec === 'snappy') assert.ok((await openBatch(codec, asStream(bytes))).equals(bytes))
    }),
    { numRuns: 300 },
  )
})

test('large ones, too, and those that cannot be made smaller', async () => {
  const mixed = Buffer.concat([
    randomBytes(3 * MIB),
    Buffer.alloc(3 * MIB, 'payment '),
    randomBytes(9),
  ])
  for (const codec of COMPRESSED) {
    assert.ok((await openBatch(codec, compress(codec, mixed))).equals(mixed), codec)
  }
  assert.ok((await openBatch('snappy', asStream(mixed))).equals(mixed))
})

test('what is exactly as large as the limit is opened', async () => {
  const bytes = Buffer.alloc(2 * MIB, 'payment ')
  for (const codec of ['none', ...COMPRESSED] as const) {
    assert.equal(
      (await openBatch(codec, compress(codec, bytes), bytes.length)).length,
      bytes.length,
    )
    await assert.rejects(
      openBatch(codec, compress(codec, bytes), bytes.length - 1),
      /more than/,
      codec,
    )
  }
})

test('regression: of a batch that becomes 100 MB no more than the limit is made', async (t) => {
  const zeros = Buffer.alloc(100_000_000)
  for (const codec of ['gzip', 'zstd', 'lz4'] as const) {
    const bomb = compress(codec, zeros)
    const made = await madeBy(codec, bomb, BATCH_BYTES_MAX)
    t.diagnostic(`${codec}: ${bomb.length} bytes; ${Math.round(made / MIB)} MiB were made of it`)
    // The room for it, and the pieces that were copied into it, of which some may be gone.
    assert.ok(made < 2 * BATCH_BYTES_MAX + 8 * MIB, `${codec} ${made}`)
  }
  // Their blocks say how large they are.
  for (const bomb of [compress('snappy', zeros), asStream(zeros)]) {
    assert.ok((await madeBy('snappy', bomb, BATCH_BYTES_MAX)) < MIB)
  }
})

test('a block that lies about its length is damaged, and no memory is reserved for the lie', async () => {
  const liar = Buffer.concat([lengthOf(60 * MIB), Buffer.from([0, 65])])
  assert.ok((await madeBy('snappy', liar, BATCH_BYTES_MAX)) < MIB)
  const short = Buffer.concat([lengthOf(1), Buffer.from([4, 65, 66])])
  assert.ok((await madeBy('snappy', short, BATCH_BYTES_MAX)) < MIB)
})

test('bytes that were altered are opened to something, or refused, and never more', async () => {
  const text = Buffer.from(JSON.stringify({ text: 'a payment '.repeat(50), more: [1, 2, 3] }))
  const limit = 64 * 1_024
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...COMPRESSED),
      fc.boolean(),
      fc.array(fc.tuple(fc.nat(500), fc.nat(255)), { minLength: 1, maxLength: 5 }),
      fc.nat(500),
      async (codec, isStream, changes, cut) => {
        const isOurs = codec === 'snappy' && isStream
        const bytes = isOurs ? asStream(text) : compress(codec, text)
        for (const [at, byte] of changes) bytes[at % bytes.length] = byte
        const left = bytes.subarray(0, Math.max(1, bytes.length - (cut % 7)))
        try {
          assert.ok((await openBatch(codec, left, limit)).length <= limit)
        } catch (error) {
          assert.ok(error instanceof UnreadableBatch, String(error))
        }
      },
    ),
    { numRuns: 2_000 },
  )
})
