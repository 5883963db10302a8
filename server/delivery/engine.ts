// The engine: holds the parts together and keeps them going. Work comes from three sources (handed off
// after a commit, read because it is due, taken up again because it was parked), goes through the lanes
// to the sender, and only for shards whose lease has room for a whole attempt.

import type { RetryPolicy } from '../core/backoff.ts'
import type { LeasePolicy } from '../core/lease.ts'
import type { HandedOff, QueuedDelivery } from '../core/queued-delivery.ts'
import type { LaneKey } from '../store/parked.ts'
import type { WakeUp } from '../store/wake-ups.ts'
import { BoundedWarnings } from './bounded-warnings.ts'
import { ChangeWatch, type ChangeWatchLimits } from './change-watch.ts'
import { DueReader, type DueReaderLimits } from './due-reader.ts'
import { EndpointCache } from './endpoint-cache.ts'
import type { EngineEnvironment } from './environment.ts'
import { HealthCounter } from './health-counter.ts'
import type { Lane, Strand } from './lane.ts'
import { type LanePolicies, Lanes, type LanesOptions } from './lanes.ts'
import { Parking } from './parking.ts'
import { Payloads } from './payloads.ts'
import { Recorder, type RecorderLimits } from './recorder.ts'
import { Renewals } from './renewals.ts'
import { Sender } from './sender.ts'
import { Shards } from './shards.ts'

export interface EnginePolicies extends LanePolicies {
  readonly retry: RetryPolicy
  /** Nothing but failures for this long disables an endpoint. */
  readonly disableAfterMs: number
}

export interface EngineOptions {
  /** Asked with each decision and never kept: the sandbox replaces them while it runs. */
  policies: { readonly current: EnginePolicies }
  leases: LeasePolicy
  lanes: Omit<LanesOptions, 'policies'>
  payloads: { cacheBytesMax: number; fileBytesMax: number }
  recorder: RecorderLimits
  dueReader: DueReaderLimits
  changes: ChangeWatchLimits
  pollEveryMs: number
  /** How often attempts under way are looked at: who takes long becomes slow. */
  slowCheckEveryMs: number
  /** How often parked work, its deadlines and endpoints that only fail are looked after. */
  careEveryMs: number
  /** The clock is told what time the database has. */
  onDatabaseTime(nowMs: number, sentAtMonotonicMs: number, receivedAtMonotonicMs: number): void
}

/** Endpoints whose health is written at once, unless more than this many wait. */
const HEALTH_ROWS_MAX = 1_000
const HEALTH_WAITING_MAX = 20_000

