// The gatherer over PostgreSQL: what it gathers is recorded, and new deliveries are handed to the engine.

import type { ClientMoves } from '../access/move-checks.ts'
import type { Deps } from '../shared/deps.ts'
import { GATHERER_LIMITS, PaymentGatherer } from './payment-gatherer.ts'
import { holdLimits } from './payment-holds.ts'
import { recordingOn } from './postgres-payment-store.ts'
import {
  acceptPayments,
  type Locking,
  type PaymentChange,
  type RecordedChanges,
  type RecordingDeps,
} from './record-payments.ts'

/** One transaction that accepts changes. */
export type Accept = (
  changes: readonly PaymentChange[],
  locking: Locking,
) => Promise<RecordedChanges>

/** `watched` is given each transaction to run, and may tell of it. */
export function createGatherer(
  deps: Deps,
  accounts: RecordingDeps['accounts'],
  moves?: ClientMoves,
  watched: (accept: Accept) => Accept = (accept) => accept,
): PaymentGatherer {
  const recording = recordingOn(deps, accounts, moves)
  const accept = watched((changes, locking) =>
    acceptPayments(recording, deps.engine, changes, locking),
  )
  return new PaymentGatherer(
    async (changes, locking) => (await accept(changes, locking)).results,
    GATHERER_LIMITS,
    holdLimits(deps.config.databaseConnections),
  )
}
