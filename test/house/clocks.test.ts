// Time is handed in: as a clock, or to SQL as a parameter. Whose clock decides, and what a jump of it costs, says
// decision 0070; a clock of the machine or of the database is read here and nowhere else.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { databaseClocksOf, datesOf } from './reaches.ts'
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

test('no other file reads the clock of the machine or of the database', () => {
  const found = sourceFiles('server').filter((file) => {
    const code = readText(file)
    const hasSql = file.startsWith('server/store/')
    return datesOf(code).length > 0 || (hasSql && databaseClocksOf(code).length > 0)
  })
  assert.deepEqual(found, READERS)
})

test('regression: every clock of the database is seen, in any text of SQL', () => {
  for (const clock of [
    ...['clock_timestamp', 'statement_timestamp', 'transaction_timestamp', 'current_timestamp'],
    ...['localtimestamp', 'localtime', 'current_date', 'current_time', 'now()', 'CURRENT_DATE'],
    'timeofday(',
  ]) {
    const sql = `select ${clock}${clock.endsWith('(') ? ')' : ''}, 1`
    assert.deepEqual(databaseClocksOf(`db.query('${sql}')`), [clock], clock)
    assert.deepEqual(databaseClocksOf(`db.query(\`\${one} ${sql}\`)`), [clock], clock)
  }
  for (const code of [
    "db.query('select current_dates, d.now(), known() -- now() is the clock')",
    'db.query(`select 1 /* not localtime,\n nor current_date */`)',
    '// current_time\nconst localtime = now()',
  ]) {
    assert.deepEqual(databaseClocksOf(code), [], code)
  }
})
