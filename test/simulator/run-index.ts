// The records of one run, indexed for the checks. Each check takes it and returns what is wrong; none looks
// at how the service works.

import type { DeliverMode } from '../../server/core/delivery/endpoint-settings.ts'
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

/** A run of a delivery: 7 days of its own, begun by the fan-out or by a replay. */
export interface DeliveryRun {
  delivery: StoredDelivery
  fromMs: number
  untilMs: number
  requests: ReceivedRequest[]
  attempts: StoredAttempt[]
}

export const SICK: readonly FaultAct['kind'][] = [
  ...(['crash', 'stall', 'partition', 'starve', 'store', 'sleep', 'pause', 'cut'] as const),
]

export class RunIndex {
  readonly run: RunRecord
  readonly endpoints: Map<string, EndpointHistory>
  readonly deliveries: Map<string, StoredDelivery>
  readonly byEvent: Map<string, StoredDelivery>
  readonly requests: Map<string, ReceivedRequest[]>
  readonly attempts: Map<string, StoredAttempt[]>
  readonly finals: Map<string, { state: string; atMs: number }[]>
  readonly runs: DeliveryRun[]

  constructor(run: RunRecord) {
    this.run = run
    this.endpoints = new Map(run.endpoints.map((endpoint) => [endpoint.id, endpoint]))
    this.deliveries = new Map(run.deliveries.map((delivery) => [delivery.id, delivery]))
    this.byEvent = new Map(
      run.deliveries.map((delivery) => [`${delivery.eventId}/${delivery.endpointId}`, delivery]),
    )
    this.requests = Map.groupBy(
      run.requests.toSorted((one, other) => one.startedAtMs - other.startedAtMs),
      (request) => `${request.webhookId}/${request.endpointId}`,
    )
    this.attempts = Map.groupBy(run.attempts, (attempt) => attempt.deliveryId)
    this.finals = Map.groupBy(run.finals, (final) => final.deliveryId)
    this.runs = run.deliveries.flatMap((delivery) => this.runsOf(delivery))
  }

  runsOf(delivery: StoredDelivery): DeliveryRun[] {
    const replays = this.run.replays.filter((replay) => replay.deliveryId === delivery.id)
    const begins = [{ atMs: Number.NEGATIVE_INFINITY, attemptsBefore: 0 }, ...replays]
    const rows = (this.attempts.get(delivery.id) ?? []).toSorted(
      (one, other) => one.attempt - other.attempt,
    )
    return begins.map(({ atMs: fromMs, attemptsBefore }, index) => {
      const next = begins[index + 1]
      const untilMs = next?.atMs ?? Number.POSITIVE_INFINITY
      const lastAttempt = next?.attemptsBefore ?? Number.POSITIVE_INFINITY
      const requests = this.requestsOf(delivery).filter(
        ({ sentAtMs }) => sentAtMs >= fromMs && sentAtMs < untilMs,
      )
      const attempts = rows.filter(
        ({ attempt }) => attempt > attemptsBefore && attempt <= lastAttempt,
      )
      return { delivery, fromMs, untilMs, requests, attempts }
    })
  }

  finalOf(run: DeliveryRun): { state: string; atMs: number } | undefined {
    return (this.finals.get(run.delivery.id) ?? []).find(
      (final) => final.atMs >= run.fromMs && final.atMs <= run.untilMs,
    )
  }

  /** True when a fault met the process (null: any) in that span. */
  isSick(node: string | null, fromMs: number, untilMs: number, anyKind = false): boolean {
    return this.run.faults.some(
      (fault) =>
        (anyKind || SICK.includes(fault.kind)) &&
        (node === null || fault.node === null || fault.node === node) &&
        fault.fromMs <= untilMs &&
        fault.untilMs >= fromMs,
    )
  }

  /** True when anything was amiss but the database's clock: that excuses no lateness. */
  isDisturbed(fromMs: number, untilMs: number): boolean {
    return this.run.faults.some(
      (fault) =>
        fault.kind !== 'database-clock' && fault.fromMs <= untilMs && fault.untilMs >= fromMs,
    )
  }

  /** True when its owner changed it, or it was not active, in that span of the true clock. */
  wasTouched(endpointId: string, fromMs: number, untilMs: number): boolean {
    const acts = this.endpoints.get(endpointId)?.acts ?? []
    const isSwitch = (act: EndpointAct) => act.kind !== 'rotate' && act.kind !== 'register'
    const spans = inactiveSpans(this.endpoints.get(endpointId))
    return (
      spans.some((span) => span.fromMs <= untilMs && span.untilMs >= fromMs) ||
      acts.some((act) => isSwitch(act) && act.askedAtMs <= untilMs && act.appliedAtMs >= fromMs)
    )
  }

  /** What the endpoint asked for; null when it has asked for both. */
  deliverOf(endpointId: string): DeliverMode | null {
    const endpoint = this.endpoints.get(endpointId)
    if (endpoint?.acts.some(({ kind }) => kind === 'deliver')) return null
    return endpoint?.deliver ?? 'every'
  }

  requestsOf({ eventId, endpointId }: StoredDelivery): readonly ReceivedRequest[] {
    return this.requests.get(`${eventId}/${endpointId}`) ?? []
  }

  deliveryOf({ webhookId, endpointId }: ReceivedRequest): StoredDelivery | undefined {
    return this.byEvent.get(`${webhookId}/${endpointId}`)
  }

  of(
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

export interface InactiveSpan {
  fromMs: number
  untilMs: number
  /** How long it was by the times on its rows, where they are known: it is what the runs of its deliveries are lengthened by. */
  writtenMs?: number
}

export function inactiveSpans(endpoint: EndpointHistory | undefined): InactiveSpan[] {
  const spans: InactiveSpan[] = []
  let begun: EndpointAct | null = null
  for (const act of endpoint?.acts ?? []) {
    if (act.kind === 'pause' || act.kind === 'disable' || act.kind === 'delete') {
      begun ??= act
    } else if (act.kind === 'resume' && begun !== null) {
      const span: InactiveSpan = { fromMs: begun.appliedAtMs, untilMs: act.appliedAtMs }
      if (begun.writtenMs !== undefined && act.writtenMs !== undefined) {
        span.writtenMs = Math.max(0, act.writtenMs - begun.writtenMs)
      }
      spans.push(span)
      begun = null
    }
  }
  if (begun !== null) {
    spans.push({ fromMs: begun.appliedAtMs, untilMs: Number.POSITIVE_INFINITY })
  }
  return spans
}

export function name(request: ReceivedRequest): string {
  return `update ${request.sequence}, attempt ${request.attempt}`
}

export function ofRequest(invariant: string, detail: string, request: ReceivedRequest): Violation {
  const { endpointId, paymentId, startedAtMs } = request
  const text = `${name(request)}: ${detail}`
  return violation(invariant, text, endpointId, paymentId, startedAtMs)
}

export function violation(
  invariant: string,
  detail: string,
  endpointId: string | null = null,
  paymentId: string | null = null,
  atMs: number | null = null,
): Violation {
  return { invariant, detail, endpointId, paymentId, atMs }
}
