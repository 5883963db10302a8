// No test is left out of all tiers, and none is in two.

import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { test } from 'node:test'
import { drawnFiles, filesOf, GROUP_NAMES, GROUPS, ROOT } from '../groups.ts'
import { readText } from './source-files.ts'

test('every test file is in exactly one group', () => {
  // Wherever it stands, and however it is spelt.
  const all = globSync('**/*.{test,spec}.{ts,tsx,mts,cts,js,jsx,mjs,cjs}', {
    cwd: ROOT,
    exclude: (path) => /(^|\/)(node_modules|dist)$/.test(path),
  })
  const grouped = GROUP_NAMES.flatMap(filesOf)
  assert.ok(all.length > 250)
  assert.deepEqual(grouped.toSorted(), all.toSorted())
})

test('no test is run alone: `only` leaves the others of its file out', () => {
  const only = new RegExp(`\\b${'only'}: true\\b`)
  const files = GROUP_NAMES.flatMap(filesOf)
  assert.deepEqual(
    files.filter((file) => only.test(readText(file))),
    [],
  )
})

test('a file of a later tier says so in its name', () => {
  for (const name of GROUP_NAMES) {
    const { tier } = GROUPS[name]
    const files = filesOf(name)
    assert.ok(files.length > 0, name)
    const ending =
      tier === 'test' ? /^[^.]+(?:\.fuzz)?\.test\.ts$/ : new RegExp(`\\.${tier}\\.test\\.ts$`)
    assert.deepEqual(
      files.filter((file) => !ending.test(file)),
      [],
    )
  }
})

test('over the landings every file of the release is run', () => {
  const drawn = new Set<string>()
  for (let commit = 0; commit < 300; commit++) {
    for (const file of drawnFiles(`${commit}`)) drawn.add(file)
  }
  assert.deepEqual(
    [...drawn].toSorted(),
    filesOf('release').filter((file) => !OF_ITS_OWN.has(file)),
  )
})

/** It has a smaller neighbour, which each landing runs. */
const OF_ITS_OWN = new Set([
  'test/adversary/killed-siblings.release.test.ts',
  'test/simulator/simulator.release.test.ts',
  'test/chaos/scenarios.release.test.ts',
])
