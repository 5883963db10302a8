// Which mutants a run hunts, and how far, by its options: --seeds, --only (a part of their names), and --draw: so many of
// them, drawn by the commit, so that over the landings all are hunted.

import { parseArgs } from 'node:util'
import { toCount } from '../support/number-arguments.ts'
import { draw, sampleVariable } from '../support/sample.ts'
import type { Mutant, TestedMutant } from './mutant.ts'
import { MUTANTS } from './mutant-table.ts'

export interface MutantChoice {
  mutants: readonly (Mutant | TestedMutant)[]
  seedsMax: number
  /** Which sample was drawn, and the command that draws it again; null when none was. */
  about: string | null
}

/** Throws for options that mean nothing. */
export function chooseMutants(args: readonly string[], sampleName: () => string): MutantChoice {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seeds: { type: 'string', default: '10000' },
      only: { type: 'string', default: '' },
      draw: { type: 'string' },
    },
  })
  const seedsMax = toCount('--seeds', values.seeds)
  const drawn =
    values.draw === undefined ? null : drawSome(toCount('--draw', values.draw), sampleName())
  const mutants = (drawn?.mutants ?? MUTANTS).filter(({ name }) => name.includes(values.only))
  if (mutants.length === 0) throw new Error(`no mutant has “${values.only}” in its name`)
  return { mutants, seedsMax, about: drawn?.about ?? null }
}

function drawSome(count: number, sample: string): Pick<MutantChoice, 'mutants' | 'about'> {
  const mutants = draw(MUTANTS, count, 'mutants', sample)
  const again = `${sampleVariable(sample)} npm run sim:mutants -- --draw ${count}`
  return { mutants, about: `sample ${sample}, ${mutants.length} of ${MUTANTS.length}: ${again}` }
}
