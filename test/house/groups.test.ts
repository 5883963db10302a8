// No test is left out of `npm test`, and none runs twice.

import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { test } from 'node:test'
import { filesOf, GROUPS, type GroupName } from '../groups.ts'

test('every test file is in exactly one group', () => {
  const all = globSync(['{server,cli}/**/*.test.ts', 'sdk/src/**/*.test.ts', 'test/**/*.test.ts'])
  const grouped = (Object.keys(GROUPS) as GroupName[]).flatMap(filesOf)
  assert.ok(all.length > 250)
  assert.deepEqual(grouped.toSorted(), all.toSorted())
})
