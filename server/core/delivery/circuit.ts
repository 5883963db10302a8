// The circuit breaker of one endpoint. Pure: a circuit and what happened in, the next circuit out.
//   CLOSED ─▶ OPEN        nothing but failures, many in a row and for a while
//   OPEN ─▶ HALF_OPEN     its pause is over: one attempt that is due anyway goes as a probe
//   HALF_OPEN ─▶ CLOSED   the probe got its 200
//             ─▶ OPEN     it did not: a pause twice as long, up to 5 minutes
//   OPEN ─▶ HALF_OPEN     a retry, a resumption or a test that was answered 200: the next attempt probes at once
// A circuit postpones and never drops. Its longest pause is 5 minutes, so that a delivery which ends while
// it is open has seen a probe fail within the last 5 minutes of its run.

export interface CircuitPolicy {
  failuresToOpen: number
  failingMsToOpen: number
  pauseMs: number
  pauseMsMax: number
}

export function circuitPolicy(timeScale = 1): CircuitPolicy {
  return {
    failuresToOpen: 20,
    failingMsToOpen: 10_000 / timeScale,
    pauseMs: 5_000 / timeScale,
    pauseMsMax: 300_000 / timeScale,
  }
}

export const CIRCUIT_STATES = ['CLOSED', 'OPEN', 'HALF_OPEN'] as const
export type CircuitState = (typeof CIRCUIT_STATES)[number]

export interface Circuit {
  readonly state: CircuitState
  /** Failures since the last success. */
  readonly failures: number
  readonly failingSinceMs: number
  /** While OPEN: when the next probe may go, and how long this pause is. */
  readonly probeAtMs: number
  readonly pauseMs: number
}

export const CLOSED_CIRCUIT: Circuit = {
  state: 'CLOSED',
  failures: 0,
  failingSinceMs: 0,
  probeAtMs: 0,
  pauseMs: 0,
}

/** True when an attempt may start, given how many are in flight. */
export function mayPass(circuit: Circuit, inFlight: number, nowMs: number): boolean {
  if (circuit.state === 'CLOSED') return true
  return inFlight === 0 && circuit.probeAtMs <= nowMs
}

/** An attempt starts while the circuit is not closed: it is the probe. */
export function afterProbeStarted(circuit: Circuit): Circuit {
  return circuit.state === 'OPEN' ? { ...circuit, state: 'HALF_OPEN' } : circuit
}

/** The endpoint is said to be mended: an attempt may probe it at once. A closed circuit has nothing to probe. */
export function afterRetry(circuit: Circuit, nowMs: number): Circuit {
  return circuit.state === 'CLOSED' ? circuit : { ...circuit, state: 'HALF_OPEN', probeAtMs: nowMs }
}

/** A failure of an attempt that began before the endpoint was said to be mended tells nothing of it now. */
export function afterOutdatedFailure(circuit: Circuit): Circuit {
  return { ...circuit, failures: circuit.failures + 1 }
}

export function afterAttempt(
  circuit: Circuit,
  isSuccess: boolean,
  policy: CircuitPolicy,
  nowMs: number,
): Circuit {
  if (isSuccess) return CLOSED_CIRCUIT
  const failures = circuit.failures + 1
  const failingSinceMs = circuit.failures === 0 ? nowMs : circuit.failingSinceMs
  if (circuit.state === 'CLOSED') {
    const opens =
      failures >= policy.failuresToOpen && nowMs - failingSinceMs >= policy.failingMsToOpen
    const { pauseMs } = policy
    return opens
      ? { state: 'OPEN', failures, failingSinceMs, probeAtMs: nowMs + pauseMs, pauseMs }
      : { ...circuit, failures, failingSinceMs }
  }
  // Late failures of attempts that began before it opened lengthen nothing.
  if (circuit.state === 'OPEN') return { ...circuit, failures }
  const pauseMs = Math.min(circuit.pauseMs * 2, policy.pauseMsMax)
  return { state: 'OPEN', failures, failingSinceMs, probeAtMs: nowMs + pauseMs, pauseMs }
}
