// The right to consume a source, which one process has at a time (decision 0075): an advisory lock of a session that
// shows life by its beat. The server ends a session that it has not heard for a while, and with it the right of a process
// that is frozen, cut off or gone. The holder counts from the moment it sent its last beat, on its own clock, and for a
// shorter time: it has stopped before another begins. What it records names its lease, which another's replaces.

import { randomUUID } from 'node:crypto'
import { createClient, type Db } from './db.ts'
import { LOCKS, type NamedLock, tryLockForSession } from './locks.ts'

export interface ConsumerLease {
  readonly source: string
  readonly id: string
  /** False from the moment on when another process may have the right. */
  isHeld(): boolean
  release(): Promise<void>
}

export interface ConsumerLeaseTiming {
  beatEveryMs: number
  /** How long the holder counts on its right, from the moment it sent a beat. */
  heldMs: number
  /** After how long without a beat the server ends the session; longer, also if the two clocks' speeds differ. */
  silentMs: number
}

export interface ConsumerLeaseOptions {
  url: string
  source: string
  lock: NamedLock
  /** May run ahead, and never behind (delivery/seams/cautious-clock.ts). */
  cautiousMs(): number
  /** Called once, when the right is lost and was not given back. */
  onLost(): void
  timing?: ConsumerLeaseTiming
}

const TIMING: ConsumerLeaseTiming = { beatEveryMs: 3_000, heldMs: 18_000, silentMs: 20_000 }
const ANSWER_MS_MAX = 5_000
/** A session that ends in order gives its right back at once. */
const END_MS_MAX = 1_000

export function takeNatsLease(options: Omit<ConsumerLeaseOptions, 'source' | 'lock'>) {
  return takeConsumerLease({ ...options, source: 'nats', lock: LOCKS.natsConsumer })
}

/** Null when another process has it. */
export async function takeConsumerLease(
  options: ConsumerLeaseOptions,
): Promise<ConsumerLease | null> {
  const lease = new HeldLease(options)
  try {
    if (await lease.take()) return lease
  } catch (error) {
    await lease.release()
    throw error
  }
  await lease.release()
  return null
}

/** Takes the right to these sources from whoever has it, where another way decides who may: a consumer group. */
export async function takeSources(db: Db, sources: readonly string[]): Promise<string> {
  const lease = randomUUID()
  // In one order, so that two processes that take the same do not wait for each other.
  await db.query(
    `insert into consumers (source, lease) select source, $2 from unnest($1::text[]) source order by 1
     on conflict (source) do update set lease = excluded.lease`,
    [sources, lease],
  )
  return lease
}

/** Under which leases these sources are consumed. A transaction that has locked its payments before it reads this records
 *  before any later holder does, or finds that holder's lease. */
export async function readConsumerLeases(
  db: Db,
  sources: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const { rows } = await db.query<{ source: string; lease: string }>({
    name: 'read-consumer-leases',
    text: 'select source, lease from consumers where source = any($1::text[])',
    values: [sources],
  })
  return new Map(rows.map(({ source, lease }) => [source, lease]))
}

class HeldLease implements ConsumerLease {
  readonly id = randomUUID()
  readonly source: string
  readonly #options: ConsumerLeaseOptions
  readonly #timing: ConsumerLeaseTiming
  readonly #client
  #heldUntilMs = Number.NEGATIVE_INFINITY
  #timer: NodeJS.Timeout | undefined
  #isOver = false

  constructor(options: ConsumerLeaseOptions) {
    this.source = options.source
    this.#options = options
    this.#timing = options.timing ?? TIMING
    this.#client = createClient(options.url, 'paybell turn', {
      settings: { idle_session_timeout: this.#timing.silentMs },
      // A standby would give the lock to every process that asks.
      mustTakeWrites: true,
      queryTimeoutMs: ANSWER_MS_MAX,
    })
    this.#client.on('error', () => this.#lose())
    this.#client.on('end', () => this.#lose())
  }

  isHeld(): boolean {
    return !this.#isOver && this.#options.cautiousMs() < this.#heldUntilMs
  }

  async take(): Promise<boolean> {
    await this.#client.connect()
    if (!(await tryLockForSession(this.#client, this.#options.lock))) return false
    const sentAtMs = this.#options.cautiousMs()
    await this.#client.query(
      `insert into consumers (source, lease) values ($1, $2)
       on conflict (source) do update set lease = excluded.lease`,
      [this.#options.source, this.id],
    )
    this.#countFrom(sentAtMs)
    return true
  }

  async release(): Promise<void> {
    this.#isOver = true
    clearTimeout(this.#timer)
    // A server that says nothing would not say goodbye either.
    const cutOff = setTimeout(() => this.#client.connection.stream.destroy(), END_MS_MAX)
    await this.#client.end().catch(() => {})
    clearTimeout(cutOff)
  }

  /** The server cannot have heard it before it was sent. */
  #countFrom(sentAtMs: number): void {
    this.#heldUntilMs = sentAtMs + this.#timing.heldMs
    this.#timer = setTimeout(() => void this.#beat(), this.#timing.beatEveryMs)
  }

  async #beat(): Promise<void> {
    const sentAtMs = this.#options.cautiousMs()
    try {
      await this.#client.query('select 1')
    } catch {
      // Whatever it was: a session that does not answer may be ended already.
      this.#client.connection.stream.destroy()
      this.#lose()
      return
    }
    if (!this.#isOver) this.#countFrom(sentAtMs)
  }

  #lose(): void {
    if (this.#isOver) return
    this.#isOver = true
    clearTimeout(this.#timer)
    this.#options.onLost()
  }
}
