// The invariants of a run (I1–I8, I10, I12–I14), checked on plain records: the same for simulations
// and for real processes.

import { answeredCalls, durableAnswer } from './check-accepting.ts'
import { stableBytes } from './check-bytes.ts'
import { atLeastOnce } from './check-ends.ts'
import { boundedDuplicates, order, replaysInSequence } from './check-order.ts'
import { controlReachesTheOwner, handOver, liveness, oneOwner, oneSender } from './check-owners.ts'
import { heededSuccess, truthfulRecord, wholeHealth } from './check-records.ts'
import { retriesAreHeeded } from './check-retries.ts'
import { schedule, sevenDays } from './check-schedule.ts'
import { sameAttemptAgain } from './clock-checks.ts'
import type { RunRecord, Violation } from './records.ts'
import { RunIndex } from './run-index.ts'

export function check(run: RunRecord): Violation[] {
  const seen = new RunIndex(run)
  return [
    ...durableAnswer(seen),
    ...answeredCalls(seen),
    ...atLeastOnce(seen),
    ...sevenDays(seen),
    ...schedule(seen),
    ...boundedDuplicates(seen),
    ...sameAttemptAgain(run),
    ...order(seen),
    ...replaysInSequence(seen),
    ...stableBytes(seen),
    ...truthfulRecord(seen),
    ...wholeHealth(seen),
    ...heededSuccess(seen),
    ...liveness(seen),
    ...handOver(seen),
    ...oneOwner(seen),
    ...oneSender(seen),
    ...controlReachesTheOwner(seen),
    ...retriesAreHeeded(seen),
  ]
}
