// I5 and I6: no needless second request, and updates of one payment in sequence.

import type { DeliverMode } from '../../server/core/delivery/endpoint-settings.ts'
import { isBlind } from './clock-checks.ts'
import type { ReceivedRequest, ReplayAct, StoredDelivery, Violation } from './records.ts'
import { name, ofRequest, type RunIndex } from './run-index.ts'

/** I5: a second request after a 200 only where that 200 was lost, or a fault met its recording. */
export function boundedDuplicates(seen: RunIndex): Violation[] {
  const wrong: Violation[] = []
  for (const { delivery, requests } of seen.runs) {
    for (const [index, request] of requests.entries()) {
      const next = requests[index + 1]
      if (request.status !== 200 || !request.wasAnswerHeard || next === undefined) continue
      if (seen.isSick(request.node, request.sentAtMs, next.sentAtMs)) continue
      // Sent before, by a process that has lost the shard since, and on its way for long.
      if (seen.isSick(next.node, next.sentAtMs, request.sentAtMs)) continue
      if (isBlind(seen.run, next)) continue
      wrong.push(seen.of('I5', 'sent again after a 200 that was heard', delivery, next))
    }
  }
  return wrong
}

/** I6: per endpoint and payment, one in flight, in sequence, never backwards. */
export function order(seen: RunIndex): Violation[] {
  const strands = Map.groupBy(
    seen.run.requests.filter((request) => !request.isReplay && !isBlind(seen.run, request)),
    (request) => `${request.endpointId}/${request.paymentId}`,
  )
  return [...strands.values()].flatMap((strand) => {
    const inOrder = strand.toSorted((one, other) => one.startedAtMs - other.startedAtMs)
    const deliver = seen.deliverOf(inOrder[0]?.endpointId ?? '')
    return [
      ...oneInFlight(seen, inOrder),
      ...(deliver === 'every' ? eldersFirst(seen, inOrder) : []),
      ...(deliver === 'latest' ? onlyTheNewest(seen, inOrder) : []),
      ...(deliver === null ? [] : neverBackwards(seen, inOrder, deliver)),
    ]
  })
}

/**
 * I6 for replays: those of one payment at one endpoint are in flight one at a time, and what was recovered together sets
 * out in sequence, where neither a fault nor a lack of room came in between.
 */
export function replaysInSequence(seen: RunIndex): Violation[] {
  const strands = Map.groupBy(
    seen.run.requests.filter((request) => request.isReplay && !isBlind(seen.run, request)),
    (request) => `${request.endpointId}/${request.paymentId}`,
  )
  const inFlight = [...strands.values()].flatMap((strand) =>
    oneInFlight(
      seen,
      strand.toSorted((one, other) => one.startedAtMs - other.startedAtMs),
    ),
  )
  const recoveries = Map.groupBy(
    seen.run.replays.filter(({ recovery }) => recovery != null),
    ({ recovery }) => recovery,
  )
  return [...inFlight, ...[...recoveries.values()].flatMap((acts) => inSequence(seen, acts))]
}

function inSequence(seen: RunIndex, acts: readonly ReplayAct[]): Violation[] {
  const askedAtMs = Math.min(...acts.map(({ atMs }) => atMs))
  // Asked for twice, because the first answer got lost: some may be sent again after others.
  if (new Set(acts.map(({ deliveryId }) => deliveryId)).size < acts.length) return []
  const firsts = acts.flatMap(({ deliveryId, atMs }) => {
    const delivery = seen.deliveries.get(deliveryId)
    const requests = delivery ? seen.requestsOf(delivery) : []
    return requests.find(({ sentAtMs }) => sentAtMs >= atMs) ?? []
  })
  const untilMs = Math.max(askedAtMs, ...firsts.map(({ sentAtMs }) => sentAtMs))
  if (
    !seen.run.limits.hasRoom ||
    seen.isSick(null, askedAtMs - seen.run.limits.leaseMs, untilMs, true)
  )
    return []
  return firsts.flatMap((request) => {
    const later = firsts.find(
      (other) => other.sequence > request.sequence && other.sentAtMs < request.sentAtMs,
    )
    if (later === undefined) return []
    return [ofRequest('I6', `recovered, and sent after ${name(later)}`, request)]
  })
}

function oneInFlight(seen: RunIndex, strand: readonly ReceivedRequest[]): Violation[] {
  const wrong: Violation[] = []
  let last: ReceivedRequest | null = null
  for (const request of strand) {
    if (
      last !== null &&
      request.startedAtMs < endOf(seen, last) &&
      !isRepeated(seen, last, request)
    ) {
      wrong.push(ofRequest('I6', `two in flight: ${name(last)} and ${name(request)}`, request))
    }
    if (last === null || endOf(seen, request) > endOf(seen, last)) last = request
  }
  return wrong
}

/**
 * The process that had it under way was taken for dead: it was, or did not know. The same update may then be sent
 * again, and another if this one was cancelled by hand before.
 */
