// One partition per day for everything that grows with traffic, made days ahead, so that no write ever
// waits for one; the audit goes by months. Each is made by itself (migrations/0011): one that cannot be made
// now stops neither the others nor sessions that read or write, and is tried again at the next round. Rows
// outside all days (a clock gone wrong, partitions that came too late) fall into the default partition; they
// are moved out of it as soon as their day is made, and those of past days get theirs for it.

import pg from 'pg'
import { DAY_MS } from '../../core/delivery/backoff.ts'
import { uuidFloor, uuidTimeMs } from '../../core/plain/uuid.ts'
import type { Db } from '../connection/db.ts'
import { isLockTimeout } from '../connection/locks.ts'
import { inspectAuditDefault } from './default-partitions.ts'

const DAYS_AHEAD = 7
const MONTHS_AHEAD = 2
/** Of one table in one round; the next round goes on. */
const PAST_DAYS_AT_ONCE = 10
/** Moves within a statement's 10 seconds, with room to spare. */
const ROWS_MOVED_MAX = 100_000

const PASSING_CODES = new Set([
  '55P03', // lock not available
  '40P01', // deadlock
  '23514', // a row of this day came into the default partition in between
  // Another process made the same partition in this moment; which of the three depends on how far it was.
  '23505',
  '42710',
  '42P07',
])

interface Divided {
  table: string
  /** The column that says which day a row belongs to. */
  key: string
  /** How the start of a day becomes the bound of a partition, and a key an instant. */
  toBound(ms: number): string
  toMs(key: string | Date): number
}

const TABLES: readonly Divided[] = [
  { table: 'events', key: 'id', toBound: uuidFloor, toMs: (id) => uuidTimeMs(String(id)) },
  { table: 'final_deliveries', key: 'finished_at', toBound: toInstant, toMs: Number },
  { table: 'earlier_attempts', key: 'at', toBound: toInstant, toMs: Number },
]

export interface LeftPartition {
  partition: string
  reason: string
  /** Another session was in the way for the moment: the same may succeed a second later. */
  isPassing: boolean
}

export interface PartitionsMade {
  made: readonly string[]
  /** Rows that lay in a default partition. There should be none: a clock is wrong, or upkeep came late. */
  moved: readonly { partition: string; rows: number }[]
  /** To be tried again. */
  left: readonly LeftPartition[]
  /** Those of `left` that are needed now: what is written goes into the default partition. */
  missingToday: readonly LeftPartition[]
}

export interface PartitionOptions {
  /** Null moves any number, and takes as long as that takes. */
  rowsMovedMax?: number | null
}

/**
 * Safe when several processes do it at once. One of 0.1.0 that makes the same partition in the same moment may
 * get the error that it exists already: its round ends there, and the next one finds everything in place.
 */
export async function ensurePartitions(
  db: Db,
  now: Date,
  options: PartitionOptions = {},
): Promise<PartitionsMade> {
  const round = new Round(db, await readPartitionNames(db), options)
  const today = Math.floor(now.getTime() / DAY_MS) * DAY_MS
  // Today first, of every table: that is what a start depends on.
  for (let day = 0; day <= DAYS_AHEAD; day++) {
    for (const divided of TABLES) await round.ensureDay(divided, today + day * DAY_MS)
    if (day === 0) await round.ensureMonth(now)
    if (day === 0) round.noteMissing()
  }
  for (let month = 1; month <= MONTHS_AHEAD; month++) {
    await round.ensureMonth(new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + month, 1)))
  }
  for (const divided of TABLES) {
    await round.lookBack(divided.table, () => round.ensurePastDays(divided, today))
  }
  await round.lookBack('audit', () => round.ensurePastMonths(now))
  return round.report
}

class Round {
  readonly #db: Db
  readonly #existing: Set<string>
  readonly #rowsMovedMax: number | null
  /** Tables whose lock another session has: asking for each of its days would only disturb more. */
  readonly #busy = new Set<string>()
  readonly #made: string[] = []
  readonly #moved: { partition: string; rows: number }[] = []
  readonly #left: LeftPartition[] = []
  #missingToday: readonly LeftPartition[] = []

  constructor(db: Db, existing: Set<string>, options: PartitionOptions) {
    this.#db = db
    this.#existing = existing
    this.#rowsMovedMax = options.rowsMovedMax === undefined ? ROWS_MOVED_MAX : options.rowsMovedMax
  }

