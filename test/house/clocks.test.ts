// Time is handed in: as a clock, or to SQL as a parameter. Whose clock decides, and what a jump of it costs, says
// decision 0070; a clock of the machine or of the database is read here and nowhere else.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readText, sourceFiles } from './source-files.ts'

/** Each reads it to hand it down, to compare two clocks, or because it has no clock to be given. */
const READERS = [
  'server/delivery/seams/cautious-clock.ts',
  'server/route/known-cells.ts',
  'server/route/route-metrics.ts',
  'server/store/connection/database-clock.ts',
  'server/store/connection/lock-tries.ts',
  'server/store/owed/leases.ts',
  'server/store/schema/inspect-database.ts',
  'server/store/secrets/sealing-form.ts',
]

const OF_MACHINE = /\bDate\.now\b|\bnew Date\(\)/
const OF_DATABASE = /\b(?:clock|statement|transaction|current)_timestamp\b|(?<![\w.#])now\(\)/

test('no other file reads the clock of the machine or of the database', () => {
  const found = sourceFiles('server').filter((file) => {
    const code = readText(file).replaceAll(/^\s*(?:\/\/|\*|\/\*\*).*$/gm, '')
    return OF_MACHINE.test(code) || (file.startsWith('server/store/') && OF_DATABASE.test(code))
  })
  assert.deepEqual(found, READERS)
})
