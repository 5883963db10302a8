// All deliberate faults. Each changes files of the service; none changes what the service is tested with.

import { ACCEPTING_MUTANTS } from './accepting-mutants.ts'
import { ENGINE_MUTANTS } from './engine-mutants.ts'
import { LEASE_MUTANTS } from './lease-mutants.ts'
import type { Mutant, TestedMutant } from './mutant.ts'
import { STORE_MUTANTS } from './store-mutants.ts'

export const MUTANTS: readonly (Mutant | TestedMutant)[] = [
  ...ACCEPTING_MUTANTS,
  ...STORE_MUTANTS,
  ...LEASE_MUTANTS,
  ...ENGINE_MUTANTS,
]
