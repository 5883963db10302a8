// What a run has shown: the violations of the shared checker, those that only real processes can commit,
// and the figures.

import { check } from '../simulator/checker.ts'
import type { ReceivedRequest, RunRecord, Violation } from '../simulator/records.ts'
import type { KnownEndpoint } from './endpoints.ts'
import { byEndpoint, isTroubled } from './evidence.ts'
import { type FedWrite, referenceOf, type StoredReferences } from './feeds.ts'
import type { Kill, Stop } from './nemesis.ts'
import { type StatusChange, unheeded } from './switches.ts'

export interface Conduct {
  kills: readonly Kill[]
  stops: readonly Stop[]
  /** Processes that ended unexpectedly. */
  ownEnds: readonly string[]
  /** Answers of the API that no fault explains. */
  oddAnswers: readonly string[]
  /** What was asked of endpoints, and what of it the database holds. */
  endpoints: readonly KnownEndpoint[]
  statuses: readonly StatusChange[]
  /** Of endpoints, by id. */
  shards: ReadonlyMap<string, number>
  isDrained: boolean
  /** Nothing but failures for this long disables an endpoint. */
  disableAfterMs: number
  drainedInMs: number
  /** What every feed was acknowledged, and what the payments hold. */
  writes: readonly FedWrite[]
  references: readonly StoredReferences[]
}

export interface Rescue {
  /** From the kill to the take-over of a shard, and to the next request for it. */
  takenMs: number[]
  sentMs: number[]
}

export interface Verdict {
  violations: Violation[]
  rescue: Rescue
  figures: Record<string, number>
}

const STOP_MS_MAX = 5_000
const FLOWING_MS = 1_000
/** It is a matter of microseconds: a process that does it more often does not look at its lease. */
const LEFT_ON_WAKING_MAX = 3

export function judge(run: RunRecord, conduct: Conduct): Verdict {
  const seen = new Set<string>()
  const violations = [...byEndpoint(run)].flatMap(check).filter((violation) => {
    const key = JSON.stringify(violation)
    return seen.has(key) ? false : seen.add(key)
  })
  const { leaseMs } = run.limits
  const alone = conduct.kills.filter(({ node, atMs }) => {
    const others = run.faults.filter((fault) => fault.node !== node)
    return !isTroubled(others, atMs - leaseMs, atMs + 2 * leaseMs)
  })
  const judged = findRescues(run, conduct.shards, alone)
  violations.push(...judgeConduct(run, conduct, judged), ...judgeFeeds(conduct))
  violations.push(...unheeded(conduct.endpoints, conduct.statuses))
  // Where a process is struck every few seconds, few kills are alone: who has the shard is told of all of them. When it next
  // sends is not: what is due there may have been paused, or waited for something else.
  const { takenMs } = findRescues(run, conduct.shards, conduct.kills)
  const rescue = { takenMs, sentMs: judged.sentMs }
  return { violations, rescue, figures: countAll(run) }
}

function judgeConduct(run: RunRecord, conduct: Conduct, rescue: Rescue): Violation[] {
  const wrong: Violation[] = []
  const add = (invariant: string, detail: string, atMs: number | null = null) =>
    wrong.push({ invariant, detail, endpointId: null, paymentId: null, atMs })
  for (const words of conduct.ownEnds) add('F1', `a process ended by itself: ${words}`)
  for (const answer of conduct.oddAnswers) add('API', answer)
  for (const { node, atMs, tookMs, exit } of conduct.stops) {
    if (exit !== 0) add('F19', `${node} was stopped and ended with ${exit}`, atMs)
    else if (tookMs > STOP_MS_MAX && !isTroubled(run.faults, atMs, atMs + tookMs)) {
      add('F19', `${node} took ${tookMs} ms to stop`, atMs)
    }
  }
  const delivered = new Map(
    run.finals.flatMap((final) =>
      final.state === 'DELIVERED' ? [[final.deliveryId, final.atMs] as const] : [],
    ),
  )
  const wasDelivered = (deliveryId: string, beforeMs: number) => {
    const atMs = delivered.get(deliveryId) ?? Number.NEGATIVE_INFINITY
    // One that is committed at that very moment comes too late.
    const sinceMs = beforeMs - conduct.disableAfterMs + run.limits.clockErrorMs
    return atMs > sinceMs && atMs < beforeMs - 1_000
  }
  for (const { id, acts } of run.endpoints) {
    for (const { kind, appliedAtMs: atMs } of acts) {
      if (kind !== 'disable') continue
      const accepted = run.deliveries.find(
        (delivery) => delivery.endpointId === id && wasDelivered(delivery.id, atMs),
      )
      if (!accepted) continue
      const { paymentId, sequence } = accepted
      const detail = `disabled, but update ${sequence} was accepted before`
      wrong.push({ invariant: '§5.6', detail, endpointId: id, paymentId, atMs })
    }
  }
  const slowest = Math.max(0, ...rescue.takenMs)
  if (slowest > run.limits.rescueMsMax) add('I2', `a shard was without an owner for ${slowest} ms`)
  if (!conduct.isDrained) add('I10', `not drained in ${conduct.drainedInMs} ms`)
  const left = countLeftOnWaking(run)
  if (left > LEFT_ON_WAKING_MAX) add('I12', `frozen processes sent ${left} requests on waking`)
  return wrong
}

