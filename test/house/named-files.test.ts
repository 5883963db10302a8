// The documents for developers name files of the house: each of them is there.

import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { ROOT, readText } from './source-files.ts'

const FOLDERS = ['server', 'cli', 'sdk', 'console', 'test', 'bench', 'migrations', 'docs']
const NAMED = new RegExp(`(?:\`|\\]\\()((?:${FOLDERS.join('|')})/[\\w./-]*)(?:\`|\\))`, 'g')

for (const document of ['ARCHITECTURE.md', 'CONTRIBUTING.md']) {
  test(`every file and folder that ${document} names is there`, () => {
    const named = [...readText(document).matchAll(NAMED)].map(([, path]) => path as string)
    assert.ok(named.length > 5, 'the reader of names finds hardly any')
    assert.deepEqual(
      named.filter((path) => !existsSync(join(ROOT, path))),
      [],
    )
  })
}
