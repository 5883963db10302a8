// A file is found: by its name alone in the server, where routes are excepted, which are named after what they serve,
// as its table is in the store; and in a folder that can be looked over.

import assert from 'node:assert/strict'
import { basename, dirname } from 'node:path'
import { test } from 'node:test'
import { sourceFiles } from './source-files.ts'

const FILES_MAX = 25

const files = sourceFiles('server', 'cli', 'sdk/src', 'console/src')

test('no two files of the server have one name', () => {
  const named = files.filter((file) => /^server\/(?!http\/routes\/)/.test(file))
  assert.ok(named.length > 300)
  const same = [...Map.groupBy(named, (file) => basename(file)).values()]
  assert.deepEqual(
    same.filter(({ length }) => length > 1),
    [],
  )
})

test(`no folder has more than ${FILES_MAX} files besides tests`, () => {
  const byFolder = [...Map.groupBy(files, (file) => dirname(file)).values()]
  assert.deepEqual(
    byFolder.filter(({ length }) => length > FILES_MAX),
    [],
  )
})
