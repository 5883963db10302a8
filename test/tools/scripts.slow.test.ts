// The scripts of package.json: each is run small, once, by this test or the one that small-runs.ts names.

import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { ROOT, testScripts } from './run-tool.ts'
import { MEASURES, scripts } from './small-runs.ts'

const folder = mkdtempSync(join(tmpdir(), 'paybell-tools-'))
after(() => rmSync(folder, { recursive: true, force: true }))

const SCRIPTS = scripts(folder)

test('every script of package.json is run by a test', () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const run = { ...SCRIPTS, ...MEASURES }
  assert.deepEqual(Object.keys(run).toSorted(), Object.keys(scripts).toSorted())
  for (const one of Object.values(run)) {
    if ('by' in one) assert.ok(existsSync(join(ROOT, one.by)), one.by)
  }
})

testScripts(SCRIPTS)
