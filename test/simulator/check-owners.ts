// I2, I10, I12 and I13: every shard has one owner, due work is tried, and owners heed what was asked for.

import { isBlind } from './clock-checks.ts'
import type { ReceivedRequest, RunRecord, StoredDelivery, Violation } from './records.ts'
import { inactiveSpans, ofRequest, type RunIndex, violation } from './run-index.ts'

/** I2, I10: once the faults have ended, due work is tried soon, and everything ends. */
export function liveness(seen: RunIndex): Violation[] {
  const { rescueMsMax, breakerMsMax } = seen.run.limits
  const wrong: Violation[] = []
  for (const delivery of seen.run.deliveries) {
    if (delivery.state !== 'PENDING') continue
    const spans = inactiveSpans(seen.endpoints.get(delivery.endpointId))
    if (spans.at(-1)?.untilMs === Number.POSITIVE_INFINITY) continue
    wrong.push(seen.of('I10', `still PENDING, due ${delivery.nextAttemptAtMs}`, delivery))
  }
  const from = seen.run.faultsEndedAtMs
  for (const id of seen.run.dueAtFaultsEnd) {
    const delivery = seen.deliveries.get(id)
    if (delivery === undefined) continue
    // Whatever fails opens the circuit, a status that was heard too.
    const hasFailed = seen.run.requests.some(
      (request) =>
        (request.status !== 200 || !request.wasAnswerHeard) && mayHoldUp(seen, request, delivery),
    )
    const untilMs = lastFaultEnd(seen.run) + rescueMsMax + (hasFailed ? breakerMsMax : 0)
    const isTried =
      seen
        .requestsOf(delivery)
        .some(({ startedAtMs }) => startedAtMs >= from - 30_000 && startedAtMs <= untilMs) ||
      (seen.finals.get(id) ?? []).some(({ atMs }) => atMs <= untilMs)
    const isTouched = seen.wasTouched(delivery.endpointId, from, untilMs)
    if (!isTried && !isTouched && untilMs < seen.run.endedAtMs) {
      wrong.push(seen.of('I10', 'due work is not tried once the faults have ended', delivery))
    }
  }
  return wrong
}

/**
 * An endpoint that is down holds up what it is owed itself until its probe. Where one payment may fill the memory, so it
 * does what others are owed by the same process: elsewhere each endpoint that is down has a small part of it.
 */
function mayHoldUp(
  seen: RunIndex,
  failed: ReceivedRequest,
  { endpointId }: StoredDelivery,
): boolean {
  if (failed.endpointId === endpointId) return true
  if (!seen.run.limits.isFilledByOne) return false
  const shard = seen.endpoints.get(endpointId)?.shard
  const owner = seen.run.leases.findLast((lease) => lease.shard === shard)?.owner
  return owner !== undefined && nodeOf(owner) === failed.node
}

/** Machines that stand still at the end of the faults go on when their own time has come. */
function lastFaultEnd({ faults, faultsEndedAtMs }: RunRecord): number {
  const stills = faults.filter(
    ({ kind }) => kind === 'stall' || kind === 'sleep' || kind === 'pause',
  )
  const ends = stills.map(({ untilMs }) => untilMs).filter(Number.isFinite)
  return Math.max(faultsEndedAtMs, ...ends)
}

/** F19: a process that stops in good order leaves no shard without an owner, if another can take it. */
export function handOver(seen: RunIndex): Violation[] {
  const { handOverMsMax } = seen.run.limits
  const stops = seen.run.faults.filter((fault) => fault.kind === 'stop')
  const owners = new Set(seen.run.leases.map((lease) => nodeOf(lease.owner)))
  return stops.flatMap(({ node, untilMs, fromMs }) => {
    const endsAtMs = untilMs + handOverMsMax
    const isAlone =
      ![...owners].some((owner) => owner !== node) ||
      stops.some((other) => other.node !== node && other.fromMs <= endsAtMs) ||
      seen.isSick(null, fromMs - 2 * seen.run.limits.leaseMs, endsAtMs)
    if (isAlone || endsAtMs > seen.run.endedAtMs) return []
    const before = seen.run.leases.filter((lease) => lease.atMs <= untilMs)
    const last = new Map(before.map((lease) => [lease.shard, lease]))
    return [...last.values()].flatMap(({ shard, owner }) => {
      if (nodeOf(owner) !== node) return []
      const isTaken = seen.run.leases.some(
        (lease) => lease.shard === shard && lease.atMs > fromMs && lease.atMs <= endsAtMs,
      )
      const detail = `shard ${shard} of ${node} has no owner after its stop`
      return isTaken ? [] : [violation('I10', detail, null, null, untilMs)]
    })
  })
}

/** I12: one owner per shard and epoch; epochs only rise. */
export function oneOwner(seen: RunIndex): Violation[] {
  const wrong: Violation[] = []
  const epochs = new Map<number, number>()
  for (const { shard, epoch, owner, atMs } of seen.run.leases) {
    if (epoch <= (epochs.get(shard) ?? 0)) {
      const detail = `${owner} takes shard ${shard} under epoch ${epoch} again`
      wrong.push(violation('I12', detail, null, null, atMs))
    }
    epochs.set(shard, epoch)
  }
  return wrong
}

/** I12: none begins to send for a shard that another has taken. What is on its way by then is looked at by I6. */
export function oneSender(seen: RunIndex): Violation[] {
  const shards = new Map(seen.run.endpoints.map(({ id, shard }) => [id, shard]))
  return seen.run.requests.flatMap((request) => {
    const shard = shards.get(request.endpointId)
    if (shard === undefined || isBlind(seen.run, request)) return []
    const taking = seen.run.leases.findLast(
      (lease) => lease.shard === shard && lease.atMs <= request.sentAtMs,
    )
    if (taking === undefined || nodeOf(taking.owner) === request.node) return []
    return [ofRequest('I12', `sent by ${request.node} after ${taking.owner} took it`, request)]
  })
}

/** I13: what one process has acknowledged, every other one heeds. */
export function controlReachesTheOwner(seen: RunIndex): Violation[] {
  const { controlMsMax, leaseMs } = seen.run.limits
  const wrong: Violation[] = []
  for (const { id, acts } of seen.run.endpoints) {
    for (const [index, act] of acts.entries()) {
      if (act.acknowledgedAtMs === null) continue
      if (act.kind !== 'pause' && act.kind !== 'delete' && act.kind !== 'disable') continue
      const resumed = acts.slice(index + 1).find((later) => later.kind === 'resume')
      // A resumption may hold before its caller has the answer.
      const untilMs = resumed?.askedAtMs ?? Number.POSITIVE_INFINITY
      for (const request of seen.run.requests) {
        if (request.endpointId !== id || request.sentAtMs >= untilMs) continue
        const graceMs = request.node === act.node ? 0 : controlMsMax
        if (request.sentAtMs <= act.acknowledgedAtMs + graceMs) continue
        if (seen.isSick(request.node, act.askedAtMs - leaseMs, request.sentAtMs)) continue
        wrong.push(ofRequest('I13', `sent after a ${act.kind} was acknowledged`, request))
      }
    }
  }
  return wrong
}

/** Owners are named by node and incarnation. */
function nodeOf(owner: string): string {
  return owner.split('#')[0] as string
}
