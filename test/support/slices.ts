// How many seeds the tests live through. Fixed ones, so that what broke once breaks the same way in every
// run; random ones, so that runs together see ever more. A failing seed prints how to repeat it.

import { randomInt } from 'node:crypto'
import { sized } from './size.ts'

export interface Slice {
  /** From seed 1 on. */
  fixed: number
  /** From a seed on that each run draws. */
  random: number
}

/** Enough for what a change breaks outright; simulator.slow.test.ts lives through more. */
export const SIMULATOR: Slice = { fixed: 60, random: 20 }
/** Of crashes that differ only in time from the one before, and of pairs of crashes, one of so many. */
export const CRASHES = { inMemoryEvery: sized(120, 1), pairsEvery: sized(17, 13) }
export const CONFORMANCE: Slice & { steps: number } = { fixed: 2, random: 2, steps: 110 }

/** The fixed seeds, then the random ones; or only the one that is to be repeated. */
export function seedsOf({ fixed, random }: Slice, repeated?: string): number[] {
  if (repeated !== undefined) return [Number(repeated)]
  const from = (base: number, count: number) => Array.from({ length: count }, (_, at) => base + at)
  return [...from(1, fixed), ...from(randomInt(1e6, 1e9), random)]
}
