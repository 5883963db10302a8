// Wake-ups between processes: "shard 17 has work", "this endpoint has changed", "leases have moved". A
// connection of its own and at most one NOTIFY in 25 ms, because NOTIFY takes a global lock while it
// commits; never inside a business transaction. A wake-up that is lost costs time only: every process also polls.

import type pg from 'pg'
import { schemaOfCell } from '../../core/network/cell.ts'
import { isUuid } from '../../core/plain/uuid.ts'
import { createClient, isDatabaseAway } from '../connection/db.ts'
import { addressOf } from '../connection/session.ts'
import type { ChangedLane } from './sending-endpoints.ts'

export interface WakeUp {
  shards: readonly number[]
  endpoints: readonly ChangedLane[]
  /** When the work became due, if that was longer ago than a poll: a large transaction commits late. */
  sinceMs?: number
  /** A process has come or gone, or has given shards up: there may be leases to take or to give. */
  leases?: boolean
}

export interface WakeUpOptions {
  url: string
  processId: string
  onError: (error: Error) => void
}

/** Who is woken. */
export interface Sleeper {
  onWakeUp(wakeUp: WakeUp): void
  /** Connected again after a loss of so long: anything may have been missed. */
  onGap(lostForMs: number): void
}

const NOTIFY_EVERY_MS = 25
const RECONNECT_MS_MAX = 10_000
/** A connection that does not answer by then is dead, and another one is made. */
const ANSWER_MS_MAX = 5_000
/** A payload must stay below 8,000 bytes. */
const ENDPOINTS_PER_MESSAGE = 50

interface Message extends WakeUp {
  from: string
}

export class WakeUps {
  readonly #options: WakeUpOptions
  /** Of the cell: record_payment notifies the same. */
  readonly #channel: string
  #sleeper: Sleeper | null = null
  #client: pg.Client | null = null
  #shards = new Set<number>()
  #endpoints = new Map<string, ChangedLane>()
  #haveLeasesMoved = false
  #timer: NodeJS.Timeout | undefined
  #isStopped = false
  #isReconnecting = false
  #isSending = false
  #sending: Promise<void> = Promise.resolve()
  #failures = 0
  #lostAtMs: number | null = null

  constructor(options: WakeUpOptions) {
    this.#options = options
    this.#channel = schemaOfCell(addressOf(options.url).cell)
  }

  async start(sleeper: Sleeper): Promise<void> {
    this.#sleeper = sleeper
    await this.#connect()
  }

  /** What was announced last, that this process has gone, is still sent. */
  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#timer)
    await this.#sending
    if (this.#hasNews) await this.#send()
    await this.#client?.end().catch(() => {})
  }

  announceWork(shard: number): void {
    this.#shards.add(shard)
    this.#schedule(NOTIFY_EVERY_MS)
  }

  announceEndpoint(lane: ChangedLane): void {
    // A change after a retry does not take it back.
    const retriedAtMs = lane.retriedAtMs || this.#endpoints.get(lane.endpointId)?.retriedAtMs
    this.#endpoints.set(lane.endpointId, { ...lane, ...(retriedAtMs ? { retriedAtMs } : {}) })
    this.#schedule(NOTIFY_EVERY_MS)
  }

  announceLeases(): void {
    this.#haveLeasesMoved = true
    this.#schedule(NOTIFY_EVERY_MS)
  }

  get #hasNews(): boolean {
    return this.#haveLeasesMoved || this.#shards.size + this.#endpoints.size > 0
  }

  #schedule(ms: number): void {
    if (this.#isStopped || this.#isSending || this.#timer !== undefined) return
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#sending = this.#send()
    }, ms)
    this.#timer.unref()
  }

  async #send(): Promise<void> {
    const client = this.#client
    if (client === null) return
    const endpoints = [...this.#endpoints.values()].slice(0, ENDPOINTS_PER_MESSAGE)
    const message: Message = {
      from: this.#options.processId,
      shards: [...this.#shards],
      endpoints: endpoints.map(toChangedLane),
      ...(this.#haveLeasesMoved ? { leases: true } : {}),
    }
    this.#haveLeasesMoved = false
    this.#shards.clear()
    for (const { endpointId } of endpoints) this.#endpoints.delete(endpointId)
    this.#isSending = true
    try {
      await client.query('select pg_notify($1, $2)', [this.#channel, JSON.stringify(message)])
    } catch (error) {
      this.#options.onError(error as Error)
      if (isDatabaseAway(error)) client.connection.stream.destroy()
    }
    // One at a time: what was announced in between goes next.
    this.#isSending = false
    if (this.#hasNews) this.#schedule(NOTIFY_EVERY_MS)
  }

  async #connect(): Promise<void> {
    if (this.#isStopped) return
    const client = createClient(this.#options.url, 'paybell wake-ups', {
      queryTimeoutMs: ANSWER_MS_MAX,
    })
    client.on('notification', ({ payload }) => this.#receive(payload))
    client.on('error', (error) => this.#options.onError(error))
    client.on('end', () => this.#reconnect(client))
    try {
      await client.connect()
      await client.query(`listen ${this.#channel}`)
      // Stopped in between: a connection that is not ended would keep the process alive.
      if (this.#isStopped) return await client.end()
      this.#client = client
      if (this.#lostAtMs !== null) this.#sleeper?.onGap(performance.now() - this.#lostAtMs)
      this.#failures = 0
      this.#lostAtMs = null
      // What could not be sent while there was no connection.
      if (this.#hasNews) this.#schedule(NOTIFY_EVERY_MS)
    } catch (error) {
      this.#options.onError(error as Error)
      await client.end().catch(() => {})
      this.#reconnect(client)
    }
  }

  #reconnect(lost: pg.Client): void {
    if (this.#isStopped || (this.#client !== null && this.#client !== lost)) return
    this.#client = null
    this.#lostAtMs ??= performance.now()
    if (this.#isReconnecting) return
    this.#isReconnecting = true
    const waitMs = Math.min(100 * 2 ** Math.min(this.#failures++, 10), RECONNECT_MS_MAX)
    setTimeout(() => {
      this.#isReconnecting = false
      void this.#connect()
    }, waitMs).unref()
  }

  #receive(payload: string | undefined): void {
    const message = parseMessage(payload)
    if (message !== null && message.from !== this.#options.processId) {
      this.#sleeper?.onWakeUp(message)
    }
  }
}

/** Any role that may connect may notify: what is not ours is passed over. */
function parseMessage(payload: string | undefined): Message | null {
  try {
    const { from, shards, endpoints, sinceMs, leases } = JSON.parse(payload ?? '') as Message
    const isSound = shards.every(Number.isInteger) && endpoints.every(isLaneKey)
    if (!isSound) return null
    return {
      from,
      shards,
      endpoints: endpoints.map(toChangedLane),
      ...(Number.isFinite(sinceMs) ? { sinceMs } : {}),
      ...(leases === true ? { leases } : {}),
    }
  } catch {
    return null
  }
}

/** A process of the version before knows of no retries. */
function toChangedLane({ clientKey, endpointId, shard, retriedAtMs }: ChangedLane): ChangedLane {
  const isRetried = Number.isFinite(retriedAtMs) && retriedAtMs !== 0
  return { clientKey, endpointId, shard, ...(isRetried ? { retriedAtMs } : {}) }
}

function isLaneKey({ clientKey, endpointId, shard }: ChangedLane): boolean {
  return Number.isInteger(clientKey) && isUuid(endpointId) && Number.isInteger(shard)
}
