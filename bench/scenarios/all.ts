// Every scenario, in the order of the targets.

import { apiRates } from './api-rates.ts'
import { hangingEndpoints } from './hanging-endpoints.ts'
import { latency } from './latency.ts'
import { manyEndpoints } from './many-endpoints.ts'
import { largeDocuments, manyInMemory } from './memory.ts'
import { returningEndpoint } from './returning-endpoint.ts'
import type { Scenario } from './scenario.ts'
import { startUp } from './start-up.ts'
import { storedRetries } from './stored-retries.ts'
import { takeOver } from './take-over.ts'
import { twoProcesses } from './two-processes.ts'

export const SCENARIOS: readonly Scenario[] = [
  storedRetries,
  hangingEndpoints,
  returningEndpoint,
  latency,
  apiRates,
  manyInMemory,
  largeDocuments,
  startUp,
  manyEndpoints,
  twoProcesses,
  takeOver,
]
