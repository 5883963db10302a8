import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'

const MODULE = new URL('./heap-limits.ts', import.meta.url).href

/** How large the young generation gets, in MB, in a process that lets millions of objects survive. */
async function youngOf(limits: string, ...nodeOptions: string[]): Promise<number> {
  const script = `
    import { getHeapSpaceStatistics } from 'node:v8'
    import { limitHeap } from '${MODULE}'
    ${limits}
    const kept = []
    for (let turn = 0; turn < 300; turn++) {
      for (let n = 0; n < 10_000; n++) kept.push({ n, inner: { turn } })
      if (kept.length > 400_000) kept.length = 0
      await new Promise(setImmediate)
    }
    const young = getHeapSpaceStatistics().find((space) => space.space_name === 'new_space')
    console.log(young.space_size / 1024 / 1024)`
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [...nodeOptions, '--input-type=module', '--eval', script],
    { env: {} },
  )
  return Number(stdout)
}

test('the young generation grows to two halves of 16 MB, and no further', async () => {
  assert.equal(await youngOf('limitHeap()'), 32)
  assert.ok((await youngOf('')) > 32, 'without the limit it would be larger')
})

test('reading all modules of the service at once does not carry it past its limit', async () => {
  const program = new URL('./program.ts', import.meta.url).href
  assert.equal(await youngOf(`limitHeap(); await import('${program}')`), 32)
})

test('whoever gave Node another size has it', async () => {
  assert.equal(await youngOf('limitHeap()', '--max-semi-space-size=4'), 8)
})
