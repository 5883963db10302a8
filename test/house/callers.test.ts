// What the callers of the service load, types included. The SDK stands alone. The command line is published
// without a server: without an `import()` its entry point reaches the SDK, the pure rules of the core, Node
// and commander. The console takes the SDK's transport and types, and one rule to draw it.

import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const IMPORT = /^(?:import|export)\s[^'"]*?from\s+'([^']+)'|^import\s+'([^']+)'/gms
const DYNAMIC = /\bimport\(\s*'([^']+)'\s*\)/g

/** The commands that are the service, or look into its database. */
const SERVICE = [
  'cli/service/cells.ts',
  'cli/service/checks/doctor-checks.ts',
  'cli/service/migrate.ts',
  'cli/service/reseal.ts',
  'cli/service/route.ts',
  'cli/service/sandbox.ts',
  'cli/service/serve-by-processes.ts',
  'cli/service/serve.ts',
  'cli/service/signing-keys.ts',
  'cli/service/verify-database.ts',
]

interface Graph {
  /** Paths within the repository. */
  files: Set<string>
  packages: Set<string>
  /** What is loaded only when it is needed. */
  later: Set<string>
}

function walk(...entries: readonly string[]): Graph {
  const graph: Graph = { files: new Set(), packages: new Set(), later: new Set() }
  const visit = (file: string) => {
    if (graph.files.has(file)) return
    graph.files.add(file)
    if (!/\.tsx?$/.test(file)) return
    // Without comments: their examples import the package by its name.
    const text = readFileSync(join(ROOT, file), 'utf8').replaceAll(/\/\*\*.*?\*\//gs, '')
    const resolveFrom = (from: string) => relative(ROOT, resolve(ROOT, dirname(file), from))
    for (const [, named, bare] of text.matchAll(IMPORT)) {
      const from = (named ?? bare) as string
      if (from.startsWith('.')) visit(resolveFrom(from))
      else graph.packages.add(from)
    }
    for (const [, from] of text.matchAll(DYNAMIC)) graph.later.add(resolveFrom(from as string))
  }
  for (const entry of entries) visit(entry)
  return graph
}

function sourcesIn(pattern: string): string[] {
  return globSync(pattern, { cwd: ROOT }).filter((file) => !file.endsWith('.test.ts'))
}

// The entry point loads the program by an `import()`, for reasons of its own.
const cli = walk('cli/main.ts', 'cli/program.ts')

test('the command line reaches the SDK and the core, and no other room of the server', () => {
  const strange = [...cli.files].filter((file) => !/^(cli|sdk\/src|server\/core)\//.test(file))
  assert.deepEqual(strange, [])
  const service = [...cli.files].filter((file) => file.startsWith('cli/service/'))
  assert.deepEqual(service, [])
  assert.ok(cli.files.size > 50, 'the reader of imports finds hardly any')
})

test('it needs commander and, for addresses, ipaddr.js: nothing else that has to be installed', () => {
  const needed = [...cli.packages].filter((name) => !name.startsWith('node:'))
  assert.deepEqual(needed.toSorted(), ['commander', 'ipaddr.js'])
})

test('the server, and what assistants need, are loaded by the commands that need them, when they are asked for', () => {
  const later = [...cli.later].filter((file) => file !== 'cli/program.ts')
  assert.deepEqual(later.toSorted(), ['cli/mcp/tool-server.ts', ...SERVICE])
})

test('the SDK stands alone, and publishes nothing of what is internal', () => {
  const entries = ['index', 'adapters', 'operator'].map((name) => `sdk/src/${name}.ts`)
  const { files, packages, later } = walk(...entries)
  assert.deepEqual([...packages, ...later], [])
  const strange = [...files].filter(
    (file) => !/^sdk\/src\/(?!internal)(?:[\w-]+\/)?[\w-]+\.ts$/.test(file),
  )
  assert.deepEqual(strange, [])
})

test('the console imports the SDK and, of the server, only how retries are spaced and what outcomes are called', () => {
  const { files } = walk(...sourcesIn('console/src/**/*.{ts,tsx}'))
  const strange = [...files].filter((file) => !/^(console|sdk)\/src\//.test(file))
  assert.deepEqual(strange.toSorted(), [
    'server/core/delivery/backoff.ts',
    'server/core/delivery/outcome-words.ts',
  ])
})
