// npm run sim:mutants: every deliberate fault must be caught within 10,000 seeds, or by the test that it
// names, or they do not see what they claim to see. What breaks without the fault does not count.

import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { MUTANTS, type Mutant } from './mutant-table.ts'
import { copyWith, type Patch, treeWith } from './patched-copy.ts'
import { simulate } from './simulate.ts'
import { loadSubject, SERVER, type Subject } from './subject.ts'

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '10000' },
    only: { type: 'string', default: '' },
  },
})

interface Catch {
  seeds: number | 'test'
  by: string
}

const original = await loadSubject()
const seedsMax = Number(values.seeds)
let survivors = 0
console.log(`${'mutant'.padEnd(46)} ${'seeds'.padStart(6)}  caught by`)
for (const mutant of MUTANTS) {
  if (!mutant.name.includes(values.only)) continue
  const caught = mutant.test === undefined ? await hunt(mutant) : await tryTest(mutant, mutant.test)
  if (caught === null) survivors++
  const seeds = caught ? String(caught.seeds) : `>${seedsMax}`
  console.log(`${mutant.name.padEnd(46)} ${seeds.padStart(6)}  ${caught?.by ?? 'SURVIVES'}`)
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
      return { seeds: seed, by: `${violation.invariant} ${violation.detail} (seed ${seed})` }
    }
    return null
  } finally {
    await copy?.remove()
  }
}

async function tryTest({ patches }: Mutant, test: string): Promise<Catch | null> {
  if (!(await passes(test, []))) throw new Error(`${test} fails without any fault`)
  return (await passes(test, patches ?? [])) ? null : { seeds: 'test', by: `server/${test}` }
}

/** Runs one test file of the service on a copy of it. */
async function passes(test: string, patches: readonly Patch[]): Promise<boolean> {
  const { root, remove } = await treeWith(patches)
  try {
    const setup = join(SERVER, '..', 'test/support/global-setup.ts')
    const args = ['--test', `--test-global-setup=${setup}`, join(root, 'server', test)]
    return await new Promise((resolve) => {
      execFile(process.execPath, args, { cwd: root }, (error) => resolve(error === null))
    })
  } finally {
    await remove()
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