/**
 * I1 for every feed: each update that was acknowledged is an event, once and in order, and there is no
 * other: what was rolled back left nothing.
 */
export function judgeFeeds({
  writes,
  references,
}: Pick<Conduct, 'writes' | 'references'>): Violation[] {
  const stored = new Map(references.map((of) => [of.paymentId, of.references]))
  return [...Map.groupBy(writes, (write) => write.paymentId)].flatMap(([paymentId, of]) => {
    const expected = of.map(({ version }) => referenceOf(version))
    const found = stored.get(paymentId) ?? []
    if (expected.join() === found.join()) return []
    const fed = of.map(({ feed, version, outcome }) => `${version} ${feed} ${outcome}`).join(', ')
    const detail = `acknowledged ${fed}; recorded ${found.join(', ')}`
    const atMs = of.at(-1)?.acknowledgedAtMs ?? null
    return [{ invariant: 'I1', detail, endpointId: null, paymentId, atMs }]
  })
}

/** How soon after these kills another process had the shards, and how soon it sent. */
export function findRescues(
  run: Pick<RunRecord, 'leases' | 'requests'>,
  shards: ReadonlyMap<string, number>,
  kills: readonly Kill[],
): Rescue {
  const takings = Map.groupBy(run.leases, (lease) => lease.shard)
  const requests = Map.groupBy(run.requests, (request) => shards.get(request.endpointId) ?? -1)
  const rescue: Rescue = { takenMs: [], sentMs: [] }
  for (const { node, atMs } of kills) {
    for (const [shard, of] of takings) {
      if (of.findLast((taking) => taking.atMs <= atMs)?.owner !== node) continue
      const next = of.find((taking) => taking.atMs > atMs)
      if (next === undefined) continue
      rescue.takenMs.push(next.atMs - atMs)
      const own = requests.get(shard) ?? []
      const sent = own.find(({ startedAtMs }) => startedAtMs >= next.atMs)
      // Only where callbacks flowed: elsewhere nothing may be due for long.
      const flowed = own.some(
        ({ startedAtMs, status }) =>
          status === 200 && startedAtMs < atMs && startedAtMs > atMs - FLOWING_MS,
      )
      if (sent && flowed) rescue.sentMs.push(sent.startedAtMs - atMs)
    }
  }
  return rescue
}

function countAll(run: RunRecord): Record<string, number> {
  const states = Map.groupBy(run.deliveries, (delivery) => delivery.state)
  const of = (state: 'PENDING' | 'DELIVERED' | 'EXHAUSTED' | 'SUPERSEDED' | 'CANCELLED') =>
    states.get(state)?.length ?? 0
  return {
    'acknowledged writes': run.writes.length,
    events: run.events.length,
    deliveries: run.deliveries.length,
    delivered: of('DELIVERED'),
    exhausted: of('EXHAUSTED'),
    superseded: of('SUPERSEDED'),
    cancelled: of('CANCELLED'),
    'kept for a disabled endpoint': of('PENDING'),
    requests: run.requests.length,
    'attempt rows': run.attempts.length,
    'requests without a row': run.requests.filter(({ attempt }) => attempt === 0).length,
    'duplicates after a 200': countDuplicates(run.requests),
    'left a frozen process on waking': countLeftOnWaking(run),
    'shards taken': run.leases.length,
  }
}

function countLeftOnWaking({ requests }: RunRecord): number {
  return requests.filter(({ hasLeftOnWaking }) => hasLeftOnWaking).length
}

function countDuplicates(requests: readonly ReceivedRequest[]): number {
  const strands = Map.groupBy(requests, ({ webhookId, endpointId }) => webhookId + endpointId)
  return strands.values().reduce((sum, of) => {
    const inOrder = of.toSorted((one, other) => one.startedAtMs - other.startedAtMs)
    const first = inOrder.findIndex((request) => request.status === 200 && request.wasAnswerHeard)
    return first < 0 ? sum : sum + inOrder.length - 1 - first
  }, 0)
}
