// The floor of the store: the real statements of accepting and recording, without HTTP. Once at fixed
// batch sizes, one after the other; once as the whole SQL life of deliveries, recording one batch
// while the next is accepted.

import { randomBytes, randomUUID } from 'node:crypto'
import type pg from 'pg'
import { retryPolicy } from '../../server/core/delivery/backoff.ts'
import type { HandedOff } from '../../server/core/delivery/queued-delivery.ts'
import { parsePaymentLine } from '../../server/core/payments/payment-fields.ts'
import { parseJson } from '../../server/core/plain/exact-json.ts'
import { UuidMaker } from '../../server/core/plain/uuid.ts'
import { concludeAttempt } from '../../server/delivery/attempts/attempt.ts'
import { recordingOn } from '../../server/operations/accepting/postgres-payment-store.ts'
import {
  type PaymentChange,
  type RecordingDeps,
  recordPayments,
} from '../../server/operations/accepting/record-payments.ts'
import { AccountDirectory } from '../../server/operations/access/account-directory.ts'
import { createPool } from '../../server/store/connection/db.ts'
import { readDue } from '../../server/store/owed/deliveries.ts'
import { freeAllLeases, takeLeases } from '../../server/store/owed/leases.ts'
import { recordOutcomes } from '../../server/store/owed/outcomes.ts'
import { monotonicMs } from '../harness/monotonic.ts'
import { PaymentMaker } from '../harness/payments.ts'

export interface StatementOptions {
  databaseUrl: string
  accountIds: readonly string[]
  seed: string
  seconds: number
}

export interface BatchFigures {
  size: number
  acceptRowsPerSecond: number
  recordRowsPerSecond: number
  acceptWalBytesEach: number
  recordWalBytesEach: number
}

const RETRY = retryPolicy(1)

class StatementLoop {
  readonly pool: pg.Pool
  readonly #options: StatementOptions
  readonly #maker: PaymentMaker
  readonly #recording: RecordingDeps
  #epochs = new Map<number, number>()
  #number = 0

  constructor(options: StatementOptions) {
    this.#options = options
    this.#maker = new PaymentMaker(options.seed)
    this.pool = createPool({
      url: options.databaseUrl,
      connectionsMax: 8,
      onIdleError: () => {},
      applicationName: 'paybell bench',
    })
    const ids = new UuidMaker(() => Date.now(), randomBytes)
    const clock = { nowMs: () => Date.now(), monotonicMs }
    const accounts = new AccountDirectory(this.pool)
    this.#recording = recordingOn({ pool: this.pool, clock, newId: () => ids.next() }, accounts)
  }

  async hold(): Promise<void> {
    await freeAllLeases(this.pool)
    const held = await takeLeases(this.pool, randomUUID(), 64, 3_600_000, new Map())
    this.#epochs = new Map(held.map(({ shard, epoch }) => [shard, epoch]))
  }

  /** Parsed beforehand: the floor is the store's. */
  changes(count: number): PaymentChange[] {
    return Array.from({ length: count }, () => {
      const number = this.#number++
      const { accountIds } = this.#options
      const line = this.#maker.line(number, accountIds[number % accountIds.length] as string)
      const { value, amountText } = parseJson(Buffer.from(line))
      return parsePaymentLine(value, amountText)
    })
  }

  async accept(changes: readonly PaymentChange[]): Promise<readonly HandedOff[]> {
    const { deliveries } = await recordPayments(this.#recording, changes)
    return deliveries
  }

  async record(deliveries: readonly HandedOff[]): Promise<void> {
    const nowMs = Date.now()
    const records = deliveries.map(
      (delivery) =>
        concludeAttempt(
          {
            prepared: {
              delivery,
              epoch: this.#epochs.get(delivery.shard) ?? 0,
              atMs: nowMs,
              // Nothing is sent here; the request is not read again.
              request: 'payload-missing',
            },
            result: { outcome: { kind: 'answered', status: 200 }, durationMs: 3 },
          },
          RETRY,
          { endedAtMs: nowMs, random: Math.random, elders: 'none' },
        ).record,
    )
    const recorded = await recordOutcomes(this.pool, records, new Date(nowMs))
    if (recorded.ids.size !== deliveries.length) throw new Error('an outcome was not recorded')
  }

  async due(): Promise<void> {
    const cursors = [...this.#epochs.keys()].map((shard) => ({
      shard,
      afterMs: Date.now() - 1_000,
      afterId: randomUUID(),
    }))
    await readDue(this.pool, cursors, Date.now(), 10)
  }

  async walBytes(): Promise<number> {
    const { rows } = await this.pool.query(
      `select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::text as bytes`,
    )
    return Number(rows[0].bytes)
  }
}

/** Accepts, then records, in batches of each size on one connection at a time. */
export async function batchSizes(
  options: StatementOptions,
  sizes: readonly number[],
): Promise<BatchFigures[]> {
  const loop = new StatementLoop(options)
  await loop.hold()
  const figures: BatchFigures[] = []
  for (const size of sizes) {
    const times = { accept: 0, record: 0, acceptWal: 0, recordWal: 0, rows: 0 }
    const until = monotonicMs() + options.seconds * 1_000
    while (monotonicMs() < until) {
      const changes = loop.changes(size)
      const walBefore = await loop.walBytes()
      const from = monotonicMs()
      const deliveries = await loop.accept(changes)
      const accepted = monotonicMs()
      const walBetween = await loop.walBytes()
      const recording = monotonicMs()
      await loop.record(deliveries)
      times.record += monotonicMs() - recording
      times.accept += accepted - from
      times.acceptWal += walBetween - walBefore
      times.recordWal += (await loop.walBytes()) - walBetween
      times.rows += size
    }
    figures.push({
      size,
      acceptRowsPerSecond: times.rows / (times.accept / 1_000),
      recordRowsPerSecond: times.rows / (times.record / 1_000),
      acceptWalBytesEach: times.acceptWal / times.rows,
      recordWalBytesEach: times.recordWal / times.rows,
    })
  }
  await loop.pool.end()
  return figures
}

/** Accepting one batch while the previous one is recorded, and the polls of the engine. */
export async function statementsOnly(
  options: StatementOptions,
): Promise<{ deliveries: number; seconds: number }> {
  const loop = new StatementLoop(options)
  await loop.hold()
  const startedAtMs = monotonicMs()
  const until = startedAtMs + options.seconds * 1_000
  let deliveries = 0
  let polledAtMs = startedAtMs
  let recording: Promise<void> = Promise.resolve()
  while (monotonicMs() < until) {
    const accepted = await loop.accept(loop.changes(500))
    await recording
    recording = loop.record(accepted)
    deliveries += accepted.length
    if (monotonicMs() - polledAtMs > 1_000) {
      polledAtMs = monotonicMs()
      await loop.due()
    }
  }
  await recording
  const seconds = (monotonicMs() - startedAtMs) / 1_000
  await loop.pool.end()
  return { deliveries, seconds }
}
