// What the route says about itself. Labels are cells and classes of status, never ids or addresses.

import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from '@prometheus-io/client'
import type { KnownCells } from './known-cells.ts'
import type { WaitingBodies } from './waiting-bodies.ts'

const BOUNDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

export class RouteMetrics {
  readonly #registry = new Registry()
  readonly #requests: Counter<'status_class'>
  readonly #durations: Histogram<never>
  readonly #followed: Counter<never>

  constructor(cells: KnownCells, waiting: WaitingBodies) {
    const registers = [this.#registry]
    collectDefaultMetrics({ register: this.#registry })
    this.#requests = new Counter({
      name: 'paybell_route_requests_total',
      help: 'Requests answered, by the class of the status.',
      labelNames: ['status_class'],
      registers,
    })
    this.#durations = new Histogram({
      name: 'paybell_route_request_duration_seconds',
      help: 'From the arrival of a request until its answer was passed on.',
      buckets: BOUNDS,
      registers,
    })
    this.#followed = new Counter({
      name: 'paybell_route_moves_followed_total',
      help: 'Requests that were sent on to the cell that a client has moved to.',
      registers,
    })
    new Gauge({
      name: 'paybell_route_bodies_waiting',
      help: 'Requests whose bodies have not come yet; they hold no slot of a cell.',
      registers,
      collect() {
        this.set(waiting.count)
      },
    })
    const perCell = (name: string, help: string, figureOf: (cell: number) => number) =>
      new Gauge({
        name,
        help,
        labelNames: ['cell'],
        registers,
        collect() {
          for (const { cell } of cells.all) this.set({ cell: String(cell) }, figureOf(cell))
        },
      })
    perCell(
      'paybell_route_cell_up',
      '1 while the cell gives its entry; 0 while it is away, or its entry is refused.',
      (cell) => (cells.reasonOf(cell) === null ? 1 : 0),
    )
    perCell('paybell_route_requests_under_way', 'Requests that a cell has under way.', (cell) => {
      return cells.find(cell)?.underWay ?? 0
    })
    perCell(
      'paybell_route_entry_age_seconds',
      'Age of the entry of the directory that is used for the cell; -1 without one.',
      (cell) => {
        const entry = cells.entryOf(cell)
        return entry === null ? -1 : (Date.now() - Date.parse(entry.issuedAt)) / 1_000
      },
    )
  }

  countAnswer(status: number, seconds: number): void {
    this.#requests.inc({ status_class: `${Math.floor(status / 100)}xx` })
    this.#durations.observe(seconds)
  }

  countFollowed(): void {
    this.#followed.inc()
  }

  text(): Promise<string> {
    return Promise.resolve(this.#registry.metrics())
  }
}
