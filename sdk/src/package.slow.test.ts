// The tests of the package pass on every Node of this machine from 20 on.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { globSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { otherNodes } from '../../test/support/nodes.ts'

const HERE = fileURLToPath(new URL('.', import.meta.url))
const ROOT = join(HERE, '../..')
const run = promisify(execFile)

/** In node_modules, so that fastify is found from there. */
async function buildTests(t: TestContext): Promise<string[]> {
  const folder = await mkdtemp(join(ROOT, 'node_modules/.paybell-sdk-tests-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const names = globSync('**/*.test.ts', { cwd: HERE })
  const entryPoints = names
    .filter((name) => !name.startsWith('package.'))
    .map((name) => join(HERE, name))
  await build({
    entryPoints,
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    external: ['fastify'],
    logLevel: 'error',
  })
  return globSync('**/*.mjs', { cwd: folder }).map((name) => join(folder, name))
}

const nodes = otherNodes()
const skip = nodes.length === 0 && 'this machine has no Node from 20 on besides the pinned one'
test('the tests pass on every other Node from 20 on', { skip }, async (t) => {
  const files = await buildTests(t)
  for (const { path, version } of nodes) {
    const { NODE_TEST_CONTEXT: _, ...env } = process.env
    const { stdout } = await run(path, ['--test', '--test-reporter=tap', ...files], {
      env,
      timeout: 100_000,
    }).catch((error) => assert.fail(`on Node ${version}:\n${error.stdout}`))
    const passed = Number(/^# pass (\d+)$/m.exec(stdout)?.[1])
    assert.ok(passed > 100, stdout)
    t.diagnostic(`${passed} passed on Node ${version}`)
  }
})
