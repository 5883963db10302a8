// However large a batch becomes, to read it holds the loop for no longer than a request may.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { encode, fetched } from '../../../test/support/kafka-batches.ts'
import { isTooLong, longestHoldMs } from '../../../test/support/longest-hold.ts'
import { readBatches } from './record-batches.ts'
import { BATCH_BYTES_MAX } from './unreadable.ts'

const CODECS = ['gzip', 'snappy', 'lz4', 'zstd'] as const

const SHAPES: readonly [string, () => { value: Buffer }[]][] = [
  ['just below it', () => [{ value: Buffer.alloc(BATCH_BYTES_MAX - 1_000) }]],
  [
    'of mixed content',
    () => [{ value: Buffer.concat([randomBytes(9_000_000), Buffer.alloc(50_000_000, 'x')]) }],
  ],
]

for (const codec of CODECS) {
  test(`a batch in ${codec} is opened in steps`, async (t) => {
    for (const [shape, make] of SHAPES) {
      const bytes = encode(0n, make(), { compression: codec })
      const longestMs = await longestHoldMs(() =>
        Array.fromAsync(readBatches(fetched(0, [bytes]), 0n)),
      )
      t.diagnostic(`${codec} ${shape}: ${bytes.length} bytes, ${longestMs.toFixed(1)} ms`)
      assert.ok(!isTooLong(longestMs), `${codec} ${shape}: ${longestMs} ms`)
    }
  })
}
