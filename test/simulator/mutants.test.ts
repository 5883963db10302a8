// Each deliberate fault still finds the text that it replaces, exactly once. That it is caught takes minutes, and is for
// simulator.slow.test.ts; that code was moved away from under it shows here.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { MUTANTS } from './mutant-table.ts'
import { patched } from './patched-copy.ts'

const PROJECT = new URL('../../', import.meta.url)

test('every deliberate fault fits the code as it is', () => {
  for (const { name, patches } of MUTANTS) {
    const texts = new Map<string, string>()
    for (const patch of patches) {
      const text = texts.get(patch.file) ?? readFileSync(new URL(patch.file, PROJECT), 'utf8')
      assert.doesNotThrow(() => texts.set(patch.file, patched(text, patch)), name)
    }
  }
})