function isRepeated(seen: RunIndex, last: ReceivedRequest, next: ReceivedRequest): boolean {
  if (last.webhookId !== next.webhookId && !wasCancelled(seen, last, next.sentAtMs)) return false
  const sentAtMs = [last.sentAtMs, next.sentAtMs]
  const fromMs = Math.min(...sentAtMs) - seen.run.limits.leaseMs
  return [last.node, next.node].some((node) => seen.isSick(node, fromMs, Math.max(...sentAtMs)))
}

function wasCancelled(seen: RunIndex, request: ReceivedRequest, beforeMs: number): boolean {
  const finals = seen.finals.get(seen.deliveryOf(request)?.id ?? '') ?? []
  return finals.some(({ state, atMs }) => state === 'CANCELLED' && atMs <= beforeMs)
}

function eldersFirst(seen: RunIndex, strand: readonly ReceivedRequest[]): Violation[] {
  const { patienceMs, clocksApartMs } = seen.run.limits
  const [first] = strand
  const wrong: Violation[] = []
  const elders = seen.run.deliveries.filter(
    (delivery) =>
      delivery.endpointId === first?.endpointId && delivery.paymentId === first.paymentId,
  )
  for (const request of strand) {
    for (const elder of elders) {
      if (elder.sequence >= request.sequence) continue
      const finals = seen.finals.get(elder.id) ?? []
      if (finals.some((final) => final.atMs <= request.sentAtMs)) continue
      const failed = (seen.attempts.get(elder.id) ?? []).find((row) => row.status !== 200)
      if (failed && request.sentAtMs >= failed.atMs + patienceMs - clocksApartMs) continue
      const detail = `${name(request)} starts while update ${elder.sequence} waits`
      wrong.push(ofRequest('I6', detail, request))
    }
  }
  return wrong
}

/**
 * Under `latest`: nothing is sent while a newer update is known, and what was tried before has ended all that is
 * older than it.
 */
function onlyTheNewest(seen: RunIndex, strand: readonly ReceivedRequest[]): Violation[] {
  const wrong: Violation[] = []
  for (const request of strand) {
    const { endpointId, paymentId, sequence, sentAtMs } = request
    for (const other of seen.run.deliveries) {
      if (other.endpointId !== endpointId || other.paymentId !== paymentId) continue
      if (other.sequence > sequence && isKnown(seen, other, request)) {
        const detail = `${name(request)} starts although update ${other.sequence} is newer`
        wrong.push(ofRequest('I6', detail, request))
      }
      const finals = seen.finals.get(other.id) ?? []
      const isOver = finals.some(({ atMs }) => atMs <= sentAtMs)
      if (other.sequence < sequence && request.attempt > 1 && !isOver) {
        const detail = `${name(request)} starts, and update ${other.sequence} has not ended`
        wrong.push(ofRequest('I6', detail, request))
      }
    }
  }
  return wrong
}

/** Its caller has had the answer for long enough, and no fault was in the way. */
function isKnown(seen: RunIndex, { eventId, id }: StoredDelivery, at: ReceivedRequest): boolean {
  const { newerMsMax, leaseMs } = seen.run.limits
  const finals = seen.finals.get(id) ?? []
  const write = seen.run.writes.find(({ event }) => event?.id === eventId)
  if (newerMsMax === undefined || write === undefined) return false
  if (finals.some(({ atMs }) => atMs <= at.sentAtMs)) return false
  const fromMs = write.acknowledgedAtMs
  if (fromMs + newerMsMax > at.sentAtMs) return false
  return !seen.isSick(null, fromMs - 2 * leaseMs, at.sentAtMs, true)
}

/**
 * Once a newer update was sent, whatever came of it, an older one is sent only if that one was given up. Under
 * `latest` not even then, unless it was cancelled: nothing is known of an attempt whose process died. One that was sent
 * first, by a process that was taken for dead, and was cancelled before the newer one left, may arrive after it.
 */
function neverBackwards(
  seen: RunIndex,
  strand: readonly ReceivedRequest[],
  deliver: DeliverMode,
): Violation[] {
  const wrong: Violation[] = []
  let newest: ReceivedRequest[] = []
  for (const request of strand) {
    newest = newest.filter((newer) => !wasGivenUp(seen, newer, request.sentAtMs, deliver))
    const newer = newest.find(({ sequence }) => sequence > request.sequence)
    const isLate =
      newer !== undefined && request.sentAtMs < newer.sentAtMs && isRepeated(seen, request, newer)
    if (newer !== undefined && !isLate) {
      const detail = `${name(request)} after ${name(newer)}, which was answered ${newer.status}`
      wrong.push(ofRequest('I6', detail, request))
    }
    newest.push(request)
  }
  return wrong
}

function wasGivenUp(
  seen: RunIndex,
  request: ReceivedRequest,
  beforeMs: number,
  deliver: DeliverMode,
): boolean {
  const finals = seen.finals.get(seen.deliveryOf(request)?.id ?? '') ?? []
  const ends = deliver === 'every' ? ['EXHAUSTED', 'CANCELLED'] : ['CANCELLED']
  return finals.some(({ state, atMs }) => ends.includes(state) && atMs <= beforeMs)
}

function endOf(seen: RunIndex, request: ReceivedRequest): number {
  const deadlineMs = request.sentAtMs + seen.run.limits.attemptMsMax
  return Math.min(request.answeredAtMs ?? deadlineMs, deadlineMs)
}
