// A file of the server is found by its name alone: no two have the same. Routes are excepted, which are named after what
// they serve, as its table is in the store.

import assert from 'node:assert/strict'
import { basename } from 'node:path'
import { test } from 'node:test'
import { sourceFiles } from './source-files.ts'

test('no two files of the server have one name', () => {
  const files = sourceFiles('server').filter((file) => !file.startsWith('server/http/routes/'))
  assert.ok(files.length > 300)
  const byName = Map.groupBy(files, (file) => basename(file))
  assert.deepEqual(
    [...byName.values()].filter((same) => same.length > 1),
    [],
  )
})
