// What each program loads. The command line is published without a server: without an `import()` it reaches the SDK,
// the pure rules of the core, Node and commander. The SDK stands alone, the console takes its transport and types, and
// what only a sandbox needs must not even be in the memory of `paybell serve`.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Import, importsOf, reachableFrom, sourceFiles } from './source-files.ts'

const isStatic = ({ isDynamic }: Import) => !isDynamic
const inFolder = (folder: string) => (file: string) => file.startsWith(folder)
const packagesOf = (files: readonly string[]) =>
  new Set(files.flatMap(importsOf).flatMap((one) => (one.isPackage ? one.target : [])))

// The entry point loads the program by an `import()`, for reasons of its own.
const cli = reachableFrom(['cli/main.ts', 'cli/program.ts'], isStatic)

test('the command line reaches the SDK and the core, and no other room of the server', () => {
  assert.ok(cli.length > 50, 'the reader of imports finds hardly any')
  assert.deepEqual(
    cli.filter((file) => !/^(cli\/(?!service\/)|sdk\/src\/|server\/core\/)/.test(file)),
    [],
  )
})

test('it needs commander and, for addresses, ipaddr.js: nothing else that has to be installed', () => {
  const files = cli.flatMap(importsOf).filter(isStatic)
  const needed = files.filter(({ isPackage, target }) => isPackage && !target.startsWith('node:'))
  assert.deepEqual([...new Set(needed.map(({ target }) => target))].toSorted(), [
    'commander',
    'ipaddr.js',
  ])
})

test('the server, and what assistants need, are loaded by the commands that need them, when they are asked for', () => {
  const later = cli.flatMap(importsOf).filter(({ isDynamic }) => isDynamic)
  assert.ok(later.length > 5)
  assert.deepEqual(
    later.filter(({ target }) => !/^cli\/(service\/.*|mcp\/tool-server|program)\.ts$/.test(target)),
    [],
  )
})

test('the SDK stands alone, and publishes nothing of what is internal', () => {
  const files = reachableFrom(['index', 'adapters', 'operator'].map((name) => `sdk/src/${name}.ts`))
  assert.deepEqual([...packagesOf(files)], [])
  assert.deepEqual(
    files.filter((file) => !/^sdk\/src\/(?!internal\/)/.test(file)),
    [],
  )
})

test('the console imports the SDK and, of the server, only how retries are spaced and what outcomes are called', () => {
  const files = reachableFrom(sourceFiles('console/src'))
  const strange = files.filter((file) => !/^(console|sdk)\/src\//.test(file))
  assert.deepEqual(strange.toSorted(), [
    'server/core/delivery/backoff.ts',
    'server/core/delivery/outcome-words.ts',
  ])
})

const SANDBOX_ONLY = ['server/sandbox/', 'server/embedded/']

test('the command `serve` leads to neither the sandbox nor the embedded database', () => {
  const files = reachableFrom(['cli/service/serve.ts', 'server/app.ts'])
  assert.ok(files.includes('server/http/server.ts') && files.length > 200)
  for (const folder of SANDBOX_ONLY) assert.deepEqual(files.filter(inFolder(folder)), [])
})

test('the command `sandbox` leads to both', () => {
  const files = reachableFrom(['cli/service/sandbox.ts'])
  for (const folder of SANDBOX_ONLY) assert.ok(files.some(inFolder(folder)))
})

test('the command `route` loads neither the service nor its database, and no other command loads it', () => {
  const files = reachableFrom(['cli/service/route.ts'], ({ isTypeOnly }) => !isTypeOnly)
  assert.ok(files.some(inFolder('server/route/')))
  for (const part of ['store/', 'operations/', 'delivery/', 'telemetry/', 'upkeep/', 'app.ts']) {
    assert.deepEqual(files.filter(inFolder(`server/${part}`)), [])
  }
  const others = ['cli/service/serve.ts', 'cli/service/sandbox.ts']
  assert.deepEqual(reachableFrom(others).filter(inFolder('server/route/')), [])
})
