// Some scenarios of the faults, drawn by the commit, each on a stage of its own.

import { test } from 'node:test'
import { draw, sampleName } from '../support/sample.ts'
import { SCENARIOS } from './scenarios/list.ts'
import { perform } from './scenarios/perform.ts'
import { whySkipped } from './scenarios/scenario.ts'

const DRAWN = 2

for (const scenario of draw(SCENARIOS, DRAWN, 'scenarios', sampleName())) {
  test(`${scenario.name}: ${scenario.claim}`, { skip: whySkipped(scenario) }, (t) =>
    perform(scenario, { onNote: (line) => t.diagnostic(line) }),
  )
}
