// What clocks that lie may cost, and what they may not. A machine whose every clock stood still cannot
// know that its leases are lost: what it sends until its next renewal is excused from the order, and from
// nothing else. So is the one request that a process was about to hand to the system when it was frozen. Nothing
// excuses that a process sends the same attempt again and again.

import type { ReceivedRequest, RunRecord, Violation } from './records.ts'

/** Sent by a process that could not know that another owns the shard by now. */
export function isBlind(run: RunRecord, request: ReceivedRequest): boolean {
  if (request.hasLeftOnWaking) return true
  return run.faults.some(
    (fault) =>
      fault.kind === 'pause' &&
      fault.node === request.node &&
      fault.fromMs <= request.startedAtMs &&
      request.sentAtMs <= fault.untilMs,
  )
}

/**
 * I5: what could not be recorded is sent again by a process only after it has lost the lease and got one
 * again. A lease outlasts an attempt, so that takes longer than one; a restart may be faster.
 */
export function sameAttemptAgain(run: RunRecord): Violation[] {
  const wrong: Violation[] = []
  const last = new Map<string, ReceivedRequest>()
  for (const request of run.requests.toSorted((one, other) => one.sentAtMs - other.sentAtMs)) {
    const { node, webhookId, endpointId, attempt, sentAtMs, paymentId } = request
    if (node === null) continue
    const key = `${node}/${webhookId}/${endpointId}/${attempt}`
    const before = last.get(key)
    last.set(key, request)
    if (before === undefined || sentAtMs - before.sentAtMs > run.limits.attemptMsMax) continue
    if (hasRestarted(run, node, before.sentAtMs, sentAtMs)) continue
    if (hasChangedHands(run, request, before.sentAtMs)) continue
    const detail = `attempt ${attempt} is sent again by ${node} after ${sentAtMs - before.sentAtMs} ms`
    wrong.push({ invariant: 'I5', detail, endpointId, paymentId, atMs: sentAtMs })
  }
  return wrong
}

/** Another process had the shard in between: its own lease was not over, because its session was; or it was blind. */
function hasChangedHands(run: RunRecord, request: ReceivedRequest, sinceMs: number): boolean {
  const shard = run.endpoints.find(({ id }) => id === request.endpointId)?.shard
  const taken = run.leases.filter(
    (lease) => lease.shard === shard && lease.atMs <= request.sentAtMs,
  )
  const from = Math.max(
    0,
    taken.findLastIndex(({ atMs }) => atMs <= sinceMs),
  )
  return taken.slice(from).some(({ owner }) => !owner.startsWith(`${request.node}#`))
}

function hasRestarted(run: RunRecord, node: string, fromMs: number, untilMs: number): boolean {
  return run.faults.some(
    (fault) =>
      (fault.kind === 'crash' || fault.kind === 'stop') &&
      fault.node === node &&
      fault.fromMs <= untilMs &&
      fault.untilMs >= fromMs,
  )
}