  get report(): PartitionsMade {
    return {
      made: this.#made,
      moved: this.#moved,
      left: this.#left,
      missingToday: this.#missingToday,
    }
  }

  /** All that is left so far is needed now. */
  noteMissing(): void {
    this.#missingToday = [...this.#left]
  }

  ensureDay({ table, toBound }: Divided, startMs: number): Promise<boolean> {
    const partition = `${table}_${suffixOf(startMs)}`
    return this.#ensure(table, partition, {
      text: 'select ensure_partition($1, $2, $3, $4, $5) as moved',
      values: [table, partition, toBound(startMs), toBound(startMs + DAY_MS), this.#rowsMovedMax],
    })
  }

  ensureMonth(of: Date): Promise<boolean> {
    const startMs = Date.UTC(of.getUTCFullYear(), of.getUTCMonth(), 1)
    return this.#ensure('audit', `audit_${suffixOf(startMs)}`, {
      // The guard of a partition is a trigger, which Citus has to be asked for; elsewhere this means nothing.
      text: `select set_config('citus.enable_unsafe_triggers', 'on', true),
               ensure_audit_partition($1, $2) as moved`,
      values: [new Date(startMs), this.#rowsMovedMax],
    })
  }

  /** A default partition that cannot be looked into now is looked into at the next round. */
  async lookBack(table: string, look: () => Promise<void>): Promise<void> {
    await look().catch((error) => this.#leave(table, `${table}_default`, error))
  }

  /** Days over which rows of them lie in the default partition, where retention does not find them. */
  async ensurePastDays(divided: Divided, todayMs: number): Promise<void> {
    const { table, key, toMs } = divided
    for (let day = 0; day < PAST_DAYS_AT_ONCE; day++) {
      const { rows } = await this.#db.query<{ oldest: string | Date }>(
        `select ${key} as oldest from ${table}_default order by ${key} limit 1`,
      )
      const oldestMs = rows[0] === undefined ? todayMs : toMs(rows[0].oldest)
      if (!(oldestMs < todayMs)) return
      const isMade = await this.ensureDay(divided, Math.floor(oldestMs / DAY_MS) * DAY_MS)
      if (!isMade) return
    }
  }

  async ensurePastMonths(now: Date): Promise<void> {
    for (let month = 0; month < PAST_DAYS_AT_ONCE; month++) {
      const { oldest } = await inspectAuditDefault(this.#db)
      if (oldest === null) return
      const of = new Date(uuidTimeMs(oldest))
      if (!(of.getTime() < now.getTime()) || !(await this.ensureMonth(of))) return
    }
  }

  /** True when it was made by this call. */
  async #ensure(
    table: string,
    partition: string,
    statement: { text: string; values: unknown[] },
  ): Promise<boolean> {
    if (this.#existing.has(partition)) return false
    if (this.#busy.has(table)) {
      this.#left.push({ partition, reason: `${table} is in use`, isPassing: true })
      return false
    }
    try {
      const { rows } = await this.#db.query<{ moved: number | null }>(statement)
      this.#existing.add(partition)
      const moved = rows[0]?.moved ?? null
      if (moved === null) return false
      this.#made.push(partition)
      if (moved > 0) this.#moved.push({ partition, rows: moved })
      return true
    } catch (error) {
      this.#leave(table, partition, error)
      return false
    }
  }

  #leave(table: string, partition: string, error: unknown): void {
    // No answer at all: the others would get none either.
    if (!(error instanceof pg.DatabaseError)) throw error
    if (isLockTimeout(error)) this.#busy.add(table)
    const isPassing = PASSING_CODES.has(error.code ?? '')
    this.#left.push({ partition, reason: error.message, isPassing })
  }
}

async function readPartitionNames(db: Db): Promise<Set<string>> {
  const { rows } = await db.query<{ name: string }>(
    `select c.relname as name from pg_inherits i
       join pg_class c on c.oid = i.inhrelid
       join pg_class p on p.oid = i.inhparent
      where p.relname = any($1) and p.relnamespace = current_schema()::regnamespace`,
    [[...TABLES.map(({ table }) => table), 'audit']],
  )
  return new Set(rows.map((row) => row.name))
}

function suffixOf(startMs: number): string {
  return new Date(startMs).toISOString().slice(0, 10).replaceAll('-', '_')
}

function toInstant(ms: number): string {
  return new Date(ms).toISOString()
}
