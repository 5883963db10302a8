// The engine: holds the parts together and keeps them going. Work comes from three sources (handed off
// after a commit, read because it is due, taken up again because it was parked), goes through the lanes
// to the sender, and only for shards whose lease has room for a whole attempt.
// biome-ignore-all lint/style/noExcessiveLinesPerFile: it puts all parts together: what each tells another passes here.

import type { RetryPolicy } from '../core/delivery/backoff.ts'
import type { LeasePolicy } from '../core/delivery/lease.ts'
import type { HandedOff } from '../core/delivery/queued-delivery.ts'
import { momentOf } from '../core/plain/clock.ts'
import { RecurringTask } from '../core/plain/recurring-task.ts'
import type { LaneKey } from '../store/owed/parked.ts'
import type { ChangedLane } from '../store/owed/sending-endpoints.ts'
import type { WakeUp } from '../store/owed/wake-ups.ts'
import { HealthCounter } from './attempts/health-counter.ts'
import { HealthWriter } from './attempts/health-writer.ts'
import { Recorder } from './attempts/recorder.ts'
import { Sender } from './attempts/sender.ts'
import { EndpointCache } from './caches/endpoint-cache.ts'
import { Payloads } from './caches/payloads.ts'
import type { Lane, Strand } from './lanes/lane.ts'
import { type LanePolicies, Lanes, type LanesOptions } from './lanes/lanes.ts'
import { Renewals } from './leases/renewals.ts'
import { SessionSign } from './leases/session-sign.ts'
import { type ShardEvents, Shards } from './leases/shards.ts'
import { Maintenance } from './maintenance.ts'
import type { ChangeWatchLimits } from './owing/change-watch.ts'
import { ChangedEndpoints } from './owing/changed-endpoints.ts'
import { DueReader, type DueReaderLimits } from './owing/due-reader.ts'
import { type HandOffParts, takeHandedOff } from './owing/hand-off.ts'
import { LateRows } from './owing/late-rows.ts'
import { Parking } from './owing/parking.ts'
import { Siblings } from './owing/siblings.ts'
import { BoundedWarnings } from './seams/bounded-warnings.ts'
import type { EngineEnvironment } from './seams/environment.ts'
import type { SiblingChannel, SiblingEnd } from './seams/sibling-channel.ts'

export interface EnginePolicies extends LanePolicies {
  readonly retry: RetryPolicy
  /** Nothing but failures for this long disables an endpoint. */
  readonly disableAfterMs: number
}

export interface EngineOptions {
  policies: EnginePolicies
  leases: LeasePolicy
  lanes: Omit<LanesOptions, 'policies' | 'endpoints'>
  payloads: { cacheBytesMax: number; fileBytesMax: number }
  dueReader: DueReaderLimits
  changes: ChangeWatchLimits
  pollEveryMs: number
  /** How often attempts under way are looked at: a lane whose attempts take long becomes slow. */
  slowCheckEveryMs: number
  /** How often parked work, its deadlines and endpoints that only fail are looked at. */
  maintainEveryMs: number
  /** Called with the database's time after each renewal of the leases. */
  onDatabaseTime(nowMs: number, sentAtMonotonicMs: number, receivedAtMonotonicMs: number): void
}

