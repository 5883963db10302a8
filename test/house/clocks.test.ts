// Whose clock decides (decision 0070): every file that asks for the time, or compares times in SQL, is in that record.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readText, sourceFiles } from './source-files.ts'

const RECORD = 'docs/decisions/0070-whose-clock-decides.md'
/** Asks for the time: of the clock that is handed down, of the machine, or of the database. */
const ASKS =
  /\bnowMs\(\)|\bDate\.now\b|\bnew Date\(\)|\bclock_timestamp\(\)|\bstatement_timestamp\(\)|\bcurrent_timestamp\b|(?<![\w.#])now\(\)/
/** Compares a time of a row with another one. */
const COMPARES = /\w(?:_at|_until|_since)\)? *(?:<=?|>=?) *[^=\s]/

test('every place where a time may decide is in the record of clocks, with what a jump costs it', () => {
  const files = sourceFiles('server').filter((file) => {
    const text = readText(file).replaceAll(/^\s*(?:\/\/|\*|\/\*\*).*$/gm, '')
    return ASKS.test(text) || (file.startsWith('server/store/') && COMPARES.test(text))
  })
  assert.ok(files.length > 80)
  const listed = new Set(readText(RECORD).match(/(?<=`)server\/[\w/.-]+\.ts(?=`)/g))
  assert.deepEqual(
    files.filter((file) => !listed.has(file)),
    [],
    `these read a clock: write into ${RECORD} what they decide by it, and what a jump ahead or back costs`,
  )
  assert.deepEqual(
    [...listed].filter((file) => !files.includes(file)),
    [],
    `these read no clock any more: take them out of ${RECORD}`,
  )
})
