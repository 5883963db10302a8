// A deliberate fault in the service: text of the service's files replaced, and what has to catch it.

import type { Patch } from './patched-copy.ts'

export interface Mutant {
  name: string
  /** One that is known to catch it, tried first: where it no longer does, all are. */
  seed?: number
  patches: readonly Patch[]
}

/** Caught by this test: the fault is in SQL, or seeds meet too little of what it needs. */
export interface TestedMutant extends Mutant {
  test: string
}

/** `file` is one of the service. */
export function patch(file: string, find: string, replace: string): Patch {
  return { file: `server/${file}`, find, replace }
}
