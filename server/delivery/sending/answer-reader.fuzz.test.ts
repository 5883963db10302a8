// Our reader of answers beside Node's own: a few seeds here, a million answers by `npm run fuzz:answers`.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compareSeed } from '../../../test/fuzz/compare.ts'
import { compareBytes, EVERY_BYTE, KINDS_OF_BYTES } from '../../../test/fuzz/every-byte.ts'
import { sized } from '../../../test/support/size.ts'

test('what Node refuses is refused, and however an answer is cut, it is read the same', async () => {
  const tally = { answers: 0, takenByNode: 0, takenByUs: 0, keptByUs: 0 }
  for (let seed = 1; seed <= 300; seed += 1) await compareSeed(seed, tally)
  // Of the spoilt answers some are still right: dice that spoil all of them, or none, prove little.
  assert.ok(tally.keptByUs > 5, JSON.stringify(tally))
  assert.ok(tally.takenByUs > 30 && tally.takenByUs < 270, JSON.stringify(tally))
})

test('whatever byte stands too much or in place of another, what is taken Node reads the same', async () => {
  const bytes = sized(KINDS_OF_BYTES, EVERY_BYTE)
  const { read, taken } = await compareBytes(bytes)
  assert.ok(read > 600 * bytes.length && taken > 200 * bytes.length, `${taken} of ${read}`)
})
