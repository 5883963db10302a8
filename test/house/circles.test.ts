// No file imports itself by way of others: not by a type, not by a dynamic import. A circle of types would
// never break a run, but its files could only be read, moved and tested together.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { importsOf, sourceFiles } from './source-files.ts'

const files = sourceFiles('server', 'cli', 'sdk/src', 'console/src')

test('there is no circle of imports, types and dynamic imports included', () => {
  const imports = new Map(files.map((file) => [file, targetsOf(file)]))
  assert.ok([...imports.values()].flat().length > 1_000, 'the reader of imports finds hardly any')
  assert.deepEqual(findCircles(imports), [])
})

test('a circle is found, and named from its first file on', () => {
  const imports = new Map([
    ['a', ['b']],
    ['b', ['c', 'd']],
    ['c', ['b']],
    ['d', ['d']],
  ])
  assert.deepEqual(findCircles(imports), ['b → c → b', 'd → d'])
})

function targetsOf(file: string): readonly string[] {
  return importsOf(file).flatMap(({ target, isPackage }) => (isPackage ? [] : [target]))
}

/** One for each import that leads back to where the walk has come from. */
function findCircles(imports: ReadonlyMap<string, readonly string[]>): readonly string[] {
  const circles: string[] = []
  const done = new Set<string>()
  const walk = (file: string, way: readonly string[]) => {
    const start = way.indexOf(file)
    if (start >= 0) circles.push([...way.slice(start), file].join(' → '))
    if (start >= 0 || done.has(file)) return
    for (const target of imports.get(file) ?? []) walk(target, [...way, file])
    done.add(file)
  }
  for (const file of imports.keys()) walk(file, [])
  return circles
}
