// The row per attempt of those peers that keep their jobs in PostgreSQL: singly, as a task would write
// it, or gathered ("flush when the previous flush returns"), as a tuned service would.

import pg from 'pg'

export interface AttemptRow {
  paymentId: string
  eventId: string
  status: number
}

const INSERT = `insert into bench_attempts (payment_id, event_id, status, at)
  select *, now() from unnest($1::uuid[], $2::uuid[], $3::int[])`

export class AttemptRows {
  readonly pool: pg.Pool
  readonly #isGathering: boolean
  #waiting: { row: AttemptRow; resolve(): void; reject(error: unknown): void }[] = []
  #isFlushing = false

  constructor(databaseUrl: string, options: { isGathering: boolean; connections: number }) {
    this.pool = new pg.Pool({ connectionString: databaseUrl, max: options.connections })
    this.pool.on('error', () => {})
    this.#isGathering = options.isGathering
  }

  async prepare(): Promise<void> {
    await this.pool.query(`create table bench_attempts (payment_id uuid not null,
      event_id uuid not null, status int not null, at timestamptz not null,
      primary key (event_id, at))`)
  }

  write(row: AttemptRow): Promise<void> {
    if (!this.#isGathering) return this.writeMany([row])
    return new Promise((resolve, reject) => {
      this.#waiting.push({ row, resolve, reject })
      queueMicrotask(() => void this.#flush())
    })
  }

  async writeMany(rows: readonly AttemptRow[]): Promise<void> {
    await this.pool.query({
      name: 'insert-attempts',
      text: INSERT,
      values: [
        rows.map((row) => row.paymentId),
        rows.map((row) => row.eventId),
        rows.map((row) => row.status),
      ],
    })
  }

  async close(): Promise<void> {
    await this.pool.end()
  }

  async #flush(): Promise<void> {
    if (this.#isFlushing || this.#waiting.length === 0) return
    this.#isFlushing = true
    const batch = this.#waiting
    this.#waiting = []
    try {
      await this.writeMany(batch.map(({ row }) => row))
      for (const { resolve } of batch) resolve()
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
    this.#isFlushing = false
    void this.#flush()
  }
}
