// How the hunt for deliberate faults judges and ends: on real copies of the service, with faults that are in no table.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync } from 'node:fs'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { until } from '../support/until.ts'
import { hunt } from './hunt.ts'
import { type Edit, forceFalse, replace, setArgument } from './mutant-edits.ts'
import { faultyTestMsMax, MutantTests } from './mutant-tests.ts'
import { mutate } from './mutated-files.ts'
import { NamedPlaces } from './named-places.ts'
import { PROJECT } from './patched-copy.ts'
import { loadSubject } from './subject.ts'

const places = new NamedPlaces(PROJECT)
const { signal } = new AbortController()

function changedBy(place: string, edit: Edit) {
  return mutate({ name: 'any', edits: { [place]: edit } }, places)
}

test('regression: a name that is not there is no catch of a test, a fault that runs is', async (t) => {
  const tests = new MutantTests(signal)
  t.after(() => tests.stop())
  const strand = places.testOf('strand.test')
  const fault = changedBy('goesAhead', forceFalse('owed.some'))
  assert.match((await tests.failureOf(fault, strand)) ?? '', /strand\.test\.ts: \w/)
  for (const [code, what] of [
    ['noSuchName', /fault itself is broken.*noSuchName is not defined/s],
    ['await 1', /fault itself is broken.*SyntaxError/s],
  ] as const) {
    const broken = changedBy('goesAhead', replace('owed.some(_)', code))
    await assert.rejects(tests.failureOf(broken, strand), what)
  }
})

test('regression: a name that is not there is no catch of a seed', async () => {
  const limits = { original: await loadSubject(), seedsMax: 20, signal }
  const fault = changedBy('sendableIndex', setArgument(2, 'overtakenFromMs', '0'))
  assert.match((await hunt(undefined, fault, limits)) ?? 'SURVIVES', /^seed \d+: /)
  // The engine says the first one in its log, and tries again; the second one is thrown as its file is loaded.
  for (const [place, edit] of [
    ['Shards.#renew', replace('own.beginRenewal()', 'noSuchName()')],
    ['LEASE_POLICY', replace('25_000', 'noSuchName')],
  ] as const) {
    const broken = hunt(undefined, changedBy(place, edit), limits)
    await assert.rejects(broken, /fault itself is broken.*noSuchName is not defined/s)
  }
})

test('regression: a busy machine has longer for a test with a fault', () => {
  assert.equal(
    faultyTestMsMax(100, (ms) => ms),
    10_000,
  )
  assert.equal(
    faultyTestMsMax(100, (ms) => 3 * ms),
    30_000,
  )
  assert.equal(
    faultyTestMsMax(50_000, (ms) => 3 * ms),
    180_000,
  )
})

async function startRun(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'paybell-runs-'))
  // PostgreSQL has its folder inside.
  await chmod(folder, 0o711)
  t.after(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  const start = async () => {
    const { NODE_TEST_CONTEXT: _, ...env } = process.env
    const args = ['test/simulator/mutants.ts', '--only', 'an update goes ahead, and nothing']
    const run = spawn(process.execPath, args, {
      cwd: PROJECT,
      env: { ...env, TMPDIR: folder },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    t.after(() => run.kill('SIGKILL'))
    let printed = ''
    for (const stream of [run.stdout, run.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        printed += text
      })
    }
    return { run, printed: () => printed }
  }
  return { folder, start }
}

test('regression: an interrupted run leaves nothing in the temporary folder, and one after it what a killed one has left', async (t) => {
  const { folder, start } = await startRun(t)
  const ended = spawn(process.execPath, ['--version'])
  await once(ended, 'exit')
  const left = `paybell-mutants-${ended.pid}-killed`
  const ofOther = `paybell-mutants-${process.pid}-running`
  for (const name of [left, ofOther]) mkdirSync(join(folder, name, 'copy'), { recursive: true })
  const { run, printed } = await start()
  const made = () => readdirSync(folder).filter((name) => ![left, ofOther].includes(name))
  await until('it has a database', () => {
    assert.equal(run.exitCode, null, printed())
    return made().some((name) => readdirSync(join(folder, name)).length > 0)
  })
  assert.ok(!readdirSync(folder).includes(left), 'what a killed run has left')
  run.kill('SIGINT')
  const [code, killedBy] = await once(run, 'exit')
  assert.deepEqual([code, killedBy], [1, null], printed())
  assert.match(printed(), /interrupted by SIGINT/)
  assert.deepEqual(readdirSync(folder), [ofOther], 'nothing but the folder of a run that goes on')
})
