// A deliberate fault in the service: what it changes and where, by name, and what has to catch it.

import type { Edit } from './mutant-edits.ts'

export interface Mutant {
  name: string
  /** One that is known to catch it, tried first: where it no longer does, all are. */
  seed?: number
  /** By the name of the place that they change (named-places.ts), one after the other. */
  edits: Readonly<Record<string, Edit | readonly Edit[]>>
}

/** Caught by this test, named as its file is: the fault is in SQL, or seeds meet too little of what it needs. */
export interface TestedMutant extends Mutant {
  test: string
}
