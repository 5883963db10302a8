import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { NODE_FLAGS } from './node-flags.ts'

const PROGRAM = new URL('../program.ts', import.meta.url).href

/** How large the young generation gets, in MB, in a process that lets millions of objects survive. */
async function youngOf(...nodeFlags: readonly string[]): Promise<number> {
  const script = `
    import { getHeapSpaceStatistics } from 'node:v8'
    await import('${PROGRAM}')
    const kept = []
    for (let round = 0; round < 300; round++) {
      for (let n = 0; n < 10_000; n++) kept.push({ n, inner: { round } })
      if (kept.length > 400_000) kept.length = 0
      await new Promise(setImmediate)
    }
    const young = getHeapSpaceStatistics().find((space) => space.space_name === 'new_space')
    console.log(young.space_size / 1024 / 1024)`
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [...nodeFlags, '--input-type=module', '--eval', script],
    { env: {} },
  )
  return Number(stdout)
}

test('the young generation grows to two halves of 16 MB, and no further', async () => {
  assert.equal(await youngOf(...NODE_FLAGS), 32)
  assert.ok((await youngOf()) > 32, 'without the flags it would be larger')
})

test('npm start, the packages and what operators are to write start Node with these flags', () => {
  const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8')
  const start = `node ${NODE_FLAGS.join(' ')} cli/paybell.js`
  assert.equal(JSON.parse(read('../../package.json')).scripts.start, `exec ${start} sandbox`)
  assert.ok(read('../../docs/operations.md').includes(`\n${start} serve\n`))
  for (const path of [
    '../../packages/paybell.js',
    '../../Dockerfile',
    '../../deploy/systemd/paybell.service',
  ]) {
    for (const flag of NODE_FLAGS) assert.ok(read(path).includes(flag), `${path} ${flag}`)
  }
})
