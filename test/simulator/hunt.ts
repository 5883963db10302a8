// A deliberate fault before the simulator: its own seed, then all from 1 on, until one breaks an invariant with it and none
// without it. What is thrown by the fault's own code is no catch.

import { setImmediate as letOthersRun } from 'node:timers/promises'
import { refuseBroken } from './broken-fault.ts'
import type { ChangedFiles } from './mutated-files.ts'
import { copyWith } from './patched-copy.ts'
import { simulate, timelineOf } from './simulate.ts'
import { loadSubject, type Subject } from './subject.ts'

export interface Hunt {
  original: Subject
  seedsMax: number
  signal: AbortSignal
}

/** What broke, or null where the fault survives. */
export async function hunt(
  likely: number | undefined,
  changed: ChangedFiles,
  { original, seedsMax, signal }: Hunt,
): Promise<string | null> {
  const copy = await copyWith(changed, ['server'])
  try {
    const subject = await refusingBroken(() => loadSubject(`${copy.root}/server`))
    const seeds = Array.from({ length: seedsMax }, (_, index) => index + 1)
    for (const seed of likely === undefined ? seeds : [likely, ...seeds]) {
      // A seed keeps the thread to its end: between two of them a signal is heard, and what a test has printed.
      await letOthersRun()
      signal.throwIfAborted()
      const violation = await refusingBroken(() => violationOf(seed, subject))
      if (violation === null || (await violationOf(seed, original)) !== null) continue
      refuseBroken([violation, ...(await saidIn(seed, subject))].join('\n'))
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

/** The service goes on after an error, and says it in its log: what then breaks is its consequence. */
async function saidIn(seed: number, subject: Subject): Promise<readonly string[]> {
  const { timeline } = await timelineOf(seed, subject)
  return timeline.flatMap(({ what }) => (/ReferenceError/.test(what) ? [what] : []))
}

async function refusingBroken<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    refuseBroken(String(error))
    throw error
  }
}
