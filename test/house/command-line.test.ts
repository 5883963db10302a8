// What the command line loads. Published alone it has no server beside it: everything that its entry point
// reaches without an `import()`, types included, is the SDK, the pure rules of the core, Node and commander.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const IMPORT = /^(?:import|export)\s[^'"]*?from\s+'([^']+)'|^import\s+'([^']+)'/gms
const DYNAMIC = /\bimport\(\s*'([^']+)'\s*\)/g

/** The commands that are the service, or look into its database. */
const SERVICE = [
  'cli/service/doctor-checks.ts',
  'cli/service/migrate.ts',
  'cli/service/reseal.ts',
  'cli/service/sandbox.ts',
  'cli/service/serve.ts',
  'cli/service/signing-keys.ts',
]

interface Graph {
  /** Paths within the repository. */
  files: Set<string>
  packages: Set<string>
  /** What is loaded only when it is needed. */
  later: Set<string>
}

function walk(entry: string): Graph {
  const graph: Graph = { files: new Set(), packages: new Set(), later: new Set() }
  const visit = (file: string) => {
    if (graph.files.has(file)) return
    graph.files.add(file)
    if (!file.endsWith('.ts')) return
    const text = readFileSync(join(ROOT, file), 'utf8')
    const resolveFrom = (from: string) => relative(ROOT, resolve(ROOT, dirname(file), from))
    for (const [, named, bare] of text.matchAll(IMPORT)) {
      const from = (named ?? bare) as string
      if (from.startsWith('.')) visit(resolveFrom(from))
      else graph.packages.add(from)
    }
    for (const [, from] of text.matchAll(DYNAMIC)) graph.later.add(resolveFrom(from as string))
  }
  visit(entry)
  return graph
}

const main = walk('cli/main.ts')
const program = walk('cli/program.ts')
const reached = new Set([...main.files, ...program.files])

test('the command line reaches the SDK and the core, and no other room of the server', () => {
  const strange = [...reached].filter((file) => !/^(cli|sdk\/src|server\/core)\//.test(file))
  assert.deepEqual(strange, [])
  const service = [...reached].filter((file) => file.startsWith('cli/service/'))
  assert.deepEqual(service, [])
  assert.ok(reached.size > 50, 'the reader of imports finds hardly any')
})

test('it needs commander and, for addresses, ipaddr.js: nothing else that has to be installed', () => {
  const packages = [...main.packages, ...program.packages]
  const needed = new Set(packages.filter((name) => !name.startsWith('node:')))
  assert.deepEqual([...needed].toSorted(), ['commander', 'ipaddr.js'])
})

test('the server is loaded by the commands that need it, when they are asked for', () => {
  const later = new Set([...main.later, ...program.later])
  later.delete('cli/program.ts')
  assert.deepEqual([...later].toSorted(), SERVICE)
})
