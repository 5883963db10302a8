// npm run sim:mutants: every deliberate fault in the service must be caught, within 10,000 seeds of the
// simulator or by the test that it names. Says where each one is, and what caught it. What breaks
// without the fault does not count.

import { sampleName } from '../support/sample.ts'
import type { Mutant, TestedMutant } from './mutant.ts'
import { chooseMutants, type MutantChoice } from './mutant-choice.ts'
import { MutantTests } from './mutant-tests.ts'
import { type ChangedFiles, mutate } from './mutated-files.ts'
import { NamedPlaces } from './named-places.ts'
import { copyWith, PROJECT } from './patched-copy.ts'
import { simulate } from './simulate.ts'
import { loadSubject, type Subject } from './subject.ts'

const { mutants, seedsMax, about } = readChoice()
if (about !== null) console.log(about)
const places = new NamedPlaces(PROJECT)
const original = await loadSubject()
const tests = new MutantTests()
let survivors = 0
console.log(`${'mutant'.padEnd(46)} place and file → caught by`)
try {
  // Tests run in processes of their own, beside the seeds.
  await Promise.all([huntAll(), testAll()])
} finally {
  await tests.stop()
}
console.log(survivors === 0 ? `all ${mutants.length} are caught` : `${survivors} survive`)
process.exitCode = survivors === 0 ? 0 : 1

function readChoice(): MutantChoice {
  try {
    return chooseMutants(process.argv.slice(2), sampleName)
  } catch (error) {
    console.error((error as Error).message)
    process.exit(2)
  }
}

async function huntAll(): Promise<void> {
  for (const mutant of mutants) {
    if (!('test' in mutant)) await print(mutant, (changed) => hunt(mutant, changed))
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
  const changed = mutate(mutant, places)
  const startedAt = performance.now()
  const caughtBy = await look(changed)
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1)
  if (caughtBy === null) survivors++
  const where = `${Object.keys(mutant.edits).join(', ')} in ${[...changed.keys()].join(', ')}`
  console.log(`${mutant.name.padEnd(46)} ${where}`)
  console.log(`${' '.repeat(49)}→ ${caughtBy ?? 'SURVIVES'} (${seconds} s)`)
}

async function hunt({ seed: likely }: Mutant, changed: ChangedFiles): Promise<string | null> {
  const copy = await copyWith(changed, ['server'])
  try {
    const subject = await loadSubject(`${copy.root}/server`)
    const seeds = Array.from({ length: seedsMax }, (_, index) => index + 1)
    for (const seed of likely === undefined ? seeds : [likely, ...seeds]) {
      const violation = await violationOf(seed, subject)
      if (violation === null || (await violationOf(seed, original)) !== null) continue
      return `seed ${seed}: ${violation}`
    }
    return null
  } finally {
    await copy.remove()
  }
}

async function violationOf(seed: number, subject: Subject): Promise<string | null> {
  const { violations } = await simulate(seed, subject)
  const [first] = violations
  return first ? `${first.invariant} ${first.detail}` : null
}
