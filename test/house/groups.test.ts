// No test is left out of `npm test` and `npm run test:slow`, and none runs twice.

import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { test } from 'node:test'
import { filesOf, GROUP_NAMES } from '../groups.ts'

test('every test file is in exactly one group', () => {
  const all = globSync([
    '{server,cli}/**/*.test.ts',
    'sdk/src/**/*.test.ts',
    'test/**/*.test.ts',
    'bench/{floors,harness,paybell,peers,report,scenarios}/**/*.test.ts',
  ])
  const grouped = GROUP_NAMES.flatMap(filesOf)
  assert.ok(all.length > 250)
  assert.deepEqual(grouped.toSorted(), all.toSorted())
})

test('what is long by nature is in its name, and in no group of `npm test`', () => {
  const slow = filesOf('slow')
  assert.ok(slow.length > 0)
  assert.deepEqual(
    slow.filter((file) => !file.endsWith('.slow.test.ts')),
    [],
  )
})
