// Every scenario of the faults, each on a stage of its own. Alone: `npm run chaos -- --scenario NAME`.

import { test } from 'node:test'
import { SCENARIOS } from './scenarios/list.ts'
import { perform } from './scenarios/perform.ts'
import { whySkipped } from './scenarios/scenario.ts'

for (const scenario of SCENARIOS) {
  test(`regression: ${scenario.claim}`, { skip: whySkipped(scenario) }, (t) =>
    perform(scenario, { onNote: (line) => t.diagnostic(line) }),
  )
}
