// When a delivery that is owed can be attempted, as people and alerts are shown it: what waits for an endpoint that
// is down, or not active, is not due. Pure. store/sql/due-times.ts says the same in SQL, for counts.

import type { CircuitState } from './circuit.ts'
import type { EndpointStatus } from './endpoint.ts'

/**
 * A probe begins on time, takes 15 s at most, and its outcome is written a moment later. One that is overdue by more
 * is made by no process: then what waits for it counts as due again, and alerts see it.
 */
export const PROBE_OVERDUE_MS = 60_000

export interface EndpointReadiness {
  status: EndpointStatus
  circuit: CircuitState
  /** Null while the circuit is closed. */
  nextProbeAtMs: number | null
}

/** When the next probe of the endpoint goes: now, where its time has come. Null while the circuit is closed. */
export function probeTimeMs(
  circuit: CircuitState,
  nextProbeAtMs: number | null,
  nowMs: number,
): number | null {
  return circuit === 'CLOSED' ? null : Math.max(nextProbeAtMs ?? nowMs, nowMs)
}

/** When the next attempt can start; null where only the endpoint's owner, or room in its queue, can tell. */
export function attemptTimeMs(
  nextAttemptAtMs: number | null,
  { status, circuit, nextProbeAtMs }: EndpointReadiness,
  nowMs: number,
): number | null {
  if (status !== 'ACTIVE') return null
  const probeAtMs = probeTimeMs(circuit, nextProbeAtMs, nowMs)
  return probeAtMs === null ? nextAttemptAtMs : Math.max(nextAttemptAtMs ?? 0, probeAtMs)
}
