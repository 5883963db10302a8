// What we publish contains what its lists say: every package of others with a licence that was looked at, and a bill
// of materials that is the same each time.

import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { isTaken, LICENCES_FILE, renderLicences } from '../../packages/licences.ts'
import { sbomOf } from '../../packages/sbom.ts'
import { IN_CONSOLE, PUBLISHED, type Published, shippedIn } from '../../packages/shipped.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const published = Object.keys(PUBLISHED) as Published[]

interface Bom {
  serialNumber: string
  components: {
    'bom-ref': string
    hashes: { content: string }[]
    licenses: object[]
  }[]
  dependencies: { ref: string; dependsOn: string[] }[]
}

test('THIRD-PARTY-LICENSES.md is what package-lock.json says (if not: npm run licences)', () => {
  assert.equal(readFileSync(LICENCES_FILE, 'utf8'), renderLicences())
})

test('a licence that no one has looked at is refused', () => {
  for (const licence of ['MIT', '(MIT OR CC0-1.0)', 'MIT AND ISC', 'GPL-3.0 OR MIT']) {
    assert.ok(isTaken(licence), licence)
  }
  for (const licence of [
    'unknown',
    'UNLICENSED',
    'GPL-3.0',
    'MIT AND GPL-3.0',
    'SEE LICENSE IN X',
  ]) {
    assert.ok(!isTaken(licence), licence)
  }
})

test('the pages of the console load the packages that are listed, and no others', () => {
  const files = globSync('console/src/**/*.{ts,tsx}', { cwd: ROOT })
  const imports = files.flatMap((file) => [
    ...readFileSync(join(ROOT, file), 'utf8').matchAll(
      /^(?:import|export) (?!type ).*?from '([^.][^']*)'/gm,
    ),
  ])
  const names = imports.map(([, from]) =>
    (from as string)
      .split('/')
      .slice(0, (from as string).startsWith('@') ? 2 : 1)
      .join('/'),
  )
  const known: readonly string[] = IN_CONSOLE
  assert.deepEqual(
    [...new Set(names)].filter((name) => !known.includes(name)),
    [],
  )
})

test('a bill of materials is the same each time, and names only what it has', () => {
  for (const each of published) {
    const bom = sbomOf(each) as Bom
    assert.deepEqual(sbomOf(each), bom)
    const refs = new Set(bom.components.map((component) => component['bom-ref']))
    assert.equal(refs.size, bom.components.length)
    assert.equal(refs.size, shippedIn(each).all.size)
    for (const { hashes, licenses } of bom.components) {
      assert.match(hashes[0]?.content ?? '', /^[0-9a-f]{128}$/)
      assert.equal(licenses.length, 1)
    }
    for (const { dependsOn } of bom.dependencies) {
      for (const ref of dependsOn) assert.ok(refs.has(ref), ref)
    }
    assert.match(bom.serialNumber, /^urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
  }
})

test('the SDK brings nothing of others', () => {
  assert.equal(shippedIn('sdk').all.size, 0)
})
