// Prometheus metrics: counters and histograms, kept here, and the gauges (gauges.ts), which are read when it
// asks. Labels take only values from short lists: never an id, never an address.

import { Counter, collectDefaultMetrics, Histogram, Registry } from '@prometheus-io/client'
import { type Outcome, outcomeCode } from '../core/delivery/delivery.ts'
import { EVENT_KINDS, type EventKind } from '../core/payments/payment.ts'
import { uuidTimeMs } from '../core/plain/uuid.ts'
import type { AttemptReport } from '../delivery/seams/environment.ts'
import { addGauges, type BrokerName, type GaugeSources } from './gauges.ts'
import type { Figures } from './joined-figures.ts'

export interface AnsweredRequest {
  method: string
  /** The route's pattern; null when the address led to none. */
  route: string | null
  status: number
  seconds: number
}

// The buckets that OpenTelemetry's semantic conventions advise.
const REQUEST_BOUNDS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]
const ATTEMPT_BOUNDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15]
// From "at once" to the 7 days of a run.
const END_TO_END_BOUNDS = [
  0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3_600, 21_600, 86_400,
  259_200, 604_800,
]
const BATCH_BOUNDS = [1, 2, 5, 10, 25, 50, 100, 250, 500]
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
const RECORD_OUTCOMES = { recorded: 'recorded', 'dead-lettered': 'dead_lettered' } as const
const TOKEN_RESULTS = ['issued', 'refused', 'limited', 'invalid', 'failed'] as const

export class Metrics {
  readonly #registry = new Registry()
  readonly #version: string
  readonly #attempts: Counter<'outcome' | 'status_class'>
  readonly #durations: Histogram<never>
  readonly #endToEnd: Histogram<never>
  readonly #ended: Counter<'state'>
  readonly #exhausted: Counter<never>
  readonly #disabled: Counter<never>
  readonly #notAttempted: Counter<never>
  readonly #signatures: Counter<never>
  readonly #forgedHours: Counter<never>
  readonly #unopened: Counter<never>
  readonly #batches: Histogram<never>
  readonly #events: Counter<'event'>
  readonly #created: Counter<never>
  readonly #notices: Counter<never>
  readonly #records: Readonly<Record<BrokerName, Counter<'outcome'>>>
  readonly #brokerFailures: Counter<'broker'>
  readonly #tokens: Counter<'result'>
  readonly #requests: Histogram<'http_request_method' | 'http_route' | 'http_response_status_code'>
  #heartbeatAtMs = 0

