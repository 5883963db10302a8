// npm run sim:mutants: every deliberate fault in the service must be caught, within 10,000 seeds of the
// simulator or by the test that it names. Says which files each one patched, and what caught it. What breaks
// without the fault does not count.

import { parseArgs } from 'node:util'
import type { Mutant, TestedMutant } from './mutant.ts'
import { MUTANTS } from './mutant-table.ts'
import { MutantTests } from './mutant-tests.ts'
import { copyWith } from './patched-copy.ts'
import { simulate } from './simulate.ts'
import { loadSubject, type Subject } from './subject.ts'

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '10000' },
    only: { type: 'string', default: '' },
  },
})

const seedsMax = Number(values.seeds)
const mutants = MUTANTS.filter(({ name }) => name.includes(values.only))
const original = await loadSubject()
const tests = new MutantTests()
let survivors = 0
console.log(`${'mutant'.padEnd(46)} patched file → caught by`)
try {
  // Tests run in processes of their own, beside the seeds.
  await Promise.all([huntAll(), testAll()])
} finally {
  await tests.stop()
}
console.log(survivors === 0 ? `all ${mutants.length} are caught` : `${survivors} survive`)
process.exitCode = survivors === 0 ? 0 : 1

async function huntAll(): Promise<void> {
  for (const mutant of mutants) if (!('test' in mutant)) print(mutant, await hunt(mutant))
}

async function testAll(): Promise<void> {
  const tested = mutants.filter((mutant): mutant is TestedMutant => 'test' in mutant)
  for (const mutant of tested) print(mutant, await tests.failureOf(mutant))
}

function print({ name, patches }: Mutant, caughtBy: string | null): void {
  if (caughtBy === null) survivors++
  const files = [...new Set(patches.map(({ file }) => file))].join(', ')
  console.log(`${name.padEnd(46)} ${files}\n${' '.repeat(49)}→ ${caughtBy ?? 'SURVIVES'}`)
}

async function hunt({ patches, seed: likely }: Mutant): Promise<string | null> {
  const copy = await copyWith(patches, ['server'])
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
