// What Prometheus reads. Labels take only values from short lists: never an id, never an address.
// Attempts come ten thousand a second: their counters are found once and then only counted up.

import { collectDefaultMetrics, Gauge, type Metric, Registry } from '@prometheus-io/client'
import { DELIVERY_STATES, type Outcome, outcomeCode } from '../core/delivery.ts'
import { ENDPOINT_STATUSES } from '../core/endpoint.ts'
import { EVENT_KINDS } from '../core/payment.ts'
import { uuidTimeMs } from '../core/uuid.ts'
import type { AttemptReport } from '../delivery/environment.ts'
import type { DatabaseGauges } from '../store/gauges.ts'
import { Spread, type SpreadChild, Tally, type TallyChild } from './tallies.ts'

export interface EngineGauges {
  readonly inFlight: number
  readonly inMemory: number
  readonly shards: readonly number[]
}

export interface PoolGauges {
  readonly totalCount: number
  readonly idleCount: number
  readonly waitingCount: number
}

/** Where the figures come from that are read when somebody asks. */
export interface MetricSources {
  engine(): EngineGauges
  pool: PoolGauges
  nowMs(): number
  database(): Promise<DatabaseGauges | null>
  isReady(): Promise<boolean>
}

export interface AnsweredRequest {
  method: string
  /** The route's pattern; null when the address led to none. */
  route: string | null
  status: number
  seconds: number
}

// OpenTelemetry's semantic conventions ask for these.
const REQUEST_BOUNDS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]
const ATTEMPT_BOUNDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15]
// From "at once" to the 7 days of a run.
const END_TO_END_BOUNDS = [
  0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3_600, 21_600, 86_400,
  259_200, 604_800,
]
const BATCH_BOUNDS = [1, 2, 5, 10, 25, 50, 100, 250, 500]
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
const TOKEN_RESULTS = ['issued', 'refused', 'limited', 'invalid', 'failed'] as const

export class Metrics {
  readonly #registry = new Registry()
  readonly #attempts: Tally
  /** One for each status, so that an attempt is counted without making a label. */
  readonly #answered: TallyChild[] = []
  readonly #unanswered = new Map<string, TallyChild>()
  readonly #durations: SpreadChild
  readonly #endToEnd: SpreadChild
  readonly #ended: ReadonlyMap<string, TallyChild>
  readonly #exhausted: TallyChild
  readonly #disabled: TallyChild
  readonly #notAttempted: TallyChild
  readonly #batches: SpreadChild
  readonly #events: ReadonlyMap<string, TallyChild>
  readonly #created: TallyChild
  readonly #notices: TallyChild
  readonly #tokens: ReadonlyMap<string, TallyChild>
  readonly #requests: Spread
  readonly #requestChildren = new Map<string, SpreadChild>()
  #heartbeatAtMs = 0
  #utilization = performance.eventLoopUtilization()

