// Many seeds, one after another, in a test: what broke fails it with the command that repeats the seed.

import assert from 'node:assert/strict'
import { Counters } from './counters.ts'
import { simulate } from './simulate.ts'
import type { Subject } from './subject.ts'

/** Returns what came up, and how often. */
export async function liveThrough(seeds: readonly number[], subject: Subject): Promise<Counters> {
  const counters = new Counters()
  for (const seed of seeds) {
    const verdict = await simulate(seed, subject)
    counters.add(verdict.counters)
    assert.deepEqual(
      verdict.violations.map(({ invariant, detail }) => `${invariant} ${detail}`),
      [],
      `repeat it: npm run sim -- --seed ${seed} --verbose`,
    )
  }
  return counters
}