  constructor(version: string, cell: number | null = null) {
    this.#version = version
    // On every figure, so that those of several cells can be told apart in one Prometheus.
    if (cell !== null) this.#registry.setDefaultLabels({ cell: String(cell) })
    collectDefaultMetrics({ register: this.#registry })
    this.#attempts = this.#counter(
      'paybell_delivery_attempts_total',
      'Attempts made, by what came of them.',
      ['outcome', 'status_class'],
    )
    this.#durations = this.#histogram(
      'paybell_delivery_attempt_duration_seconds',
      'How long attempts took, until the answer was known.',
      ATTEMPT_BOUNDS,
    )
    this.#endToEnd = this.#histogram(
      'paybell_delivery_end_to_end_seconds',
      'From the acceptance of a change until an endpoint has acknowledged it; replays left out.',
      END_TO_END_BOUNDS,
    )
    this.#ended = this.#counter(
      'paybell_deliveries_ended_total',
      'Deliveries that an attempt has ended.',
      ['state'],
    )
    for (const state of ['DELIVERED', 'EXHAUSTED']) this.#ended.inc({ state }, 0)
    this.#exhausted = this.#counter(
      'paybell_deliveries_exhausted_total',
      'Deliveries that were given up at the end of their 7 days.',
    )
    this.#disabled = this.#counter(
      'paybell_endpoints_disabled_total',
      'Endpoints that were disabled after 7 days of nothing but failures.',
    )
    this.#notAttempted = this.#counter(
      'paybell_delivery_not_attempted_total',
      'Attempts that were called off before a byte was sent, for want of the database, a key or a socket.',
    )
    this.#signatures = this.#counter(
      'paybell_webhook_signatures_total',
      'Events that were signed with the service’s own keys; endpoints share one within a second.',
    )
    this.#forgedHours = this.#counter(
      'paybell_statement_hours_forged_total',
      'Kept hours of statements that were not authenticated with the master key, and so were counted again; should be 0.',
    )
    this.#unopened = this.#counter(
      'paybell_endpoints_not_opened_total',
      'Times that an active endpoint was read whose secrets do not open, or not at its address; should be 0.',
    )
    this.#unopened.inc(0)
    this.#batches = this.#histogram(
      'paybell_accept_batch_size',
      'Payment changes that were written in one transaction.',
      BATCH_BOUNDS,
    )
    this.#events = this.#counter('paybell_events_accepted_total', 'Accepted changes of payments.', [
      'event',
    ])
    for (const event of EVENT_KINDS) this.#events.inc({ event }, 0)
    this.#created = this.#counter(
      'paybell_deliveries_created_total',
      'Deliveries that accepted changes have made.',
    )
    this.#notices = this.#counter(
      'paybell_notices_made_total',
      'Notices to the operator that were queued.',
    )
    this.#records = {
      nats: this.#counter(
        'paybell_nats_messages_total',
        'Messages of NATS that were recorded, or put aside as dead letters.',
        ['outcome'],
      ),
      kafka: this.#counter(
        'paybell_kafka_records_total',
        'Records of Kafka that were recorded, or put aside as dead letters.',
        ['outcome'],
      ),
    }
    for (const counter of Object.values(this.#records)) {
      for (const outcome of Object.values(RECORD_OUTCOMES)) counter.inc({ outcome }, 0)
    }
    this.#brokerFailures = this.#counter(
      'paybell_broker_failures_total',
      'What failed in taking payment changes from a broker, and was tried again.',
      ['broker'],
    )
    for (const broker of Object.keys(this.#records)) this.#brokerFailures.inc({ broker }, 0)
    this.#tokens = this.#counter(
      'paybell_tokens_issued_total',
      'Answers to requests for a token, by their result.',
      ['result'],
    )
    for (const result of TOKEN_RESULTS) this.#tokens.inc({ result }, 0)
    this.#requests = this.#histogram(
      'http_server_request_duration_seconds',
      'How long requests took to be answered.',
      REQUEST_BOUNDS,
      ['http_request_method', 'http_route', 'http_response_status_code'],
    )
  }

  /** Called once the parts exist that the figures come from. */
  addGauges(sources: GaugeSources): void {
    addGauges(this.#registry, this.#version, sources, () => this.#heartbeatAtMs)
  }

  countAttempt(report: AttemptReport): void {
    this.#attempts.inc(attemptLabels(report.outcome))
    this.#durations.observe(report.durationMs / 1_000)
    if (report.state === 'PENDING') return
    this.#ended.inc({ state: report.state })
    if (report.state === 'EXHAUSTED') this.#exhausted.inc()
    else if (!report.isReplay) {
      // An event's id holds its time. Two processes' clocks may differ slightly.
      const endedAtMs = report.atMs + report.durationMs
      this.#endToEnd.observe(Math.max(0, endedAtMs - uuidTimeMs(report.eventId)) / 1_000)
    }
  }

  countDisabled(): void {
    this.#disabled.inc()
  }

  countForgedHours(count: number): void {
    this.#forgedHours.inc(count)
  }

  countUnopened(count: number): void {
    this.#unopened.inc(count)
  }

  countNotAttempted(): void {
    this.#notAttempted.inc()
  }

  countSigned(): void {
    this.#signatures.inc()
  }

  /** Deliveries whose run was over before another attempt could be made. */
  countExhausted(count: number): void {
    this.#exhausted.inc(count)
  }

  /** Counts a transaction that was tried, with the number of its changes. */
  countBatch(changes: number): void {
    this.#batches.observe(changes)
  }

  countEvent(event: EventKind): void {
    this.#events.inc({ event })
  }

  countCreated(deliveries: number): void {
    this.#created.inc(deliveries)
  }

  countNotices(count: number): void {
    this.#notices.inc(count)
  }

  countRecord(broker: BrokerName, outcome: keyof typeof RECORD_OUTCOMES): void {
    this.#records[broker].inc({ outcome: RECORD_OUTCOMES[outcome] })
  }

  countBrokerFailure(broker: BrokerName): void {
    this.#brokerFailures.inc({ broker })
  }

  /** The process has renewed its leases, so it is alive and reaches the database. */
  heartbeat(atMs: number): void {
    this.#heartbeatAtMs = atMs
  }

  countRequest({ method, route, status, seconds }: AnsweredRequest): void {
    const labels = {
      // Callers can invent methods, so unknown ones share a label.
      http_request_method: METHODS.has(method) ? method : '_OTHER',
      http_route: route ?? '',
      http_response_status_code: status,
    }
    this.#requests.observe(labels, seconds)
    if (route === '/auth/token') this.#tokens.inc({ result: tokenResult(status) })
  }

  async text(): Promise<string> {
    return this.#registry.metrics()
  }

  /** To be joined with those of other processes. */
  async figures(): Promise<Figures> {
    return this.#registry.getMetricsAsJSON()
  }

  /** The same without what has to be asked of others, the database above all: for the end of the process. */
  async countedFigures(): Promise<Figures> {
    return this.#registry.getMetricsAsJSON('sum')
  }

  #counter<L extends string = never>(
    name: string,
    help: string,
    labelNames: readonly L[] = [],
  ): Counter<L> {
    return new Counter({ name, help, labelNames, registers: [this.#registry] })
  }

  #histogram<L extends string = never>(
    name: string,
    help: string,
    buckets: readonly number[],
    labelNames: readonly L[] = [],
  ): Histogram<L> {
    return new Histogram({
      name,
      help,
      buckets: [...buckets],
      labelNames,
      registers: [this.#registry],
    })
  }
}

function attemptLabels(outcome: Outcome): { outcome: string; status_class: string } {
  if (outcome.kind === 'answered') {
    return {
      outcome: outcome.status === 200 ? 'success' : 'http_error',
      status_class: `${Math.floor(outcome.status / 100)}xx`,
    }
  }
  return { outcome: outcomeCode(outcome).replaceAll('-', '_'), status_class: 'none' }
}

function tokenResult(status: number): (typeof TOKEN_RESULTS)[number] {
  if (status === 200) return 'issued'
  if (status === 401) return 'refused'
  if (status === 429) return 'limited'
  return status < 500 ? 'invalid' : 'failed'
}