  constructor(version: string, sources: MetricSources) {
    collectDefaultMetrics({ register: this.#registry })
    this.#attempts = this.#tally(
      'paybell_delivery_attempts_total',
      'Attempts made, by what came of them.',
    )
    this.#durations = this.#spread(
      'paybell_delivery_attempt_duration_seconds',
      'How long attempts took, until the answer was known.',
      ATTEMPT_BOUNDS,
    ).child()
    this.#endToEnd = this.#spread(
      'paybell_delivery_end_to_end_seconds',
      'From the acceptance of a change until an endpoint has acknowledged it; replays left out.',
      END_TO_END_BOUNDS,
    ).child()
    const ended = this.#tally(
      'paybell_deliveries_ended_total',
      'Deliveries that an attempt has ended.',
    )
    this.#ended = childrenOf(ended, 'state', ['DELIVERED', 'EXHAUSTED'])
    this.#exhausted = this.#tally(
      'paybell_deliveries_exhausted_total',
      'Deliveries that were given up at the end of their 7 days.',
    ).child()
    this.#disabled = this.#tally(
      'paybell_endpoints_disabled_total',
      'Endpoints that were disabled after 7 days of nothing but failures.',
    ).child()
    this.#notAttempted = this.#tally(
      'paybell_delivery_not_attempted_total',
      'Attempts that were called off before a byte was sent, for want of the database or of a socket.',
    ).child()
    this.#batches = this.#spread(
      'paybell_accept_batch_size',
      'Payment changes that were written in one transaction.',
      BATCH_BOUNDS,
    ).child()
    const events = this.#tally('paybell_events_accepted_total', 'Accepted changes of payments.')
    this.#events = childrenOf(events, 'event', EVENT_KINDS)
    this.#created = this.#tally(
      'paybell_deliveries_created_total',
      'Deliveries that accepted changes have made.',
    ).child()
    this.#notices = this.#tally(
      'paybell_notices_made_total',
      'Notices to the operator that were put on their way.',
    ).child()
    const tokens = this.#tally(
      'paybell_tokens_issued_total',
      'Answers to requests for a token, by their result.',
    )
    this.#tokens = childrenOf(tokens, 'result', TOKEN_RESULTS)
    this.#requests = this.#spread(
      'http_server_request_duration_seconds',
      'How long requests took to be answered.',
      REQUEST_BOUNDS,
    )
    this.#addGauges(version, sources)
  }

  /** Told of each attempt. */
  countAttempt(report: AttemptReport): void {
    const { outcome } = report
    const child = outcome.kind === 'answered' ? this.#answered[outcome.status] : undefined
    if (child === undefined) this.#attemptChild(outcome).count++
    else child.count++
    this.#durations.observe(report.durationMs / 1_000)
    if (report.state === 'PENDING') return
    const ended = this.#ended.get(report.state)
    if (ended !== undefined) ended.count++
    if (report.state === 'EXHAUSTED') this.#exhausted.count++
    else if (!report.isReplay) {
      // An event's id is its time. Two processes' clocks may differ by a little.
      const endedAtMs = report.atMs + report.durationMs
      this.#endToEnd.observe(Math.max(0, endedAtMs - uuidTimeMs(report.eventId)) / 1_000)
    }
  }

  countDisabled(): void {
    this.#disabled.count++
  }

  countNotAttempted(): void {
    this.#notAttempted.count++
  }

  /** Deliveries whose time was over before another attempt could be made. */
  countExhausted(count: number): void {
    this.#exhausted.count += count
  }

  /** A transaction has been tried with so many changes in it. */
  countBatch(changes: number): void {
    this.#batches.observe(changes)
  }

  countEvent(kind: string): void {
    const child = this.#events.get(kind)
    if (child !== undefined) child.count++
  }

  countCreated(deliveries: number): void {
    this.#created.count += deliveries
  }

  countNotices(count: number): void {
    this.#notices.count += count
  }

  /** The process has renewed its leases: it lives, and so does its way to the database. */
  heartbeat(atMs: number): void {
    this.#heartbeatAtMs = atMs
  }

  countRequest({ method, route, status, seconds }: AnsweredRequest): void {
    const key = `${method} ${status} ${route ?? ''}`
    let child = this.#requestChildren.get(key)
    if (child === undefined) {
      const known = METHODS.has(method) ? method : '_OTHER'
      child = this.#requests.child({
        http_request_method: known,
        http_route: route ?? '',
        http_response_status_code: String(status),
      })
      // Methods are the one part that a caller makes up.
      if (known !== '_OTHER') this.#requestChildren.set(key, child)
    }
    child.observe(seconds)
    if (route === '/auth/token') this.#countToken(status)
  }

  async text(): Promise<string> {
    return this.#registry.metrics()
  }

  #attemptChild(outcome: Outcome): TallyChild {
    if (outcome.kind === 'answered') {
      const child = this.#attempts.child({
        outcome: outcome.status === 200 ? 'success' : 'http_error',
        status_class: `${Math.floor(outcome.status / 100)}xx`,
      })
      this.#answered[outcome.status] = child
      return child
    }
    const code = outcomeCode(outcome).replaceAll('-', '_')
    let child = this.#unanswered.get(code)
    if (child === undefined) {
      child = this.#attempts.child({ outcome: code, status_class: 'none' })
      this.#unanswered.set(code, child)
    }
    return child
  }

  #countToken(status: number): void {
    const child = this.#tokens.get(tokenResult(status))
    if (child !== undefined) child.count++
  }

  #tally(name: string, help: string): Tally {
    return this.#register(new Tally(name, help))
  }

  #spread(name: string, help: string, bounds: readonly number[]): Spread {
    return this.#register(new Spread(name, help, bounds))
  }

  /** The registry only ever asks a metric for its name and its samples. */
  #register<M extends Tally | Spread>(metric: M): M {
    this.#registry.registerMetric(metric as unknown as Metric<string>)
    return metric
  }

  #addGauges(version: string, sources: MetricSources): void {
    const gauge = (
      name: string,
      help: string,
      labelNames: readonly string[],
      collect: (gauge: Gauge<string>) => void | Promise<void>,
    ) =>
      new Gauge({
        name,
        help,
        labelNames: [...labelNames],
        registers: [this.#registry],
        collect() {
          return collect(this as unknown as Gauge<string>)
        },
      })
    gauge('paybell_build_info', 'Always 1; says what is running.', ['version', 'node'], (one) =>
      one.set({ version, node: process.version }, 1),
    )
    this.#addProcessGauges(sources, gauge)
    this.#addDatabaseGauges(sources, gauge)
  }

  #addProcessGauges({ engine, pool, isReady }: MetricSources, gauge: AddGauge): void {
    gauge('paybell_deliveries_in_flight', 'Attempts under way.', [], (one) =>
      one.set(engine().inFlight),
    )
    gauge('paybell_deliveries_in_memory', 'Deliveries held in memory.', [], (one) =>
      one.set(engine().inMemory),
    )
    gauge('paybell_shards_held', 'Shards that this process sends for.', [], (one) =>
      one.set(engine().shards.length),
    )
    gauge(
      'paybell_worker_last_heartbeat_timestamp_seconds',
      'When this process last renewed its leases, by the clock of the database.',
      [],
      (one) => one.set(this.#heartbeatAtMs / 1_000),
    )
    gauge('paybell_db_pool_connections', 'Connections to the database.', ['state'], (one) => {
      one.set({ state: 'active' }, pool.totalCount - pool.idleCount)
      one.set({ state: 'idle' }, pool.idleCount)
      one.set({ state: 'waiting' }, pool.waitingCount)
    })
    gauge(
      'paybell_event_loop_utilization_ratio',
      'The share of time since the last look in which the event loop was busy.',
      [],
      (one) => {
        const now = performance.eventLoopUtilization()
        one.set(performance.eventLoopUtilization(now, this.#utilization).utilization)
        this.#utilization = now
      },
    )
    gauge('paybell_ready', 'Whether /readyz would say yes: 1 or 0.', [], async (one) =>
      one.set((await isReady()) ? 1 : 0),
    )
  }

  // The same from every process, since it is the database that tells: to be read with max(), not sum().
  #addDatabaseGauges({ database, nowMs }: MetricSources, gauge: AddGauge): void {
    /** Sets nothing while the database is away: an old figure would look like a true one. */
    const fromDatabase = (
      name: string,
      help: string,
      labelNames: readonly string[],
      set: (one: Gauge<string>, gauges: DatabaseGauges) => void,
    ) =>
      gauge(name, help, labelNames, async (one) => {
        const gauges = await database()
        one.reset()
        if (gauges !== null) set(one, gauges)
        else if (labelNames.length === 0) one.remove()
      })
    gauge(
      'paybell_database_up',
      'Whether the database answered in time: 1 or 0.',
      [],
      async (one) => one.set((await database()) === null ? 0 : 1),
    )
    fromDatabase(
      'paybell_deliveries',
      'Deliveries by state. PENDING is counted, up to about a million each of due, scheduled and paused; final ones are estimated by the planner.',
      ['state'],
      (one, { due, scheduled, paused, ended }) => {
        for (const state of DELIVERY_STATES) {
          one.set({ state }, state === 'PENDING' ? due + scheduled + paused : (ended[state] ?? 0))
        }
      },
    )
    fromDatabase(
      'paybell_deliveries_pending',
      'Deliveries that are owed: due now, scheduled for later, or waiting for their endpoint.',
      ['state'],
      (one, { due, scheduled, paused }) => {
        one.set({ state: 'due' }, due)
        one.set({ state: 'scheduled' }, scheduled)
        one.set({ state: 'paused' }, paused)
      },
    )
    fromDatabase(
      'paybell_delivery_oldest_due_age_seconds',
      'For how long the oldest due delivery has been due; 0 when none is.',
      [],
      (one, { oldestDueAtMs }) =>
        one.set(oldestDueAtMs === null ? 0 : Math.max(0, nowMs() - oldestDueAtMs) / 1_000),
    )
    for (const [name, kind] of [
      ['paybell_webhooks', 'webhook'],
      ['paybell_subscriptions', 'subscription'],
      ['paybell_listeners', 'listener'],
    ] as const) {
      fromDatabase(name, `Endpoints made as a ${kind}.`, ['status'], (one, { endpoints }) => {
        for (const status of ENDPOINT_STATUSES) {
          const found = endpoints.find((of) => of.kind === kind && of.status === status)
          one.set({ status }, found?.count ?? 0)
        }
      })
    }
    fromDatabase(
      'paybell_partitions_ahead_days',
      'Days after today whose partitions have been made already.',
      [],
      (one, { partitionDaysAhead }) => one.set(partitionDaysAhead),
    )
    fromDatabase(
      'paybell_default_partition_rows',
      'Rows that no partition was there for, by table, counted up to 100,000; upkeep moves them out.',
      ['table'],
      (one, { defaultRows }) => {
        for (const [table, rows] of Object.entries(defaultRows)) one.set({ table }, rows)
      },
    )
  }
}

type AddGauge = (
  name: string,
  help: string,
  labelNames: readonly string[],
  collect: (gauge: Gauge<string>) => void | Promise<void>,
) => void

function childrenOf(
  tally: Tally,
  label: string,
  values: readonly string[],
): ReadonlyMap<string, TallyChild> {
  return new Map(values.map((value) => [value, tally.child({ [label]: value })]))
}

function tokenResult(status: number): (typeof TOKEN_RESULTS)[number] {
  if (status === 200) return 'issued'
  if (status === 401) return 'refused'
  if (status === 429) return 'limited'
  return status < 500 ? 'invalid' : 'failed'
}
