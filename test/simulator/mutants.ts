// npm run sim:mutants: every deliberate fault in the service must be caught, within 10,000 seeds of the
// simulator or by the test that it names. Says where each one is, and what caught it. What breaks
// without the fault does not count, and neither does what breaks because the fault's own code does not run.

import { readArguments } from '../support/number-arguments.ts'
import { sampleName } from '../support/sample.ts'
import { hunt } from './hunt.ts'
import type { Mutant, TestedMutant } from './mutant.ts'
import { chooseMutants } from './mutant-choice.ts'
import { MutantTests } from './mutant-tests.ts'
import { type ChangedFiles, mutate } from './mutated-files.ts'
import { NamedPlaces } from './named-places.ts'
import { PROJECT } from './patched-copy.ts'
import { makeRunFolder } from './run-folder.ts'
import { loadSubject } from './subject.ts'

const { mutants, seedsMax, about } = readArguments(() =>
  chooseMutants(process.argv.slice(2), sampleName),
)
if (about !== null) console.log(about)
makeRunFolder()
/** Ctrl-C, and the first error, end what runs and begin nothing more; what was started is still cleaned up. */
const ended = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => ended.abort(new Error(`interrupted by ${signal}`)))
}
const places = new NamedPlaces(PROJECT)
const original = await loadSubject()
const tests = new MutantTests(ended.signal)
let survivors = 0
console.log(`${'mutant'.padEnd(46)} place and file → caught by`)
// Tests run in processes of their own, beside the seeds.
await Promise.all([huntAll(), testAll()].map((work) => work.catch((error) => ended.abort(error))))
await tests.stop()
if (ended.signal.aborted) console.error((ended.signal.reason as Error).message)
else console.log(survivors === 0 ? `all ${mutants.length} are caught` : `${survivors} survive`)
process.exitCode = ended.signal.aborted || survivors > 0 ? 1 : 0

async function huntAll(): Promise<void> {
  for (const mutant of mutants) {
    if ('test' in mutant) continue
    await print(mutant, (changed) =>
      hunt(mutant.seed, changed, { original, seedsMax, signal: ended.signal }),
    )
  }
}

async function testAll(): Promise<void> {
  const tested = mutants.filter((mutant): mutant is TestedMutant => 'test' in mutant)
  for (const mutant of tested) {
    const test = places.testOf(mutant.test)
    await print(mutant, (changed) => tests.failureOf(changed, test))
  }
}

async function print(
  mutant: Mutant,
  look: (changed: ChangedFiles) => Promise<string | null>,
): Promise<void> {
  ended.signal.throwIfAborted()
  const changed = mutate(mutant, places)
  const startedAt = performance.now()
  const caughtBy = await look(changed).catch((error: Error) => {
    throw new Error(`“${mutant.name}”: ${error.message}`, { cause: error })
  })
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1)
  if (caughtBy === null) survivors++
  const where = `${Object.keys(mutant.edits).join(', ')} in ${[...changed.keys()].join(', ')}`
  console.log(`${mutant.name.padEnd(46)} ${where}`)
  console.log(`${' '.repeat(49)}→ ${caughtBy ?? 'SURVIVES'} (${seconds} s)`)
}
