// A file has one purpose and about 150 lines. One above 350 says in its first six lines why it is long, as
// `// Long because …`. Files of tests are excepted: each is a list of claims about one thing, read by its
// names, and cut in two it would only have its set-up twice.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readText, sourceFiles } from './source-files.ts'

const LINES_MAX = 350
const REASON = /^(\/\/|--|#) Long because \S/m

test('no file is longer than 350 lines, unless it says why', () => {
  const files = sourceFiles('server', 'cli', 'sdk/src', 'console/src', 'test', 'bench')
  assert.ok(files.length > 500)
  const long = files.filter((file) => {
    const lines = readText(file).split('\n')
    return lines.length - 1 > LINES_MAX && !REASON.test(lines.slice(0, 6).join('\n'))
  })
  assert.deepEqual(long, [])
})
