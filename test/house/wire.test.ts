// The SDK's types are the schemas of the interface, written down: a change of a schema shows in the same
// commit what callers will see.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { pathOf, wireFiles } from '../wire/main.ts'

for (const [file, text] of Object.entries(wireFiles())) {
  test(`${file} is what the schemas of the interface say (if not: npm run wire)`, () => {
    const shown = readFileSync(pathOf(file), 'utf8')
    const lines = new Set(shown.split('\n'))
    assert.deepEqual(
      text.split('\n').filter((line) => !lines.has(line)),
      [],
    )
    assert.equal(shown === text, true)
  })
}
