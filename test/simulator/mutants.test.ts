// Each deliberate fault still finds the text that it replaces, exactly once. That it is caught takes minutes, and is for
// simulator.slow.test.ts; that code was moved away from under it shows here.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { MUTANTS } from './mutant-table.ts'

const PROJECT = new URL('../../', import.meta.url)

test('every deliberate fault fits the code as it is', () => {
  for (const { name, patches } of MUTANTS) {
    const texts = new Map<string, string>()
    for (const { file, find, replace } of patches) {
      const text = texts.get(file) ?? readFileSync(new URL(file, PROJECT), 'utf8')
      assert.equal(text.split(find).length - 1, 1, `${name}: ${file}: ${find}`)
      texts.set(
        file,
        text.replace(find, () => replace),
      )
    }
  }
})