export class Engine {
  readonly #environment: EngineEnvironment
  readonly #options: EngineOptions
  readonly #lanes: Lanes
  readonly #shards: Shards
  readonly #renewals: Renewals
  readonly #recorder: Recorder
  readonly #reader: DueReader
  readonly #payloads: Payloads
  readonly #endpoints: EndpointCache
  readonly #health = new HealthCounter()
  readonly #sender: Sender
  readonly #parking: Parking
  readonly #changes: ChangeWatch
  readonly #callOff = new Set<() => void>()
  /** Attempts under way or not yet recorded. */
  #unsettled = 0
  #isRunning = false
  #isPumpDue = false
  readonly #maySend = (lane: Lane) => this.#shards.maySend(lane.shard)
  readonly #pumpSoon = () => {
    this.#isPumpDue = false
    this.#pump()
  }
  #callOffWake: (() => void) | null = null
  #wakeAtMs = Number.POSITIVE_INFINITY
  #onDrained: (() => void) | null = null

  constructor(given: EngineEnvironment, options: EngineOptions) {
    const environment = { ...given, log: new BoundedWarnings(given.log, given.clock) }
    this.#environment = environment
    this.#options = options
    const laneOptions = { ...options.lanes, policies: options.policies }
    this.#lanes = new Lanes(laneOptions, {
      onPostponed: (deliveries, untilMs) => this.#parking.postpone(deliveries, untilMs),
      onParked: (deliveries) => this.#parking.park(deliveries),
      onTooEarly: ({ shard, nextAttemptAtMs }) => this.#reader.rewindTo(shard, nextAttemptAtMs),
      onDry: (strand) => this.#readAgain(strand),
      onHungry: (lane, room) => this.#parking.refill(lane, room),
      onEnded: ({ eventId }) => this.#payloads.forget(eventId),
    })
    this.#shards = new Shards(environment, options.leases, {
      onGained: (shards) => this.#gain(shards),
      onLost: (shards) => this.#lose(shards),
      onDatabaseTime: options.onDatabaseTime,
      isIdle: (shard) => this.#lanes.unsettledOf(shard) === 0,
    })
    this.#renewals = new Renewals(environment, options.leases, {
      renew: () => this.#renew(),
      nextSilentAtMs: () => this.#shards.nextSilentAtMs,
    })
    this.#recorder = new Recorder(environment, options.recorder, this.#shards)
    this.#reader = new DueReader(environment, this.#lanes, options.dueReader)
    this.#payloads = new Payloads(environment.store, options.payloads)
    this.#endpoints = new EndpointCache(environment.store)
    this.#changes = new ChangeWatch(environment.store, options.pollEveryMs, options.changes)
    const parts = {
      lanes: this.#lanes,
      shards: this.#shards,
      recorder: this.#recorder,
      reader: this.#reader,
      payloads: this.#payloads,
      endpoints: this.#endpoints,
      health: this.#health,
      onFree: () => this.#pump(),
      onOver: () => this.#over(),
      onMoved: () => this.#pump(),
    }
    this.#sender = new Sender(environment, parts, options.policies, options.pollEveryMs)
    this.#parking = new Parking(environment, parts, options.pollEveryMs)
  }

  get inFlight(): number {
    return this.#lanes.inFlight
  }

  get inMemory(): number {
    return this.#lanes.size
  }

  get shards(): readonly number[] {
    return this.#shards.held
  }

  /** Takes its first shards and begins. Tolerates a database that is away: it goes on asking. */
  async start(): Promise<void> {
    if (this.#isRunning) return
    this.#isRunning = true
    this.#changes.start(this.#environment.clock.nowMs())
    await this.#renewals.start()
    this.#every(this.#options.pollEveryMs, () => this.#poll())
    this.#every(this.#options.slowCheckEveryMs, () => this.#noticeSlow())
    this.#every(this.#options.careEveryMs, () => this.#care())
    void this.#poll()
  }

  /** No new attempt starts, and shards without one are handed over; the others when theirs are recorded. */
  async stop(): Promise<void> {
    if (!this.#isRunning) return
    this.#isRunning = false
    for (const callOff of this.#callOff) callOff()
    this.#callOffWake?.()
    this.#renewals.stop()
    this.#parking.stop()
    if (this.#unsettled > 0) {
      const drained = new Promise<void>((resolve) => {
        this.#onDrained = resolve
      })
      await this.#handOver()
      await drained
    }
    await this.#writeHealth(this.#health.size).catch((error: unknown) => {
      this.#environment.log.warn({ error: String(error) }, 'health.not-written')
    })
    await this.#handOver()
  }

  async #handOver(): Promise<void> {
    try {
      await this.#shards.leave()
    } catch (error) {
      // The leases then run out by themselves.
      this.#environment.log.warn({ error: String(error) }, 'engine.not-handed-over')
    }
  }

  /**
   * A transaction begins that may make new deliveries; what is returned takes them, once. Between the
   * commit and its reply the due reader may find one, deliver and forget it: such a one is left to
   * the reader, and so is one whose endpoint has changed meanwhile.
   */
  beginAccept(): (deliveries: readonly HandedOff[]) => void {
    const watch = this.#lanes.watches.begin()
    const beganAtMs = this.#environment.clock.monotonicMs()
    return (deliveries) => {
      watch.end()
      this.#handOff(deliveries, (delivery) => watch.isOutdated(delivery), beganAtMs)
    }
  }

  #handOff(
    deliveries: readonly HandedOff[],
    isOutdated: (delivery: QueuedDelivery) => boolean,
    beganAtMs: number,
  ): void {
    const nowMs = this.#environment.clock.nowMs()
    let hasToRead = false
    for (const delivery of deliveries) {
      const { payload } = delivery
      delivery.payload = null
      if (!this.#shards.holds(delivery.shard)) {
        this.#environment.wakeUps?.announceWork(delivery.shard)
        continue
      }
      // The shard's former owner may have found and delivered it meanwhile: only the database knows.
      if (!this.#shards.hasHeldSince(delivery.shard, beganAtMs) || isOutdated(delivery)) {
        this.#reader.rewindTo(delivery.shard, delivery.nextAttemptAtMs)
        hasToRead = true
        continue
      }
      if (this.#reader.isFull) {
        this.#reader.rewindTo(delivery.shard, delivery.nextAttemptAtMs)
        continue
      }
      if (payload !== null) this.#payloads.remember(delivery.eventId, payload)
      this.#endpoints.expect(delivery.clientKey, delivery.endpointId)
      if (!this.#lanes.add(delivery, delivery.hasElders, nowMs)) {
        this.#reader.want(delivery)
        hasToRead = true
      }
    }
    if (hasToRead) void this.#read()
    this.#pump()
  }

  /** Changed in this process: it holds here at once, and the others are told. */
  endpointChanged(clientKey: number, endpointId: string, shard: number): void {
    this.#environment.wakeUps?.announceEndpoint({ clientKey, endpointId, shard })
    this.#takeChanges([{ clientKey, endpointId, shard }])
  }

  /** Another process has work for us, has changed an endpoint, or has come, gone or given shards up. */
  wake({ shards, endpoints, sinceMs, leases }: WakeUp): void {
    if (leases) this.#renewals.soon()
    const nowMs = this.#environment.clock.nowMs()
    this.#takeChanges(endpoints)
    const held = shards.filter((shard) => this.#shards.holds(shard))
    // Its rows are due since a moment ago, by another process's reading of the same clock.
    const dueSinceMs = Math.min(nowMs - this.#options.pollEveryMs, sinceMs ?? nowMs)
    for (const shard of held) this.#reader.rewindTo(shard, dueSinceMs)
    if (held.length > 0) void this.#read()
  }

  #takeChanges(changes: readonly LaneKey[]): void {
    for (const { endpointId } of changes) this.#forget(endpointId)
    this.#readAnew(changes)
  }

  /** Nothing that is known or being read of this endpoint is believed any more. */
  #forget(endpointId: string): void {
    this.#endpoints.forget(endpointId)
    this.#lanes.watches.note(endpointId)
    this.#lanes.removeEndpoint(endpointId)
  }

  /** What was in memory of these endpoints, and what was parked while they were not active. */
  #readAnew(changed: readonly LaneKey[], others: Iterable<number> = []): void {
    const shards = new Set([...changed.map(({ shard }) => shard), ...others])
    const held = [...shards].filter((shard) => this.#shards.holds(shard))
    if (held.length === 0) return
    this.#reader.gain(held)
    if (changed.length > this.#options.changes.oneByOneMax) void this.#findParked(held)
    else
      for (const lane of changed)
        if (this.#shards.holds(lane.shard)) this.#lanes.feeder.noteParked(lane)
    void this.#read()
  }

  #pump(): void {
    while (this.#isRunning && this.#recorder.hasRoom) {
      const flight = this.#lanes.next(this.#environment.clock.nowMs(), this.#maySend)
      if (flight === null) break
      this.#unsettled++
      void this.#sender.attempt(flight)
    }
    this.#parking.refillNext()
    this.#wakeAt(this.#lanes.nextDueAtMs)
  }

  /** An attempt is over and settled. Hundreds are recorded together: what they let go, goes together. */
  #over(): void {
    this.#unsettled--
    if (this.#unsettled === 0) this.#onDrained?.()
    // What was to leave may be idle now, and others wait for it.
    if (this.#shards.isGivingAway) this.#renewals.soon()
    if (this.#isPumpDue) return
    this.#isPumpDue = true
    queueMicrotask(this.#pumpSoon)
  }

  #readAgain(strand: Strand): void {
    const [owed] = strand.owed
    // A replay is alone in its strand: the due reader comes by it again.
    if (owed?.isReplay) this.#reader.rewindTo(owed.shard, owed.nextAttemptAtMs)
    else this.#reader.want({ ...strand.lane, paymentId: strand.paymentId })
    void this.#read()
  }

  #gain(shards: readonly number[]): void {
    this.#reader.gain(shards)
    void this.#findParked(shards)
  }

  async #findParked(shards: readonly number[]): Promise<void> {
    try {
      await this.#reader.findParked(shards)
    } catch (error) {
      this.#environment.log.warn({ error: String(error) }, 'parked-work.not-found')
    }
    this.#pump()
  }

  #lose(shards: readonly number[]): void {
    this.#reader.lose(shards)
    for (const shard of shards) this.#lanes.removeShard(shard)
  }

  async #renew(): Promise<void> {
    try {
      this.#shards.expire()
      await this.#shards.renew()
      // Not awaited: a backlog takes long to read, and meanwhile the leases would run out. Whoever
      // takes over reads it all again, and loses them in turn.
      void this.#read()
    } catch (error) {
      this.#environment.log.warn({ error: String(error) }, 'leases.not-renewed')
    }
  }

  async #poll(): Promise<void> {
    try {
      await this.#noticeChanges()
      await this.#flushHealth()
    } catch (error) {
      this.#environment.log.warn({ error: String(error) }, 'engine.poll-failed')
    }
    void this.#read()
  }

  async #noticeSlow(): Promise<void> {
    this.#lanes.noticeSlow(this.#environment.clock.nowMs())
    this.#pump()
  }

  /** The slow rounds: parked work nobody knows of, deadlines behind open circuits, dead endpoints. */
  async #care(): Promise<void> {
    const { clock, store, log } = this.#environment
    await this.#findParked(this.#shards.held)
    try {
      for (const lane of this.#lanes.directory.broken) {
        const epoch = this.#shards.epochOf(lane.shard)
        if (epoch === undefined) continue
        const exhausted = await store.exhaustParked({ ...laneKey(lane), epoch }, clock.nowMs())
        if (exhausted > 0) log.warn({ ...laneKey(lane), exhausted }, 'deliveries.exhausted')
      }
      const sinceMs = clock.nowMs() - this.#options.policies.current.disableAfterMs
      for (const lane of await store.disableFailing(this.#shards.epochs, sinceMs, clock.nowMs())) {
        log.warn(lane, 'endpoint.disabled')
        this.#environment.onDisabled?.()
        this.endpointChanged(lane.clientKey, lane.endpointId, lane.shard)
      }
    } catch (error) {
      log.warn({ error: String(error) }, 'engine.care-failed')
    }
  }

  async #read(): Promise<void> {
    try {
      await this.#reader.read()
    } catch (error) {
      this.#environment.log.warn({ error: String(error) }, 'due-work.not-read')
    }
    this.#pump()
  }

  /** Changes made in other processes. */
  async #noticeChanges(): Promise<void> {
    const few: LaneKey[] = []
    const shards = new Set<number>()
    try {
      await this.#changes.look(this.#environment.clock.nowMs(), (changes) => {
        for (const change of changes) {
          this.#forget(change.endpointId)
          shards.add(change.shard)
          if (few.length <= this.#options.changes.oneByOneMax) few.push(change)
        }
      })
    } finally {
      // Also of a look that broke off: what it took out of memory has to come back.
      this.#readAnew(few, shards)
    }
  }

  /** Of a thousand endpoints at a time: with ten thousand busy ones, each is written every ten polls. */
  async #flushHealth(): Promise<void> {
    const backlog = this.#health.size - HEALTH_WAITING_MAX
    await this.#writeHealth(Math.max(HEALTH_ROWS_MAX, backlog))
  }

  async #writeHealth(endpointsMax: number): Promise<void> {
    const deltas = this.#health.take(endpointsMax, (endpointId) =>
      this.#lanes.directory.circuitOf(endpointId),
    )
    if (deltas.length === 0) return
    try {
      await this.#environment.store.saveHealth(deltas, this.#environment.clock.nowMs())
    } catch (error) {
      // A success that got lost would let an endpoint look as if it had failed for days.
      this.#health.putBack(deltas)
      throw error
    }
  }

  /** One timer for the earliest waiting strand. */
  #wakeAt(atMs: number): void {
    if (!this.#isRunning || atMs === this.#wakeAtMs || atMs === Number.POSITIVE_INFINITY) return
    this.#callOffWake?.()
    this.#wakeAtMs = atMs
    const waitMs = Math.max(1, atMs - this.#environment.clock.nowMs())
    this.#callOffWake = this.#environment.setTimer(waitMs, () => {
      this.#wakeAtMs = Number.POSITIVE_INFINITY
      this.#callOffWake = null
      this.#pump()
    })
  }

  /** Runs `task` again and again, `ms` after it has ended. */
  #every(ms: number, task: () => Promise<void>): void {
    let callOff: () => void = () => {}
    const schedule = () => {
      this.#callOff.delete(callOff)
      if (!this.#isRunning) return
      callOff = this.#environment.setTimer(ms, () => void task().finally(schedule))
      this.#callOff.add(callOff)
    }
    schedule()
  }
}

function laneKey({ clientKey, endpointId, shard }: Lane) {
  return { clientKey, endpointId, shard }
}
