// Every scenario, by the fault that it makes.

import { backlogClockBack, rateClockBack } from './pace.ts'
import { patienceClockAhead } from './patience.ts'
import type { Scenario } from './scenario.ts'
import { sealClockAhead } from './seal.ts'

export const SCENARIOS: readonly Scenario[] = [
  rateClockBack,
  backlogClockBack,
  patienceClockAhead,
  sealClockAhead,
]
