// Every scenario, by the fault that it makes.

import { consumerCutOff, consumerFrozen } from './consumers.ts'
import { frozenAndCut, killedAlone, killedBeside, sessionsEnded } from './crashes.ts'
import { backlogClockBack, rateClockBack } from './pace.ts'
import { patienceClockAhead } from './patience.ts'
import type { Scenario } from './scenario.ts'
import { sealClockAhead } from './seal.ts'
import { siblingsKilled, siblingsKilledForMinutes } from './siblings.ts'
import { statementClockAhead, statementClockBehind } from './statement.ts'
import { stopBesideSilence } from './stop.ts'

export const SCENARIOS: readonly Scenario[] = [
  rateClockBack,
  backlogClockBack,
  patienceClockAhead,
  sealClockAhead,
  consumerFrozen,
  consumerCutOff,
  stopBesideSilence,
  killedAlone,
  killedBeside,
  frozenAndCut,
  sessionsEnded,
  siblingsKilled,
  statementClockAhead,
  statementClockBehind,
]

/** Too long for the tests: performed when they are asked for by name. */
export const LONG_SCENARIOS: readonly Scenario[] = [siblingsKilledForMinutes]
