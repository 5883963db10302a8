// The programs that the documents for developers name: each is run small, once.

import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { programsNamedIn } from './named-programs.ts'
import { assertDoes, ROOT } from './run-tool.ts'
import { programs } from './small-runs.ts'

const DOCUMENTS = [
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  'README.md',
  'RELEASING.md',
  'bench/README.md',
  'docs/scaling.md',
]

const folder = mkdtempSync(join(tmpdir(), 'paybell-programs-'))
after(() => rmSync(folder, { recursive: true, force: true }))

const PROGRAMS = programs(folder)

test('regression: every program that the documents for developers name is run by a test', () => {
  const texts = DOCUMENTS.map((file) => readFileSync(join(ROOT, file), 'utf8'))
  const files = new Set(texts.flatMap(programsNamedIn))
  assert.ok(files.size > 5)
  assert.deepEqual(Object.keys(PROGRAMS).toSorted(), [...files].toSorted())
  for (const one of Object.values(PROGRAMS)) {
    if ('by' in one) assert.ok(existsSync(join(ROOT, one.by)), one.by)
  }
})

for (const [file, one] of Object.entries(PROGRAMS)) {
  if ('by' in one) continue
  test(`node ${file}`, { skip: one.skip ?? false }, (t) =>
    assertDoes(t, one, process.execPath, [file, ...one.args]),
  )
}
