// All telemetry of the service: metrics, traces, the live stream, the curves of attempts, and whether writes
// succeed. It is made before the engine, which reports to it, and reads the engine's figures once that exists.

import type { Pool } from 'pg'
import type { Logger } from 'pino'
import type { Clock } from '../core/plain/clock.ts'
import type { DeliveryStore } from '../delivery/seams/delivery-store.ts'
import type { AttemptReport, EngineEnvironment } from '../delivery/seams/environment.ts'
import type { Accept } from '../operations/accepting/create-gatherer.ts'
import type { PaymentGatherer } from '../operations/accepting/payment-gatherer.ts'
import { probeWrite } from '../store/connection/write-refusals.ts'
import { notingRequests, watchingAccepts } from './acceptance.ts'
import { AttemptCounter } from './attempt-counter.ts'
import { attemptedEvent, attemptLine, countingExhausted } from './attempt-reports.ts'
import { DatabaseGaugeReader } from './database-gauges.ts'
import type { GaugeSources } from './gauges.ts'
import { LiveStream } from './live-stream.ts'
import { Metrics } from './metrics.ts'
import type { Readiness } from './readiness.ts'
import { findTracer, Tracing } from './tracing.ts'
import { reportingUnopened } from './unopened-endpoints.ts'
import { countUntrustedKeys, type KeySets } from './untrusted-keys.ts'
import { WriteWatch, watchingRenewals } from './write-watch.ts'

export interface TelemetryParts {
  version: string
  /** Null where the service was not named one of several. */
  cell: number | null
  pool: Pool
  clock: Clock
  processId: string
  logger: Logger
}

/** What the gauges are read from. */
interface ShownParts extends Pick<GaugeSources, 'engine' | 'sources'> {
  readiness: Readiness
  keys: KeySets
  isMarkWrong(): boolean
}

export class Telemetry {
  readonly metrics: Metrics
  readonly stream = new LiveStream()
  /** Null when the process was started without an OpenTelemetry SDK. */
  readonly tracing: Tracing | null
  readonly writes: WriteWatch
  readonly #parts: TelemetryParts
  readonly #curves: AttemptCounter

  constructor(parts: TelemetryParts) {
    const { version, cell, pool, clock, processId, logger } = parts
    this.#parts = parts
    this.metrics = new Metrics(version, cell)
    this.#curves = new AttemptCounter({
      pool,
      clock,
      processId,
      onError: (error) => logger.warn({ error: String(error) }, 'attempt-steps.not-saved'),
    })
    const tracer = findTracer(version)
    const onError = (error: unknown) => logger.warn({ error: String(error) }, 'traces.not-saved')
    this.tracing = tracer && new Tracing(tracer, { pool, clock, onError })
    this.writes = new WriteWatch({
      monotonicMs: () => clock.monotonicMs(),
      probe: () => probeWrite(pool),
    })
  }

  /** Wraps the engine's store, to count what ends without an attempt or does not open, and to watch lease renewals. */
  watch(store: DeliveryStore): DeliveryStore {
    const { metrics, writes } = this
    const count = (endpoints: number) => metrics.countUnopened(endpoints)
    const reporting = reportingUnopened(store, count, this.#parts.logger)
    return watchingRenewals(countingExhausted(reporting, metrics), writes)
  }

  traced(send: EngineEnvironment['send']): EngineEnvironment['send'] {
    const { tracing } = this
    return tracing === null ? send : (request) => tracing.send(request, send)
  }

  /** Wraps each transaction that accepts payment changes. */
  accepting(accept: Accept): Accept {
    const { metrics, stream, tracing, writes } = this
    return watchingAccepts({ ...this.#parts, metrics, stream, tracing, writes }, accept)
  }

  /** Wraps the door of the gatherer. */
  gathering(gatherer: PaymentGatherer): Pick<PaymentGatherer, 'enter' | 'submit'> {
    return this.tracing === null ? gatherer : notingRequests(this.tracing, gatherer)
  }

  attempted(report: AttemptReport): void {
    const { logger } = this.#parts
    this.metrics.countAttempt(report)
    // Ten thousand a second: the line is not built when the level is off.
    if (logger.isLevelEnabled('info')) logger.info(attemptLine(report), 'delivery.attempted')
    const { atMs, durationMs, state } = report
    this.#curves.count(atMs + durationMs, state === 'DELIVERED', durationMs)
    this.stream.attempted(() => attemptedEvent(report))
  }

  /** Someone with write access to the database has put them there, or altered them. */
  readonly onForgedHours = (endpointId: string, count: number): void => {
    this.metrics.countForgedHours(count)
    this.#parts.logger.error({ endpointId, count }, 'statement-hours.forged')
  }

  /** From here on the metrics include them. */
  show({ engine, sources, readiness, keys, isMarkWrong }: ShownParts): void {
    const { pool, clock } = this.#parts
    const gauges = new DatabaseGaugeReader(pool, clock)
    this.metrics.addGauges({
      engine,
      sources,
      pool,
      nowMs: () => clock.nowMs(),
      database: () => gauges.read(),
      isReady: async () => (await readiness.check()).ready,
      untrustedKeys: () => countUntrustedKeys(keys),
      isMarkWrong,
    })
  }

  start(): void {
    this.#curves.start()
  }

  stop(): Promise<void> {
    return this.#curves.stop()
  }
}
