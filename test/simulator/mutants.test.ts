// Each deliberate fault still finds what it changes, exactly once, and the test that it names. That it is caught takes
// minutes, and is for simulator.slow.test.ts; that code was renamed under it shows here.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MUTANTS } from './mutant-table.ts'
import { mutate } from './mutated-files.ts'
import { NamedPlaces } from './named-places.ts'
import { PROJECT } from './patched-copy.ts'

const places = new NamedPlaces(PROJECT)

test('every deliberate fault fits the code as it is', () => {
  for (const mutant of MUTANTS) {
    for (const [file, text] of mutate(mutant, places)) {
      assert.notEqual(text, places.textOf(file), mutant.name)
    }
  }
})

test('every test that a deliberate fault names is there', () => {
  const names = MUTANTS.flatMap((mutant) => ('test' in mutant ? [mutant.test] : []))
  for (const name of new Set(names)) places.testOf(name)
})
