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

interface Manifest {
  engines?: { node?: string }
}

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

test('the least Node that the package names is that of what it needs, and what its texts say', () => {
  const least = leastNode('packages/paybell/package.json')
  const { packages } = readJson('package-lock.json') as { packages: Record<string, Manifest> }
  const installed = [...shippedIn('paybell').all.values()].filter((one) => !one.isBundled)
  const ranges = installed.map(({ name, path }) => ({
    name,
    node: packages[path]?.engines?.node ?? '*',
  }))
  assert.deepEqual(
    ranges.filter(({ node }) => !includes(node, least)),
    [],
  )
  // And not later than it has to be.
  assert.ok(ranges.some(({ node }) => !includes(node, least.with(1, (least[1] ?? 0) - 1))))
  for (const path of ['README.md', 'docs/install.md', 'packages/paybell/README.md']) {
    const text = readFileSync(join(ROOT, path), 'utf8')
    assert.ok(text.includes(`Node ${least.slice(0, 2).join('.')} or later`), path)
  }
})

function leastNode(path: string): readonly number[] {
  const { engines } = readJson(path) as Manifest
  return engines?.node?.replace('>=', '').split('.').map(Number) ?? assert.fail()
}

const readJson = (path: string): unknown => JSON.parse(readFileSync(join(ROOT, path), 'utf8'))

/** Of `>=22.12`, `^22 || >=23`, `18 || 20 || >=22` and the like. */
function includes(range: string, version: readonly number[]): boolean {
  return range.split('||').some((one) => {
    const [, sign = '', from = ''] = /^\s*(>=|\^|)\s*v?([\d.x*]+)\s*$/.exec(one) ?? assert.fail(one)
    const least = from.split('.').map((part) => Number(part.replace(/[x*]/, '0')))
    const isAtLeast = compare(version, least) >= 0
    return isAtLeast && (sign === '>=' || from === '*' || version[0] === least[0])
  })
}

function compare(one: readonly number[], other: readonly number[]): number {
  const at = [0, 1, 2].find((index) => (one[index] ?? 0) !== (other[index] ?? 0)) ?? 0
  return (one[at] ?? 0) - (other[at] ?? 0)
}

test('the SDK brings nothing of others', () => {
  assert.equal(shippedIn('sdk').all.size, 0)
})
