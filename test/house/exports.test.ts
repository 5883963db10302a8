// What a module exports is what others use of it: a value, or a re-export, that no other file imports is
// dead, or private. Types may be exported with the function that takes them.

import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** The sdk's exports are for its users; an entry point's for the program that loads it. */
const PRODUCTION = '{server,cli,bench,console/src}/**/*.{ts,tsx}'
const ALL = '{server,cli,bench,console,sdk,test}/**/*.{ts,tsx}'

const DECLARED = /^export (?:async |abstract )*(?:const|let|function\*?|class) (\w+)/gm
const LISTED = /^export (?:type )?\{([^}]*)\}/gm
const IMPORTED = /^(?:import|export) (?:type )?(?:\w+, )?\{([^}]*)\} from '(\.[^']+)'/gm
/** `import * as it from`, or `import()`: any of its exports may be meant. */
const WHOLE = /(?:^(?:import|export) \* (?:as \w+ )?from |\bimport\()'(\.[^']+)'/gm

function filesOf(pattern: string): string[] {
  return globSync(pattern, { cwd: ROOT }).filter((file) => !/node_modules|\/dist\//.test(file))
}

/** The names in a list of exports or imports; of `one as other` the one that `side` says. */
function namesIn(list: string, side: 0 | -1): string[] {
  const entries = list.split(',').map((entry) => entry.trim().replace(/^type /, ''))
  return entries.filter(Boolean).map((entry) => entry.split(' as ').at(side) as string)
}

function unusedExports(
  files: ReadonlyMap<string, string>,
  production: readonly string[],
): string[] {
  const used = new Set<string>()
  for (const [file, text] of files) {
    const path = (from: string) => join(dirname(file), from)
    for (const [, list, from] of text.matchAll(IMPORTED)) {
      for (const name of namesIn(list as string, 0)) used.add(`${path(from as string)} ${name}`)
    }
    for (const [, from] of text.matchAll(WHOLE)) used.add(path(from as string))
  }
  return production
    .filter((file) => !file.endsWith('.test.ts') && !used.has(file))
    .flatMap((file) => {
      const text = files.get(file) as string
      const names = [
        ...[...text.matchAll(DECLARED)].map(([, name]) => name as string),
        ...[...text.matchAll(LISTED)].flatMap(([, list]) => namesIn(list as string, -1)),
      ]
      return names.map((name) => `${file} ${name}`)
    })
    .filter((exported) => !used.has(exported))
}

test('every value that a module exports is imported by another file', () => {
  const files = new Map(filesOf(ALL).map((file) => [file, readFileSync(join(ROOT, file), 'utf8')]))
  const production = filesOf(PRODUCTION)
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
