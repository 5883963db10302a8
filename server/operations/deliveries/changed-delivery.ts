// One delivery that a caller names and changes: what retrying, replaying and cancelling have in common.

import { notFound } from '../shared/service-errors.ts'

/** After it was retried, replayed or cancelled. */
export interface ChangedDelivery {
  id: string
  state: 'PENDING' | 'CANCELLED'
  attempts: number
  /** Null while its endpoint is not active. */
  nextAttemptAt: Date | null
}

const LOOKS_MAX = 3

/**
 * The delivery may move between the pending and the final table while we look: then we look again. `look` returns null
 * where it found neither, or could not change what it had found.
 */
export async function lookAgain<T>(look: () => Promise<T | null>): Promise<T> {
  for (let looks = 0; looks < LOOKS_MAX; looks++) {
    const changed = await look()
    if (changed !== null) return changed
  }
  throw notFound()
}