export class Engine {
  readonly #environment: EngineEnvironment
  readonly #options: EngineOptions
  readonly #lanes: Lanes
  readonly #shards: Shards
  readonly #renewals: Renewals
  readonly #sign: SessionSign
  readonly #recorder: Recorder
  readonly #reader: DueReader
  readonly #payloads: Payloads
  readonly #endpoints: EndpointCache
  readonly #sender: Sender
  readonly #parking: Parking
  readonly #changed: ChangedEndpoints
  readonly #healthWriter: HealthWriter
  readonly #maintenance: Maintenance
  readonly #lateRows: LateRows
  readonly #parts: HandOffParts
  readonly #siblings: Siblings
  readonly #tasks: readonly RecurringTask[]
  #unsettled = 0 // Attempts under way or not yet recorded.
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
    this.#endpoints = new EndpointCache(environment.store)
    const laneOptions = { ...options.lanes, policies: options.policies, endpoints: this.#endpoints }
    this.#lanes = new Lanes(laneOptions, {
      onPostponed: (deliveries, untilMs) => this.#parking.postpone(deliveries, untilMs),
      onParked: (deliveries) => {
        for (const { eventId } of deliveries) this.#payloads.forget(eventId)
        this.#parking.park(deliveries)
      },
      onTooEarly: ({ shard, nextAttemptAtMs }) => this.#reader.rewindTo(shard, nextAttemptAtMs),
      onReloadNeeded: (strand) => this.#readAgain(strand),
      onRefillNeeded: (lane, room) => this.#parking.refill(lane, room),
      onEnded: ({ eventId }) => this.#payloads.forget(eventId),
    })
    this.#sign = new SessionSign(environment, options.leases.sign, {
      onChanged: () => this.#renewals.soon(),
      onEnded: () => this.#renewals.reschedule(),
      onProven: () => this.#pump(),
    })
    const shardEvents: ShardEvents = {
      onGained: (shards) => this.#gain(shards),
      onLost: (shards) => this.#lose(shards),
      onDatabaseTime: (...reading) =>
        this.#lateRows.watch(() => options.onDatabaseTime(...reading)),
      isIdle: (shard) => this.#lanes.unsettledOf(shard) === 0,
    }
    this.#shards = new Shards(environment, options.leases, shardEvents, this.#sign)
    this.#renewals = new Renewals(environment, options.leases, {
      renew: () => this.#renew(),
      nextSilentAtMs: () => this.#shards.nextSilentAtMs,
    })
    this.#recorder = new Recorder(environment, this.#shards)
    this.#reader = new DueReader(environment, this.#lanes, this.#endpoints, options.dueReader)
    this.#payloads = new Payloads(environment.store, options.payloads)
    const health = new HealthCounter()
    this.#healthWriter = new HealthWriter(environment, health, this.#lanes.directory)
    const parts = {
      lanes: this.#lanes,
      shards: this.#shards,
      recorder: this.#recorder,
      reader: this.#reader,
      payloads: this.#payloads,
      endpoints: this.#endpoints,
      health,
      onFree: () => this.#pump(),
      onOver: () => this.#over(),
      onMoved: () => this.#pump(),
      findParked: (shards: readonly number[]) => void this.#findParked(shards),
      read: () => void this.#read(),
      onDisabled: ({ clientKey, endpointId, shard }: LaneKey) =>
        this.endpointChanged(clientKey, endpointId, shard),
    }
    this.#parts = parts
    this.#siblings = new Siblings(environment, parts, options.pollEveryMs, (hasToRead) => {
      if (hasToRead) void this.#read()
      this.#pump()
    })
    this.#sender = new Sender(environment, parts, options.policies.retry, options.pollEveryMs)
    this.#parking = new Parking(environment, parts, options.pollEveryMs)
    this.#changed = new ChangedEndpoints(environment, parts, options.pollEveryMs, options.changes)
    this.#maintenance = new Maintenance(environment, parts, options.policies.disableAfterMs)
    this.#lateRows = new LateRows(environment, parts, options.policies.retry)
    const every = (ms: number, task: () => Promise<void>) =>
      new RecurringTask(environment.setTimer, () => ms, task)
    this.#tasks = [
      every(options.pollEveryMs, () => this.#poll()),
      every(options.pollEveryMs, () => this.#lateRows.round()),
      // Apart from the poll: that waits for the database, and an invitation lapses.
      every(options.pollEveryMs, async () => this.#siblings.invite()),
      every(options.slowCheckEveryMs, () => this.#noticeSlow()),
      every(options.maintainEveryMs, () => this.#maintain()),
    ]
  }

  get inFlight(): number {
    return this.#lanes.inFlight
  }

  get unsettled(): number {
    return this.#unsettled
  }

  get inMemory(): number {
    return this.#lanes.size
  }

  get shards(): readonly number[] {
    return this.#shards.held
  }

  get awaitedShards(): number {
    return this.#shards.awaited
  }

  /** Whether this process would be known to be gone by its session. */
  get hasSign(): boolean {
    return this.#sign.isHeld
  }

  /** Takes its first shards and begins. While the database is away it goes on asking. */
  async start(): Promise<void> {
    if (this.#isRunning) return
    this.#isRunning = true
    this.#changed.start()
    await this.#sign.start()
    await this.#renewals.start()
    for (const task of this.#tasks) task.start()
    void this.#poll()
  }

  /** No new attempt starts, and shards without one are handed over; the others when theirs are recorded. */
  async stop(): Promise<void> {
    if (!this.#isRunning) return
    this.#isRunning = false
    // Before shards are given up: what came later would be taken by no one.
    this.#siblings.close()
    for (const task of this.#tasks) void task.stop()
    this.#callOffWake?.()
    this.#renewals.stop()
    this.#parking.stop()
    if (this.#unsettled > 0 || this.#shards.longestAftermathMs > 0) {
      const drained = new Promise<void>((resolve) => {
        if (this.#unsettled === 0) resolve()
        this.#onDrained = resolve
      })
      // First, because it is news only until the next owner has made an attempt.
      await this.#writeHealth()
      await this.#handOver()
      await drained
      await this.#sender.landAll(this.#shards.longestAftermathMs)
    }
    await this.#writeHealth()
    await this.#handOver()
    this.#sign.stop()
  }

  #writeHealth(): Promise<void> {
    return this.#orWarn(this.#healthWriter.writeAll(), 'health.not-written')
  }

  /** Where it fails, the leases run out by themselves. */
  #handOver(): Promise<void> {
    return this.#orWarn(this.#shards.leave(), 'engine.not-handed-over')
  }

  async #orWarn(step: Promise<void>, event: string): Promise<void> {
    await step.catch((error) => this.#environment.log.warn({ error: String(error) }, event))
  }

  /** A transaction begins that may make new deliveries; what is returned takes them, once. */
  beginAccept(): (deliveries: readonly HandedOff[]) => void {
    const watch = this.#lanes.watches.begin()
    const since = { watch, beganAtMs: this.#environment.clock.monotonicMs() }
    const { invitations } = this.#siblings
    return (deliveries) => {
      watch.end()
      const others: HandedOff[] = []
      const put = (delivery: HandedOff) => void others.push(delivery)
      const hasToRead = takeHandedOff(this.#environment, this.#parts, since, deliveries, put)
      this.#siblings.handOver(invitations, others)
      if (hasToRead) void this.#read()
      this.#pump()
    }
  }

  /** Another process of this machine: what one of the two accepts and the other owns goes through the channel. */
  joinSibling(channel: SiblingChannel): SiblingEnd {
    return this.#siblings.join(channel)
  }

  /** In this process: it holds at once, and is announced. */
  endpointChanged(clientKey: number, endpointId: string, shard: number): void {
    this.#takeChange({ clientKey, endpointId, shard })
  }

  /** In this process, as a change; the time is the retry's name. */
  endpointRetried(clientKey: number, endpointId: string, shard: number, retriedAtMs: number): void {
    this.#takeChange({ clientKey, endpointId, shard, retriedAtMs })
  }

  /** Another process has work for us, has changed an endpoint, has started or stopped, or has given shards up. */
  wake({ shards, endpoints, sinceMs, leases }: WakeUp): void {
    if (leases) this.#renewals.soon()
    const nowMs = this.#environment.clock.nowMs()
    this.#changed.take(endpoints)
    const held = shards.filter((shard) => this.#shards.holds(shard))
    // The other process read the same clock a moment ago: its rows are due since then.
    const dueSinceMs = Math.min(nowMs - this.#options.pollEveryMs, sinceMs ?? nowMs)
    for (const shard of held) this.#reader.rewindTo(shard, dueSinceMs)
    if (held.length > 0) void this.#read()
  }

  #pump(): void {
    while (this.#isRunning && this.#recorder.hasRoom) {
      const flight = this.#lanes.next(momentOf(this.#environment.clock), this.#maySend)
      if (flight === null) break
      this.#unsettled++
      void this.#sender.attempt(flight)
    }
    this.#parking.refillNext()
    const at = momentOf(this.#environment.clock)
    this.#wakeAt(at.monotonicMs + this.#lanes.restMs(at))
  }

  /** An attempt is over and settled. Hundreds are recorded together: one pump serves them all. */
  #over(): void {
    this.#unsettled--
    if (this.#unsettled === 0) this.#onDrained?.()
    // A shard that is to be given away may be idle now, and its next owner waits for it.
    if (this.#shards.isGivingAway) this.#renewals.soon()
    if (this.#isPumpDue) return
    this.#isPumpDue = true
    queueMicrotask(this.#pumpSoon)
  }

  #takeChange(changed: ChangedLane): void {
    this.#environment.wakeUps?.announceEndpoint(changed)
    this.#changed.take([changed])
  }

  #readAgain(strand: Strand): void {
    this.#reader.reloadStrand({ ...strand.lane, paymentId: strand.paymentId })
    void this.#read()
  }

  #gain(shards: readonly number[]): void {
    this.#reader.gain(shards)
    this.#lateRows.gained(shards)
    this.#healthWriter.forgetShown()
    this.#siblings.invite()
    void this.#findParked(shards)
  }

  async #findParked(shards: readonly number[]): Promise<void> {
    if (!this.#isRunning) return
    await this.#orWarn(this.#reader.findParked(shards), 'parked-work.not-found')
    this.#pump()
  }

  #lose(shards: readonly number[]): void {
    this.#reader.lose(shards)
    for (const shard of shards) this.#lanes.removeShard(shard)
    this.#siblings.invite()
  }

  async #renew(): Promise<void> {
    try {
      this.#shards.expire()
      await this.#shards.renew()
      this.#sign.renewed()
      // Not awaited: a backlog takes long to read, and the leases would run out. The process that takes
      // them over would read it all again, and lose them too.
      void this.#read()
    } catch (error) {
      this.#environment.log.warn({ error: String(error) }, 'leases.not-renewed')
      if (this.#sign.isUrgent()) this.#renewals.soon()
    }
  }

  async #poll(): Promise<void> {
    try {
      await this.#changed.look()
      await this.#healthWriter.write()
    } catch (error) {
      this.#environment.log.warn({ error: String(error) }, 'engine.poll-failed')
    }
    // Of the shards that could not be asked about: a resumed endpoint may have nothing else that leads to its rows.
    await this.#findParked([])
    void this.#read()
  }

  async #noticeSlow(): Promise<void> {
    this.#lanes.noticeSlow(momentOf(this.#environment.clock))
    this.#pump()
  }

  /** Parked work that no lane knows of, deadlines of broken lanes, dead endpoints. */
  async #maintain(): Promise<void> {
    await this.#findParked(this.#shards.held)
    await this.#maintenance.run()
  }

  async #read(): Promise<void> {
    await this.#orWarn(this.#reader.read(), 'due-work.not-read')
    this.#pump()
  }

  /** One timer for the earliest waiting strand or lane; a new one where that is another by a millisecond or more. */
  #wakeAt(atMs: number): void {
    if (!this.#isRunning || atMs === Number.POSITIVE_INFINITY) return
    if (Math.abs(atMs - this.#wakeAtMs) < 1) return
    this.#callOffWake?.()
    this.#wakeAtMs = atMs
    const waitMs = Math.max(1, atMs - this.#environment.clock.monotonicMs())
    this.#callOffWake = this.#environment.setTimer(waitMs, () => {
      this.#wakeAtMs = Number.POSITIVE_INFINITY
      this.#callOffWake = null
      this.#pump()
    })
  }
}
