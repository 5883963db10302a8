import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { test } from 'node:test'

const SHIM = readFileSync(new URL('./paybell.js', import.meta.url), 'utf8')

/** Runs the shim as Node of that version would, up to the import of the program. */
async function runOn(
  version: string,
): Promise<{ imported: string[]; kept: string[]; said: string[]; code: number }> {
  const ran = { imported: [] as string[], kept: [] as string[], said: [] as string[], code: 0 }
  const process = {
    versions: { node: version },
    set exitCode(code: number) {
      ran.code = code
    },
  }
  const console = { error: (text: string) => ran.said.push(text) }
  const body = SHIM.replace(/^#!.*/, '')
    .replaceAll('import(', 'load(')
    .replaceAll('import.meta.dirname', '"/paybell/cli"')
  const run = new Function('process', 'console', 'load', `return (async () => {${body}})()`)
  await run(process, console, async (name: string) => {
    if (name === 'node:module') return { enableCompileCache: (path: string) => ran.kept.push(path) }
    return ran.imported.push(name)
  })
  return ran
}

test('regression: a Node that is too old is told in one sentence which one is needed', async () => {
  for (const version of ['18.20.4', '20.20.2', '22.12.0']) {
    const { imported, said, code } = await runOn(version)
    assert.deepEqual([imported, code], [[], 1])
    assert.equal(said.length, 1)
    assert.match(
      said[0] as string,
      /^paybell: Paybell needs Node 24 or later, and this is Node \d+\.\d+\. Run npm ci/,
    )
  }
  const { imported, kept, said, code } = await runOn('24.0.0')
  assert.deepEqual([imported, said, code], [['./main.ts'], [], 0])
  // Not where every user of the machine may write, as Node would by itself.
  assert.deepEqual(kept, ['/paybell/cli/../node_modules/.cache/paybell'])
})

test('the command that npm installs is the shim, and any Node reads it', () => {
  const { bin } = JSON.parse(readFileSync(new URL('./package.json', import.meta.url), 'utf8'))
  assert.deepEqual(bin, { paybell: 'paybell.js' })
  assert.equal(stripTypeScriptTypes(SHIM), SHIM)
})
