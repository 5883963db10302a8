// The invariants of a run (I1–I8, I10, I12, I13), checked on plain records: the same for simulations
// and for real processes. Each check returns what is wrong; none looks at how the service works.
// Long because it is one list: every invariant is read alone, over look-ups that all of them share.

import { isBlind, sameAttemptAgain } from './clock-checks.ts'
import type {
  EndpointAct,
  EndpointHistory,
  FaultAct,
  ReceivedRequest,
  RunRecord,
  StoredAttempt,
  StoredDelivery,
  Violation,
} from './records.ts'

export function check(run: RunRecord): Violation[] {
  const checker = new Checker(run)
  return [
    ...checker.durableAnswer(),
    ...checker.atLeastOnce(),
    ...checker.window(),
    ...checker.schedule(),
    ...checker.boundedDuplicates(),
    ...sameAttemptAgain(run),
    ...checker.order(),
    ...checker.stableBytes(),
    ...checker.truthfulRecord(),
    ...checker.wholeHealth(),
    ...checker.liveness(),
    ...checker.handOver(),
    ...checker.oneOwner(),
    ...checker.controlReachesTheOwner(),
  ]
}

/** A run of a delivery: 7 days of its own, begun by the fan-out or by a replay. */
interface DeliveryRun {
  delivery: StoredDelivery
  fromMs: number
  untilMs: number
  requests: ReceivedRequest[]
  attempts: StoredAttempt[]
}

const SICK: readonly FaultAct['kind'][] = [
  ...(['crash', 'stall', 'partition', 'starve', 'store', 'sleep', 'pause'] as const),
]

class Checker {
  readonly #run: RunRecord
  readonly #endpoints: Map<string, EndpointHistory>
  readonly #deliveries: Map<string, StoredDelivery>
  readonly #byEvent: Map<string, StoredDelivery>
  readonly #requests: Map<string, ReceivedRequest[]>
  readonly #attempts: Map<string, StoredAttempt[]>
  readonly #finals: Map<string, { state: string; atMs: number }[]>
  readonly #runs: DeliveryRun[]

