// What Prometheus reads. Labels take only values from short lists: never an id, never an address.

import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from '@prometheus-io/client'
import { type Outcome, outcomeCode } from './core/delivery.ts'
import type { AttemptReport } from './delivery/environment.ts'

export interface EngineGauges {
  readonly inFlight: number
  readonly inMemory: number
  readonly shards: readonly number[]
}

export class Metrics {
  readonly #registry = new Registry()
  readonly #attempts: Counter<'outcome' | 'status_class'>
  readonly #durations: Histogram
  readonly #ended: Counter<'state'>
  readonly #disabled: Counter

  constructor(version: string, engine: () => EngineGauges) {
    const registers = [this.#registry]
    collectDefaultMetrics({ register: this.#registry })
    const info = new Gauge({
      name: 'paybell_build_info',
      help: 'Always 1; says what is running.',
      labelNames: ['version', 'node'],
      registers,
    })
    info.set({ version, node: process.version }, 1)
    this.#attempts = new Counter({
      name: 'paybell_delivery_attempts_total',
      help: 'Attempts made, by what came of them.',
      labelNames: ['outcome', 'status_class'],
      registers,
    })
    this.#durations = new Histogram({
      name: 'paybell_delivery_attempt_duration_seconds',
      help: 'How long attempts took, until the answer was known.',
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15],
      registers,
    })
    this.#ended = new Counter({
      name: 'paybell_deliveries_ended_total',
      help: 'Deliveries that an attempt has ended.',
      labelNames: ['state'],
      registers,
    })
    this.#disabled = new Counter({
      name: 'paybell_endpoints_disabled_total',
      help: 'Endpoints that were disabled after 7 days of nothing but failures.',
      registers,
    })
    const gauge = (name: string, help: string, read: (engine: EngineGauges) => number) =>
      new Gauge({
        name,
        help,
        registers,
        collect() {
          this.set(read(engine()))
        },
      })
    gauge('paybell_deliveries_in_flight', 'Attempts under way.', (of) => of.inFlight)
    gauge('paybell_deliveries_in_memory', 'Deliveries held in memory.', (of) => of.inMemory)
    gauge('paybell_shards_held', 'Shards that this process sends for.', (of) => of.shards.length)
  }

  countAttempt(report: AttemptReport): void {
    this.#attempts.inc({
      outcome: outcomeCode(report.outcome),
      status_class: statusClass(report.outcome),
    })
    this.#durations.observe(report.durationMs / 1_000)
    if (report.state !== 'PENDING') this.#ended.inc({ state: report.state })
  }

  countDisabled(): void {
    this.#disabled.inc()
  }

  text(): Promise<string> {
    return this.#registry.metrics()
  }
}

function statusClass(outcome: Outcome): string {
  return outcome.kind === 'answered' ? `${Math.floor(outcome.status / 100)}xx` : 'none'
}
