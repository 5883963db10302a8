// What a module exports is what others use of it: a value, or a re-export, that no other file imports is
// dead, or private. Types may be exported with the function that takes them.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { filesIn, importsIn, readText } from './source-files.ts'

const DECLARED = /^export (?:async |abstract )*(?:const|let|function\*?|class) (\w+)/gm
const LISTED = /^export (?:type )?\{([^}]*)\}/gm

/** Of `one, two as three`: one and three. */
function exportedIn(list: string): string[] {
  const entries = list.split(',').map((entry) => entry.trim().replace(/^type /, ''))
  return entries.filter(Boolean).map((entry) => entry.split(' as ').at(-1) as string)
}

function exportsIn(text: string): readonly string[] {
  return [
    ...[...text.matchAll(DECLARED)].map(([, name]) => name as string),
    ...[...text.matchAll(LISTED)].flatMap(([, list]) => exportedIn(list as string)),
  ]
}

function unusedExports(
  files: ReadonlyMap<string, string>,
  production: readonly string[],
): string[] {
  const used = new Set<string>()
  for (const [file, text] of files) {
    for (const { target, names } of importsIn(file, text)) {
      if (names === null) used.add(target)
      for (const name of names ?? []) used.add(`${target} ${name}`)
    }
  }
  return production
    .filter((file) => !file.endsWith('.test.ts') && !used.has(file))
    .flatMap((file) => exportsIn(files.get(file) as string).map((name) => `${file} ${name}`))
    .filter((exported) => !used.has(exported))
}

test('every value that a module exports is imported by another file', () => {
  const all = filesIn('server', 'cli', 'bench', 'console', 'sdk', 'test')
  const files = new Map(all.map((file) => [file, readText(file)]))
  // The SDK's exports are for its users.
  const production = filesIn('server', 'cli', 'bench', 'console/src')
  assert.ok(production.length > 300, `${production.length} files`)
  assert.deepEqual(unusedExports(files, production), [])
})

test('what the test above looks for is found when it is there', () => {
  const files = new Map([
    [
      'server/a.ts',
      `export const used = 1\nexport function alone() {}\nexport interface Options {}\nexport { b as c } from './b.ts'\n`,
    ],
    ['server/b.ts', `export const b = 1\nexport async function late() {}\n`],
    ['server/c.ts', `export class Whole {}\n`],
    [
      'test/d.ts',
      `import {\n  type Options,\n  used as it,\n} from '../server/a.ts'\nimport('../server/c.ts')\n`,
    ],
  ])
  const production = ['server/a.ts', 'server/b.ts', 'server/c.ts']
  assert.deepEqual(unusedExports(files, production), [
    'server/a.ts alone',
    'server/a.ts c',
    'server/b.ts late',
  ])
})
