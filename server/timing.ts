// Spans of time that are fixed in operation, and compressed in tests with real processes.

import type { RetryPolicy } from './core/delivery/backoff.ts'
import type { CircuitPolicy } from './core/delivery/circuit.ts'
import type { DueReaderLimits } from './delivery/owing/due-reader.ts'
import type { SourceParts } from './sources/configured-sources.ts'

export interface Timing {
  retry: RetryPolicy
  circuit: CircuitPolicy
  patienceMs: number
  disableAfterMs: number
  attempt: { deadlineMs: number; connectTimeoutMs: number }
  pollEveryMs: number
  maintainEveryMs: number
  dueReader: DueReaderLimits
  statementTimeoutMs: number
  /** For the whole way down. */
  stopMsMax: number
  sources: SourceParts['timing']
}
