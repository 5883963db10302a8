// npm run sim:mutants: every deliberate fault must be caught within 10,000 seeds, or the simulation
// does not see what it claims to see. A seed that breaks without the fault does not count.

import { parseArgs } from 'node:util'
import { MUTANTS, type Mutant } from './mutant-table.ts'
import { copyWith } from './patched-copy.ts'
import { simulate } from './simulate.ts'
import { loadSubject, SERVER, type Subject } from './subject.ts'

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '10000' },
    only: { type: 'string', default: '' },
  },
})

interface Catch {
  seed: number
  seeds: number
  invariant: string
  detail: string
}

const original = await loadSubject()
const seedsMax = Number(values.seeds)
let survivors = 0
console.log(`${'mutant'.padEnd(46)} ${'seeds'.padStart(6)}  caught by`)
for (const mutant of MUTANTS) {
  if (!mutant.name.includes(values.only)) continue
  const caught = await hunt(mutant)
  if (caught === null) survivors++
  const seeds = caught ? String(caught.seeds) : `>${seedsMax}`
  const by = caught ? `${caught.invariant} ${caught.detail} (seed ${caught.seed})` : 'SURVIVES'
  console.log(`${mutant.name.padEnd(46)} ${seeds.padStart(6)}  ${by}`)
}
console.log(survivors === 0 ? 'all are caught' : `${survivors} survive`)
process.exitCode = survivors === 0 ? 0 : 1

async function hunt(mutant: Mutant): Promise<Catch | null> {
  const copy = mutant.patches ? await copyWith(mutant.patches) : null
  try {
    const subject = await loadSubject(copy?.root ?? SERVER, mutant.flaw ? [mutant.flaw] : [])
    for (let seed = 1; seed <= seedsMax; seed++) {
      const violation = await violationOf(seed, subject)
      if (violation === null || (await violationOf(seed, original)) !== null) continue
      return { seed, seeds: seed, ...violation }
    }
    return null
  } finally {
    await copy?.remove()
  }
}

async function violationOf(
  seed: number,
  subject: Subject,
): Promise<{ invariant: string; detail: string } | null> {
  const { violations } = await simulate(seed, subject)
  const [first] = violations
  return first ? { invariant: first.invariant, detail: first.detail } : null
}
