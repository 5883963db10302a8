// What goes wrong in a test file fails the run, also when the tests themselves have passed.

import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { type TestResult, WorkerProcess } from '../worker-process.ts'

const TEST_MS_MAX = 60_000

/** Of a process that runs this file alone. */
async function resultsOf(lines: string): Promise<readonly TestResult[]> {
  const folder = await mkdtemp(join(tmpdir(), 'paybell-worker-'))
  const file = join(folder, 'one.test.mjs')
  await writeFile(file, `import { after, test } from 'node:test'\n${lines}\n`)
  const results: TestResult[] = []
  const worker = new WorkerProcess()
  await worker.run(file, TEST_MS_MAX, (result) => results.push(result))
  await worker.end((result) => results.push(result))
  await rm(folder, { recursive: true })
  return results
}

async function failuresOf(lines: string): Promise<readonly string[]> {
  const results = await resultsOf(lines)
  return results.flatMap((result) => (result.kind === 'failed' ? [result.name] : []))
}

test('a test that passes is told once, and the process ends well', async () => {
  assert.deepEqual(await resultsOf(`test('one', () => {})`), [{ kind: 'passed' }])
})

test('a test that fails is told once', async () => {
  assert.deepEqual(await failuresOf(`test('one', () => { throw new Error('no') })`), ['one'])
})

test('regression: a promise that a test has lost fails the run when it is rejected later', async () => {
  const failures = await failuresOf(
    `test('one', () => { setTimeout(() => Promise.reject(new Error('late')), 100) })`,
  )
  assert.ok(failures.length > 0)
})

test('regression: what is thrown after the end of a test fails the run', async () => {
  const failures = await failuresOf(
    `test('one', () => { setTimeout(() => { throw new Error('late') }, 100) })`,
  )
  assert.ok(failures.length > 0)
})

test('regression: an exit code fails the run', async () => {
  const failures = await failuresOf(`test('one', () => { process.exitCode = 3 })`)
  assert.deepEqual(failures, ['the end of the process'])
})

test('a test is skipped for a reason', async () => {
  assert.deepEqual(await resultsOf(`test('one', (t) => t.skip('no broker'))`), [
    { kind: 'skipped', name: 'one', reason: 'no broker' },
  ])
  assert.deepEqual(await failuresOf(`test('one', (t) => t.skip())`), ['one'])
})

test('a process that dies fails the run', async () => {
  const failures = await failuresOf(`test('one', () => process.kill(process.pid, 'SIGKILL'))`)
  assert.equal(failures.length, 1)
})

test('a file without a test has no result', async () => {
  assert.deepEqual(await resultsOf(''), [])
})
