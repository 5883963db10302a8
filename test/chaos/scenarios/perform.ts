// Performs one scenario on a stage of its own, and leaves nothing behind.

import { LONG_SCENARIOS, SCENARIOS } from './list.ts'
import { findProduct } from './product.ts'
import { type Scenario, whySkipped } from './scenario.ts'
import { Stage } from './stage.ts'

export interface PerformOptions {
  /** Of the product; null for this checkout. */
  commit?: string | null
  onNote?: (line: string) => void
}

export async function perform(scenario: Scenario, options: PerformOptions = {}): Promise<void> {
  const cleanUps: (() => Promise<void> | void)[] = []
  const owner = { after: (task: () => Promise<void> | void) => void cleanUps.push(task) }
  try {
    const command = findProduct(owner, options.commit ?? null)
    const stage = await Stage.open(owner, command, options.onNote ?? (() => {}))
    await scenario.perform(stage)
  } finally {
    for (const cleanUp of cleanUps.toReversed()) await cleanUp()
  }
}

/** The one of this name, or all but the long ones; returns the exit code. */
export async function performScenarios(name: string, commit: string | null): Promise<number> {
  const named = [...SCENARIOS, ...LONG_SCENARIOS]
  const chosen = name === 'all' ? SCENARIOS : named.filter((scenario) => scenario.name === name)
  if (chosen.length === 0) {
    console.error(`no such scenario; there are ${named.map((one) => one.name).join(', ')}`)
    return 2
  }
  let failures = 0
  for (const scenario of chosen) {
    const reason = whySkipped(scenario)
    if (reason) console.log(`SKIPPED ${scenario.name}: ${reason}`)
    else if (!(await holds(scenario, commit))) failures++
  }
  return failures === 0 ? 0 : 1
}

async function holds(scenario: Scenario, commit: string | null): Promise<boolean> {
  console.log(`${scenario.name}: ${scenario.claim}`)
  try {
    await perform(scenario, { commit, onNote: (line) => console.log(line) })
    console.log(`HELD ${scenario.name}`)
    return true
  } catch (error) {
    console.log(`FAILED ${scenario.name}: ${error instanceof Error ? error.message : error}`)
    return false
  }
}
