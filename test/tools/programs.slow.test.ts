// The programs that the documents for developers name: each is run small, once.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { assertDoes, ROOT } from './run-tool.ts'
import { PROGRAMS } from './small-runs.ts'

test('every program that the documents for developers name is run by a test', () => {
  const texts = ['CONTRIBUTING.md', 'bench/README.md'].map((file) =>
    readFileSync(join(ROOT, file), 'utf8'),
  )
  const named = texts.flatMap((text) => [...text.matchAll(/\bnode (bench\/[\w/-]+\.ts)/g)])
  const files = new Set(named.map(([, file]) => file as string))
  assert.ok(files.size > 5)
  assert.deepEqual(Object.keys(PROGRAMS).toSorted(), [...files].toSorted())
})

for (const [file, one] of Object.entries(PROGRAMS)) {
  test(`node ${file}`, (t) => assertDoes(t, one, process.execPath, [file, ...one.args]))
}