  constructor(run: RunRecord) {
    this.#run = run
    this.#endpoints = new Map(run.endpoints.map((endpoint) => [endpoint.id, endpoint]))
    this.#deliveries = new Map(run.deliveries.map((delivery) => [delivery.id, delivery]))
    this.#byEvent = new Map(
      run.deliveries.map((delivery) => [`${delivery.eventId}/${delivery.endpointId}`, delivery]),
    )
    this.#requests = Map.groupBy(
      run.requests.toSorted((one, other) => one.startedAtMs - other.startedAtMs),
      (request) => `${request.webhookId}/${request.endpointId}`,
    )
    this.#attempts = Map.groupBy(run.attempts, (attempt) => attempt.deliveryId)
    this.#finals = Map.groupBy(run.finals, (final) => final.deliveryId)
    this.#runs = run.deliveries.flatMap((delivery) => this.#runsOf(delivery))
  }

  /** I1: what was answered is there, with a delivery for every endpoint that existed. */
  durableAnswer(): Violation[] {
    const wrong: Violation[] = []
    const events = new Map(this.#run.events.map((event) => [event.id, event]))
    for (const write of this.#run.writes) {
      const isThere = write.event === null || events.has(write.event.id)
      const hasPayment = this.#run.events.some((event) => event.paymentId === write.paymentId)
      if (!isThere || !hasPayment) {
        const detail = `acknowledged version ${write.version} left no event`
        wrong.push(violation('I1', detail, null, write.paymentId, write.acknowledgedAtMs))
      }
    }
    for (const event of this.#run.events) {
      for (const endpoint of this.#run.endpoints) {
        if (!isOwed(endpoint, event)) continue
        if (this.#byEvent.has(`${event.id}/${endpoint.id}`)) continue
        const detail = `no delivery of update ${event.sequence}`
        wrong.push(violation('I1', detail, endpoint.id, event.paymentId, event.createdAtMs))
      }
    }
    if (this.#byEvent.size !== this.#run.deliveries.length) {
      wrong.push(violation('I1', 'two deliveries of one event to one endpoint'))
    }
    for (const [paymentId, of] of Map.groupBy(this.#run.events, (event) => event.paymentId)) {
      const inOrder = of.toSorted((one, other) => one.sequence - other.sequence)
      for (const [index, event] of inOrder.entries()) {
        if (event.sequence !== index + 1) {
          wrong.push(
            violation('I1', `sequence ${event.sequence} in place ${index + 1}`, null, paymentId),
          )
        }
        if (event.text === inOrder[index - 1]?.text) {
          wrong.push(violation('I1', `update ${event.sequence} changes nothing`, null, paymentId))
        }
      }
    }
    return wrong
  }

  /** I3: every delivery ended for a reason that somebody else can confirm. */
  atLeastOnce(): Violation[] {
    return this.#run.deliveries.flatMap((delivery) => {
      const requests = this.#requestsOf(delivery)
      const isAccepted = (request: ReceivedRequest) => request.status === 200
      if (delivery.state === 'DELIVERED') {
        if (requests.some((request) => isAccepted(request) && request.wasAnswerHeard)) return []
        return [this.#of('I3', 'DELIVERED, but the receiver never answered 200', delivery)]
      }
      if (delivery.state === 'SUPERSEDED') {
        const isOvertaken = this.#run.requests.some(
          (request) =>
            request.endpointId === delivery.endpointId &&
            request.paymentId === delivery.paymentId &&
            request.sequence > delivery.sequence &&
            isAccepted(request),
        )
        return isOvertaken ? [] : [this.#of('I3', 'SUPERSEDED by nothing', delivery)]
      }
      if (delivery.state === 'CANCELLED') {
        const acts = this.#endpoints.get(delivery.endpointId)?.acts ?? []
        if (acts.some((act) => act.kind === 'delete')) return []
        return [this.#of('I3', 'CANCELLED by nobody', delivery)]
      }
      if (delivery.state === 'EXHAUSTED' && requests.length === 0 && delivery.attempts === 0) {
        return [this.#of('I3', 'EXHAUSTED without a single attempt', delivery)]
      }
      return []
    })
  }

  /** I4: no attempt after the window, the last one at its end, nothing exhausted while inactive. */
  window(): Violation[] {
    const { closingMs, clockErrorMs, controlMsMax, leaseMs } = this.#run.limits
    const wrong: Violation[] = []
    for (const [index, run] of this.#runs.entries()) {
      const first = run.attempts[0]
      if (first === undefined) continue
      const { delivery } = run
      const endsAtMs = this.#windowEnd(run, first.atMs)
      const slackMs = clockErrorMs + this.#pauseSlackMs(delivery.endpointId)
      // What is stored is the end of the newest run; pauses are added to it when they end.
      const isNewest = this.#runs[index + 1]?.delivery !== delivery
      const hasPaused = inactiveSpans(this.#endpoints.get(delivery.endpointId)).length > 0
      const storedMs = delivery.deadlineAtMs ?? endsAtMs
      if (isNewest && !hasPaused && Math.abs(storedMs - endsAtMs) > slackMs) {
        wrong.push(this.#of('I4', 'the end is not 7 days after the first attempt', delivery))
      }
      for (const request of run.requests) {
        if (request.sentAtMs > endsAtMs + slackMs) {
          wrong.push(this.#of('I4', 'an attempt starts after the 7 days', delivery, request))
        }
      }
      const final = this.#finalOf(run)
      if (final?.state !== 'EXHAUSTED') continue
      if (final.atMs < endsAtMs - closingMs - slackMs) {
        wrong.push(this.#of('I4', 'EXHAUSTED before the last 5 minutes', delivery))
      }
      const closesAtMs = endsAtMs - closingMs - slackMs
      const isClosed = this.#run.requests.some(
        (request) =>
          request.endpointId === delivery.endpointId &&
          request.sentAtMs >= closesAtMs &&
          request.sentAtMs <= endsAtMs + slackMs,
      )
      const wasSick = this.#isSick(null, closesAtMs - 3 * leaseMs, final.atMs, true)
      if (!isClosed && !wasSick && !this.#wasPassed(run, final.atMs)) {
        wrong.push(this.#of('I4', 'EXHAUSTED without a closing attempt', delivery))
      }
      const isInactive = inactiveSpans(this.#endpoints.get(delivery.endpointId)).some(
        (span) => span.fromMs + controlMsMax < final.atMs && final.atMs < span.untilMs,
      )
      if (isInactive && !wasSick) {
        wrong.push(this.#of('I4', 'EXHAUSTED while its endpoint was not active', delivery))
      }
    }
    return wrong
  }

  /** I4, the schedule: no retry earlier than its delay allows, nor much later when all is well. */
  schedule(): Violation[] {
    const { retryBaseMs, retryCapMs, jitter, clockErrorMs, breakerMsMax } = this.#run.limits
    const { leaseMs, pollMs, attemptMsMax } = this.#run.limits
    const wrong: Violation[] = []
    for (const { attempts, delivery } of this.#runs) {
      for (const [index, next] of attempts.entries()) {
        const before = attempts[index - 1]
        if (before === undefined || next.attempt !== before.attempt + 1) continue
        if (this.#wasTouched(delivery.endpointId, before.atMs, next.atMs)) continue
        const delayMs = Math.min(retryBaseMs * 2 ** (index - 1), retryCapMs)
        const gapMs = next.atMs - before.atMs
        const end = delivery.deadlineAtMs ?? Number.POSITIVE_INFINITY
        const isLast = next.atMs >= end - this.#run.limits.closingMs
        if (gapMs < delayMs * (1 - jitter) - clockErrorMs && !isLast) {
          wrong.push(this.#of('I4', `attempt ${next.attempt} comes early`, delivery))
        }
        const asked = before.status === 429 || before.status === 503 ? 2 : 1
        const latestMs = delayMs * (1 + jitter) * asked + breakerMsMax + 3 * pollMs + attemptMsMax
        const isSick = this.#isSick(null, before.atMs - leaseMs, next.atMs, true)
        // Behind an open circuit it may be postponed while others of its endpoint are the probes.
        const isPostponed = this.#run.requests.some(
          (request) =>
            request.endpointId === delivery.endpointId &&
            request.sentAtMs > before.atMs + latestMs - breakerMsMax &&
            request.sentAtMs < next.atMs - clockErrorMs,
        )
        const isExcused = isSick || isPostponed || this.#isOvertaken(delivery)
        if (gapMs > latestMs + clockErrorMs && !isExcused) {
          wrong.push(this.#of('I4', `attempt ${next.attempt} comes late`, delivery))
        }
      }
    }
    return wrong
  }

  /** I5: a second request after a 200 only where that 200 was lost, or a fault met its recording. */
  boundedDuplicates(): Violation[] {
    const wrong: Violation[] = []
    for (const { delivery, requests } of this.#runs) {
      for (const [index, request] of requests.entries()) {
        const next = requests[index + 1]
        if (request.status !== 200 || !request.wasAnswerHeard || next === undefined) continue
        if (this.#isSick(request.node, request.sentAtMs, next.sentAtMs)) continue
        if (isBlind(this.#run, next)) continue
        wrong.push(this.#of('I5', 'sent again after a 200 that was heard', delivery, next))
      }
    }
    return wrong
  }

  /** I6: per endpoint and payment, one in flight, in sequence, never backwards. */
  order(): Violation[] {
    const strands = Map.groupBy(
      this.#run.requests.filter((request) => !request.isReplay && !isBlind(this.#run, request)),
      (request) => `${request.endpointId}/${request.paymentId}`,
    )
    return [...strands.values()].flatMap((strand) => {
      const inOrder = strand.toSorted((one, other) => one.startedAtMs - other.startedAtMs)
      return [
        ...this.#oneInFlight(inOrder),
        ...this.#eldersFirst(inOrder),
        ...this.#neverBackwards(inOrder),
      ]
    })
  }

  #oneInFlight(strand: readonly ReceivedRequest[]): Violation[] {
    const wrong: Violation[] = []
    let last: ReceivedRequest | null = null
    for (const request of strand) {
      if (last !== null && request.startedAtMs < this.#endOf(last)) {
        wrong.push(ofRequest('I6', `two in flight: ${name(last)} and ${name(request)}`, request))
      }
      if (last === null || this.#endOf(request) > this.#endOf(last)) last = request
    }
    return wrong
  }

  #eldersFirst(strand: readonly ReceivedRequest[]): Violation[] {
    const { patienceMs, clocksApartMs } = this.#run.limits
    const [first] = strand
    const wrong: Violation[] = []
    const elders = this.#run.deliveries.filter(
      (delivery) =>
        delivery.endpointId === first?.endpointId && delivery.paymentId === first.paymentId,
    )
    for (const request of strand) {
      for (const elder of elders) {
        if (elder.sequence >= request.sequence) continue
        const finals = this.#finals.get(elder.id) ?? []
        if (finals.some((final) => final.atMs <= request.sentAtMs)) continue
        const failed = (this.#attempts.get(elder.id) ?? []).find((row) => row.status !== 200)
        if (failed && request.sentAtMs >= failed.atMs + patienceMs - clocksApartMs) continue
        const detail = `${name(request)} starts while update ${elder.sequence} waits`
        wrong.push(ofRequest('I6', detail, request))
      }
    }
    return wrong
  }

  /** Once a newer update was sent, whatever came of it, an older one is sent only if that one was given up. */
  #neverBackwards(strand: readonly ReceivedRequest[]): Violation[] {
    const wrong: Violation[] = []
    let newest: ReceivedRequest[] = []
    for (const request of strand) {
      newest = newest.filter((newer) => !this.#wasGivenUp(newer, request.sentAtMs))
      const newer = newest.find(({ sequence }) => sequence > request.sequence)
      if (newer !== undefined) {
        const detail = `${name(request)} after ${name(newer)}, which was answered ${newer.status}`
        wrong.push(ofRequest('I6', detail, request))
      }
      newest.push(request)
    }
    return wrong
  }

  #wasGivenUp(request: ReceivedRequest, beforeMs: number): boolean {
    const finals = this.#finals.get(this.#deliveryOf(request)?.id ?? '') ?? []
    return finals.some(
      ({ state, atMs }) => (state === 'EXHAUSTED' || state === 'CANCELLED') && atMs <= beforeMs,
    )
  }

  /** I7: one body per event; signed with the keys of the moment. */
  stableBytes(): Violation[] {
    const wrong: Violation[] = []
    const hashes = new Map<string, string>()
    for (const request of this.#run.requests) {
      const known = hashes.get(request.webhookId) ?? request.bodyHash
      hashes.set(request.webhookId, known)
      if (known !== request.bodyHash) {
        wrong.push(ofRequest('I7', 'another body for the same webhook-id', request))
      }
      const delivery = this.#deliveryOf(request)
      if (delivery?.sequence !== request.sequence || delivery.paymentId !== request.paymentId) {
        wrong.push(ofRequest('I7', 'not what was stored', request))
      }
      const detail = this.#keyFault(request)
      if (detail !== null) wrong.push(ofRequest('I7', detail, request))
    }
    return wrong
  }

  /** I8: one row per attempt, true to what the receiver saw; none missing without a fault. */
  truthfulRecord(): Violation[] {
    const wrong: Violation[] = []
    const { attemptMsMax, leaseMs } = this.#run.limits
    for (const delivery of this.#run.deliveries) {
      const rows = this.#attempts.get(delivery.id) ?? []
      const numbers = rows.map((row) => row.attempt).sort((one, other) => one - other)
      if (numbers.some((number, index) => number !== index + 1)) {
        wrong.push(this.#of('I8', `attempt rows ${numbers.join(' ')}`, delivery))
      }
      if (rows.length < delivery.attempts) {
        wrong.push(this.#of('I8', `${rows.length} rows, ${delivery.attempts} attempts`, delivery))
      }
    }
    for (const request of this.#run.requests) {
      const row = this.#rowOf(request)
      const untilMs = request.sentAtMs + attemptMsMax + leaseMs
      if (row === undefined) {
        const isRunning = untilMs > this.#run.endedAtMs
        if (!isRunning && !this.#isSick(request.node, request.sentAtMs, untilMs)) {
          wrong.push(ofRequest('I8', 'a request without a row, and nobody died', request))
        }
      } else if (this.#copiesOf(request).some((copy) => isRowOf(row, copy))) {
        // Where clocks jump, the row may be that of the same attempt by another process.
      } else if (request.wasAnswerHeard) {
        const detail = `recorded as ${row.outcome} ${row.status}, answered ${request.status}`
        wrong.push(ofRequest('I8', detail, request))
      } else {
        wrong.push(ofRequest('I8', 'an answer on record that nobody heard', request))
      }
    }
    return wrong
  }

  /** The request itself, and others of the same attempt. */
  #copiesOf({ webhookId, endpointId, attempt }: ReceivedRequest): ReceivedRequest[] {
    const requests = this.#requests.get(`${webhookId}/${endpointId}`) ?? []
    return requests.filter((copy) => copy.attempt === attempt)
  }

  /** I8 for an endpoint's health: it tells of every attempt, unless a process has ended with some untold. */
  wholeHealth(): Violation[] {
    const { health, faults, deliveries, endedAtMs } = this.#run
    const { attemptMsMax, pollMs } = this.#run.limits
    // It is written by the next poll but one; the database may keep one poll waiting for 11 s.
    const toldUntilMs = endedAtMs - attemptMsMax - 12_000 - 3 * pollMs
    const hasEnded = faults.some(
      ({ kind, untilMs }) =>
        kind === 'crash' || kind === 'stop' || (SICK.includes(kind) && untilMs > toldUntilMs),
    )
    if (health === undefined || hasEnded) return []
    const told = new Map(health.map(({ endpointId, attempts }) => [endpointId, attempts]))
    const made = new Map<string, number>()
    for (const { id, endpointId } of deliveries) {
      const rows = (this.#attempts.get(id) ?? []).filter(({ atMs }) => atMs < toldUntilMs)
      made.set(endpointId, (made.get(endpointId) ?? 0) + rows.length)
    }
    return [...made].flatMap(([endpointId, attempts]) => {
      const missing = attempts - (told.get(endpointId) ?? 0)
      if (missing <= 0) return []
      return [violation('I8', `health does not tell of ${missing} attempts`, endpointId)]
    })
  }

  /** I2, I10: once the faults have ended, due work is tried soon, and everything ends. */
  liveness(): Violation[] {
    const { rescueMsMax, breakerMsMax } = this.#run.limits
    const wrong: Violation[] = []
    for (const delivery of this.#run.deliveries) {
      if (delivery.state !== 'PENDING') continue
      const spans = inactiveSpans(this.#endpoints.get(delivery.endpointId))
      if (spans.at(-1)?.untilMs === Number.POSITIVE_INFINITY) continue
      wrong.push(this.#of('I10', `still PENDING, due ${delivery.nextAttemptAtMs}`, delivery))
    }
    const from = this.#run.faultsEndedAtMs
    for (const id of this.#run.dueAtFaultsEnd) {
      const delivery = this.#deliveries.get(id)
      if (delivery === undefined) continue
      const hasFailed = this.#run.requests.some(
        (request) => request.endpointId === delivery.endpointId && !request.wasAnswerHeard,
      )
      const untilMs = from + rescueMsMax + (hasFailed ? breakerMsMax : 0)
      const isTried =
        this.#requestsOf(delivery).some(
          ({ startedAtMs }) => startedAtMs >= from - 30_000 && startedAtMs <= untilMs,
        ) || (this.#finals.get(id) ?? []).some(({ atMs }) => atMs <= untilMs)
      const isTouched = this.#wasTouched(delivery.endpointId, from, untilMs)
      if (!isTried && !isTouched && untilMs < this.#run.endedAtMs) {
        wrong.push(this.#of('I10', 'due work is not tried once the faults have ended', delivery))
      }
    }
    return wrong
  }

  /** F19: whoever stops in good order leaves no shard behind, if anybody is there to take it. */
  handOver(): Violation[] {
    const { handOverMsMax } = this.#run.limits
    const stops = this.#run.faults.filter((fault) => fault.kind === 'stop')
    const owners = new Set(this.#run.leases.map((lease) => nodeOf(lease.owner)))
    return stops.flatMap(({ node, untilMs, fromMs }) => {
      const endsAtMs = untilMs + handOverMsMax
      const isAlone =
        ![...owners].some((owner) => owner !== node) ||
        stops.some((other) => other.node !== node && other.fromMs <= endsAtMs) ||
        this.#isSick(null, fromMs - 2 * this.#run.limits.leaseMs, endsAtMs)
      if (isAlone || endsAtMs > this.#run.endedAtMs) return []
      const before = this.#run.leases.filter((lease) => lease.atMs <= untilMs)
      const last = new Map(before.map((lease) => [lease.shard, lease]))
      return [...last.values()].flatMap(({ shard, owner }) => {
        if (nodeOf(owner) !== node) return []
        const isTaken = this.#run.leases.some(
          (lease) => lease.shard === shard && lease.atMs > fromMs && lease.atMs <= endsAtMs,
        )
        const detail = `shard ${shard} of ${node} is nobody's after its stop`
        return isTaken ? [] : [violation('I10', detail, null, null, untilMs)]
      })
    })
  }

  /** I12: one owner per shard and epoch; epochs only rise. */
  oneOwner(): Violation[] {
    const wrong: Violation[] = []
    const epochs = new Map<number, number>()
    for (const { shard, epoch, owner, atMs } of this.#run.leases) {
      if (epoch <= (epochs.get(shard) ?? 0)) {
        const detail = `${owner} takes shard ${shard} under epoch ${epoch} again`
        wrong.push(violation('I12', detail, null, null, atMs))
      }
      epochs.set(shard, epoch)
    }
    return wrong
  }

  /** I13: what one process has acknowledged, every other one heeds. */
  controlReachesTheOwner(): Violation[] {
    const { controlMsMax, leaseMs } = this.#run.limits
    const wrong: Violation[] = []
    for (const { id, acts } of this.#run.endpoints) {
      for (const [index, act] of acts.entries()) {
        if (act.acknowledgedAtMs === null) continue
        if (act.kind !== 'pause' && act.kind !== 'delete' && act.kind !== 'disable') continue
        const resumed = acts.slice(index + 1).find((later) => later.kind === 'resume')
        // Whoever resumes may be heard before he is told so.
        const untilMs = resumed?.askedAtMs ?? Number.POSITIVE_INFINITY
        for (const request of this.#run.requests) {
          if (request.endpointId !== id || request.sentAtMs >= untilMs) continue
          const graceMs = request.node === act.node ? 0 : controlMsMax
          if (request.sentAtMs <= act.acknowledgedAtMs + graceMs) continue
          if (this.#isSick(request.node, act.askedAtMs - leaseMs, request.sentAtMs)) continue
          wrong.push(ofRequest('I13', `sent after a ${act.kind} was acknowledged`, request))
        }
      }
    }
    return wrong
  }

  #runsOf(delivery: StoredDelivery): DeliveryRun[] {
    const replays = this.#run.replays.filter((replay) => replay.deliveryId === delivery.id)
    const begins = [{ atMs: Number.NEGATIVE_INFINITY, attemptsBefore: 0 }, ...replays]
    const rows = (this.#attempts.get(delivery.id) ?? []).toSorted(
      (one, other) => one.attempt - other.attempt,
    )
    return begins.map(({ atMs: fromMs, attemptsBefore }, index) => {
      const next = begins[index + 1]
      const untilMs = next?.atMs ?? Number.POSITIVE_INFINITY
      const lastAttempt = next?.attemptsBefore ?? Number.POSITIVE_INFINITY
      const requests = this.#requestsOf(delivery).filter(
        ({ sentAtMs }) => sentAtMs >= fromMs && sentAtMs < untilMs,
      )
      const attempts = rows.filter(
        ({ attempt }) => attempt > attemptsBefore && attempt <= lastAttempt,
      )
      return { delivery, fromMs, untilMs, requests, attempts }
    })
  }

  #finalOf(run: DeliveryRun): { state: string; atMs: number } | undefined {
    return (this.#finals.get(run.delivery.id) ?? []).find(
      (final) => final.atMs >= run.fromMs && final.atMs <= run.untilMs,
    )
  }

  /** The window's end; what time the endpoint was not active is added. */
  #windowEnd(run: DeliveryRun, firstAtMs: number): number {
    const { windowMs } = this.#run.limits
    let endsAtMs = firstAtMs + windowMs
    const overAtMs = this.#finalOf(run)?.atMs ?? Number.POSITIVE_INFINITY
    for (const span of inactiveSpans(this.#endpoints.get(run.delivery.endpointId))) {
      if (span.fromMs >= overAtMs) continue
      if (span.untilMs <= firstAtMs || span.fromMs >= endsAtMs) continue
      endsAtMs += span.untilMs - Math.max(span.fromMs, firstAtMs)
    }
    return endsAtMs
  }

  /** A pause begins and ends at the time that its caller's process took, a little before the commit. */
  #pauseSlackMs(endpointId: string): number {
    const acts = this.#endpoints.get(endpointId)?.acts ?? []
    return acts.reduce((sum, act) => sum + Math.max(0, act.appliedAtMs - act.askedAtMs), 0)
  }

  #keyFault({ endpointId, signedBy, sentAtMs, node }: ReceivedRequest): string | null {
    if (signedBy === null) return 'a signature that no key of the endpoint verifies'
    const { controlMsMax, keyOverlapMs, clockErrorMs, leaseMs } = this.#run.limits
    const acts = this.#endpoints.get(endpointId)?.acts ?? []
    const keys = acts.filter((act) => act.keyName !== null)
    // A caller who was not answered repeats himself, so a key can come back: its last time counts.
    const at = keys.findLastIndex(
      (act) => act.keyName === signedBy[0] && act.appliedAtMs <= sentAtMs,
    )
    const key = keys[at]
    if (key === undefined) return 'signed with a key of the future'
    const next = keys[at + 1]
    const isLate = this.#isSick(node, (next?.askedAtMs ?? 0) - leaseMs, sentAtMs)
    if (isKnown(next, sentAtMs, controlMsMax) && !isLate) return 'signed with an old key alone'
    const previous = keys[at - 1]
    const overlapEndsAtMs = key.appliedAtMs + keyOverlapMs
    if (signedBy.length > 1) {
      if (signedBy[1] !== previous?.keyName) return 'signed with a key that is not the previous one'
      if (sentAtMs > overlapEndsAtMs + clockErrorMs) return 'the old key signs for too long'
    } else if (previous && sentAtMs < key.askedAtMs + keyOverlapMs - clockErrorMs) {
      return 'the old key does not sign beside the new one'
    }
    return null
  }

  /** True when a fault met the process (null: any) in that span. */
  #isSick(node: string | null, fromMs: number, untilMs: number, anyKind = false): boolean {
    return this.#run.faults.some(
      (fault) =>
        (anyKind || SICK.includes(fault.kind)) &&
        (node === null || fault.node === null || fault.node === node) &&
        fault.fromMs <= untilMs &&
        fault.untilMs >= fromMs,
    )
  }

  #wasTouched(endpointId: string, fromMs: number, untilMs: number): boolean {
    const acts = this.#endpoints.get(endpointId)?.acts ?? []
    const isSwitch = (act: EndpointAct) => act.kind !== 'rotate' && act.kind !== 'register'
    const spans = inactiveSpans(this.#endpoints.get(endpointId))
    return (
      spans.some((span) => span.fromMs <= untilMs && span.untilMs >= fromMs) ||
      acts.some((act) => isSwitch(act) && act.askedAtMs <= untilMs && act.appliedAtMs >= fromMs)
    )
  }

  /** A newer update of its payment exists: the two take turns. */
  #isOvertaken({ endpointId, paymentId, sequence }: StoredDelivery): boolean {
    return this.#run.deliveries.some(
      (other) =>
        other.endpointId === endpointId &&
        other.paymentId === paymentId &&
        other.sequence > sequence,
    )
  }

  /** A newer update of its payment was attempted: it waits for that one, and is not sent. */
  #wasPassed({ delivery, requests }: DeliveryRun, beforeMs: number): boolean {
    const isReplay = requests.some((request) => request.isReplay)
    return this.#run.requests.some(
      (request) =>
        request.endpointId === delivery.endpointId &&
        request.paymentId === delivery.paymentId &&
        request.sequence > delivery.sequence &&
        request.sentAtMs <= beforeMs &&
        !request.isReplay &&
        !isReplay,
    )
  }

  #endOf(request: ReceivedRequest): number {
    const deadlineMs = request.sentAtMs + this.#run.limits.attemptMsMax
    return Math.min(request.answeredAtMs ?? deadlineMs, deadlineMs)
  }

  #requestsOf({ eventId, endpointId }: StoredDelivery): readonly ReceivedRequest[] {
    return this.#requests.get(`${eventId}/${endpointId}`) ?? []
  }

  #deliveryOf({ webhookId, endpointId }: ReceivedRequest): StoredDelivery | undefined {
    return this.#byEvent.get(`${webhookId}/${endpointId}`)
  }

  #rowOf(request: ReceivedRequest): StoredAttempt | undefined {
    const delivery = this.#deliveryOf(request)
    if (delivery === undefined) return undefined
    // A process that has just started may have read the database's clock through a slow connection.
    const errorMs = 3 * this.#run.limits.clockErrorMs
    const awayMs = (row: StoredAttempt) => Math.abs(row.atMs - request.sentAtMs)
    return (this.#attempts.get(delivery.id) ?? [])
      .filter((row) => row.attempt === request.attempt && awayMs(row) <= errorMs)
      .toSorted((one, other) => awayMs(one) - awayMs(other))[0]
  }

  #of(
    invariant: string,
    detail: string,
    delivery: StoredDelivery,
    request?: ReceivedRequest,
  ): Violation {
    const text = `update ${delivery.sequence} (${delivery.state}): ${detail}`
    const { endpointId, paymentId } = delivery
    return violation(invariant, text, endpointId, paymentId, request?.startedAtMs ?? null)
  }
}

/** What the receiver did, and whether that was heard, is what the row says. */
function isRowOf(row: StoredAttempt, request: ReceivedRequest): boolean {
  return request.wasAnswerHeard ? row.status === request.status : row.outcome !== 'answered'
}

/** Owners are named by node and incarnation. */
function nodeOf(owner: string): string {
  return owner.split('#')[0] as string
}

function isOwed(
  endpoint: EndpointHistory,
  event: { accountId: string; createdAtMs: number },
): boolean {
  if (endpoint.accountId !== null && endpoint.accountId !== event.accountId) return false
  const registered = endpoint.acts.find((act) => act.kind === 'register')
  const deleted = endpoint.acts.find((act) => act.kind === 'delete')
  if (registered === undefined || registered.appliedAtMs > event.createdAtMs) return false
  return deleted === undefined || deleted.appliedAtMs > event.createdAtMs + 10_000
}

function inactiveSpans(
  endpoint: EndpointHistory | undefined,
): { fromMs: number; untilMs: number }[] {
  const spans: { fromMs: number; untilMs: number }[] = []
  let fromMs: number | null = null
  for (const act of endpoint?.acts ?? []) {
    if (act.kind === 'pause' || act.kind === 'disable' || act.kind === 'delete') {
      fromMs ??= act.appliedAtMs
    } else if (act.kind === 'resume' && fromMs !== null) {
      spans.push({ fromMs, untilMs: act.appliedAtMs })
      fromMs = null
    }
  }
  if (fromMs !== null) spans.push({ fromMs, untilMs: Number.POSITIVE_INFINITY })
  return spans
}

function isKnown(act: EndpointAct | undefined, atMs: number, graceMs: number): boolean {
  if (act === undefined || act.acknowledgedAtMs === null) return false
  return act.acknowledgedAtMs + graceMs < atMs
}

function name(request: ReceivedRequest): string {
  return `update ${request.sequence}, attempt ${request.attempt}`
}

function ofRequest(invariant: string, detail: string, request: ReceivedRequest): Violation {
  const { endpointId, paymentId, startedAtMs } = request
  const text = `${name(request)}: ${detail}`
  return violation(invariant, text, endpointId, paymentId, startedAtMs)
}

function violation(
  invariant: string,
  detail: string,
  endpointId: string | null = null,
  paymentId: string | null = null,
  atMs: number | null = null,
): Violation {
  return { invariant, detail, endpointId, paymentId, atMs }
}
