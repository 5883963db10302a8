// Which shards this process may send for. Our own leases count from the moment the renewal was sent, on the clock that runs
// ahead if any does: a process that stalls or sleeps stops sending on its own. We take a lease of another process when it was
// released, when we have seen no sign of life in it for a whole lease on our monotonic clock, or when its owner's session has
// ended (core/delivery/session-signs). So the owner has always stopped before, and no two clocks are compared.

import {
  aftermathMs,
  attemptBeginsByMs,
  fairShare,
  hasRoom,
  type Lease,
  type LeasePolicy,
  type RenewedLease,
  type ShardEpoch,
} from '../../core/delivery/lease.ts'
import { LifeSigns } from '../../core/delivery/life-signs.ts'
import type { QueuedDelivery } from '../../core/delivery/queued-delivery.ts'
import type { GoneProcess, OthersSigns, OwnSign } from '../../core/delivery/session-signs.ts'
import type { HeldDelivery } from '../../store/owed/held-deliveries.ts'
import type { EngineEnvironment } from '../seams/environment.ts'
import { Aftermaths } from './aftermaths.ts'

export interface ShardEvents {
  onGained(shards: readonly number[]): void
  onLost(shards: readonly number[]): void
  /** The database's time, as read between the two given moments of the monotonic clock. */
  onDatabaseTime(nowMs: number, sentAtMonotonicMs: number, receivedAtMonotonicMs: number): void
  /** True when nothing of the shard is in flight or unrecorded, so that it can be given away. */
  isIdle(shard: number): boolean
}

/** One moment on both of our clocks. */
interface OwnMoment {
  monotonicMs: number
  cautiousMs: number
}

export interface ShardSigns {
  own: OwnSign
  others: OthersSigns
}

type ShardsEnvironment = Pick<
  EngineEnvironment,
  'store' | 'clock' | 'cautiousMs' | 'wakeUps' | 'log'
>

export class Shards {
  readonly #environment: ShardsEnvironment
  readonly #clock: ShardsEnvironment['clock']
  readonly #policy: LeasePolicy
  readonly #events: ShardEvents
  readonly #signs: ShardSigns
  readonly #leases = new Map<number, Lease>()
  /** Leases of others by shard, and the other processes. */
  readonly #others = new LifeSigns<number>()
  readonly #processes = new LifeSigns<string>()
  /** Too many for our share: no new attempt starts, and they go when they are idle. */
  readonly #leaving = new Set<number>()
  readonly #gainedAtMs = new Map<number, number>()
  /** When a record of the shard was last refused, on the monotonic clock. */
  readonly #refusedAtMs = new Map<number, number>()
  readonly #aftermaths: Aftermaths
  #renewing: Promise<void> = Promise.resolve()
  #isKnown = false
  #isReleasing = false
  #isAwaiting = false

  constructor(
    environment: ShardsEnvironment,
    policy: LeasePolicy,
    events: ShardEvents,
    signs: ShardSigns,
  ) {
    this.#environment = environment
    this.#clock = environment.clock
    this.#policy = policy
    this.#aftermaths = new Aftermaths(policy)
    this.#events = events
    this.#signs = signs
  }

  get held(): readonly number[] {
    return [...this.#leases.keys()]
  }

  /**
   * How many leases are of processes that have shown no life for two renewals, so that no process sends for these shards
   * until they have run out. A process that starts after a crash waits for them, from its own start on.
   */
  get awaited(): number {
    const { renewEveryMs, recordingMsMax } = this.#policy
    const quietMs = 2 * renewEveryMs + recordingMsMax
    return this.#others.silentFor(quietMs, this.#clock.monotonicMs()).size
  }

  /** True while shards wait to be given away. */
  get isGivingAway(): boolean {
    return this.#leaving.size > 0
  }

  holds(shard: number): boolean {
    return this.#leases.has(shard)
  }

  /** True when the shard has been ours, without a break, since before that monotonic time. */
  hasHeldSince(shard: number, monotonicMs: number): boolean {
    return (this.#gainedAtMs.get(shard) ?? Number.POSITIVE_INFINITY) < monotonicMs
  }

  epochOf(shard: number): number | undefined {
    return this.#leases.get(shard)?.epoch
  }

  get epochs(): readonly ShardEpoch[] {
    return [...this.#leases.values()].map(({ shard, epoch }) => ({ shard, epoch }))
  }

  /** The deliveries under the leases that we hold them by; those of lost shards are left out. */
  toHeld(deliveries: readonly QueuedDelivery[]): HeldDelivery[] {
    return deliveries.flatMap(({ clientKey, id, shard }) => {
      const epoch = this.epochOf(shard)
      return epoch === undefined ? [] : [{ clientKey, id, shard, epoch }]
    })
  }

  /** True when what was done under this epoch may still be recorded, now or at that monotonic time. */
  isHeld(shard: number, epoch: number, monotonicMs = this.#clock.monotonicMs()): boolean {
    const lease = this.#leases.get(shard)
    return lease?.epoch === epoch && lease.endsAtMonotonicMs > monotonicMs
  }

  /** True when an attempt for this shard may start now. */
  maySend(shard: number): boolean {
    const lease = this.#leases.get(shard)
    if (lease === undefined || this.#leaving.has(shard)) return false
    const cautiousMs = this.#environment.cautiousMs()
    return hasRoom(lease, this.#policy, cautiousMs) && cautiousMs < this.#signs.own.provenUntilMs
  }

  /** How long an attempt of the shard's last owner may still be under way, because we did not wait for its lease. */
  aftermathMs(shard: number): number {
    return this.holds(shard) ? this.#aftermaths.leftMs(shard, this.#clock.monotonicMs()) : 0
  }

  /** The same of all that are ours. */
  get longestAftermathMs(): number {
    return Math.max(0, ...this.held.map((shard) => this.aftermathMs(shard)))
  }

  /** Before when an attempt for this shard must begin, on the cautious clock. It is a fact of the lease and of our
   *  sign, not of the moment in which it is asked for. */
  beginByMs(shard: number): number {
    const lease = this.#leases.get(shard)
    if (lease === undefined) return Number.NEGATIVE_INFINITY
    return Math.min(attemptBeginsByMs(lease, this.#policy), this.#signs.own.provenUntilMs)
  }

  /** One renewal: keeps what is ours, notices what is lost, takes or gives up to a fair share. */
  renew(): Promise<void> {
    const renewing = this.#renew()
    this.#renewing = renewing.catch(() => {})
    return renewing
  }

  /** When another lease may be taken, unless it shows life before: on the monotonic clock. */
  get nextSilentAtMs(): number {
    const nowMs = this.#clock.monotonicMs()
    return Math.min(
      this.#others.nextSilentAtMs(this.#policy.leaseMs, nowMs),
      this.#signs.others.nextGoneAtMs(aftermathMs(this.#policy), nowMs),
    )
  }

  async #renew(): Promise<void> {
    const { leaseMs, processGoneAfterMs } = this.#policy
    const { own, others } = this.#signs
    const sign = own.beginRenewal()
    const sentAt = this.#readClocks()
    const gone = this.#processes.silentFor(leaseMs, sentAt.monotonicMs)
    // As any other from now on: if we die, they need not wait for their whole time.
    const settled = this.epochs.filter(({ shard }) =>
      this.#aftermaths.isOver(shard, sentAt.monotonicMs),
    )
    const ended = others.ended(sentAt.monotonicMs)
    const renewal = await this.#environment.store.renewLeases(gone, sign, settled, ended)
    const receivedAtMs = this.#clock.monotonicMs()
    for (const { shard } of settled) this.#aftermaths.forget(shard)
    own.endRenewal(sign)
    others.read(own.atSameServer(renewal.signed, renewal.server), receivedAtMs)
    this.#events.onDatabaseTime(renewal.nowMs, sentAt.monotonicMs, receivedAtMs)
    this.#others.read(renewal.others, receivedAtMs)
    this.#processes.read(renewal.processes, receivedAtMs)
    this.#tellAwaited()
    this.#lose(this.#keep(renewal.held, sentAt))
    this.#adopt(renewal.held, sentAt)
    if (this.#isReleasing) return
    // The others can see us from now on, and give us our share once they look.
    if (!this.#isKnown) this.#environment.wakeUps?.announceLeases()
    this.#isKnown = true
    const dead = new Set(others.gone(receivedAtMs).map(({ id }) => id))
    const processes = 1 + this.#processes.countAlive(processGoneAfterMs, receivedAtMs, dead)
    const { held, others: owned, free } = renewal
    const share = fairShare(processes, held.length + owned.size + free)
    const wanted = share - this.#leases.size
    if (wanted > 0) await this.#take(wanted, free, own.current === sign)
    await this.#giveAway(this.#leases.size - share)
  }

  /** Loses the leases that have run out by our own clock, without asking the database. */
  expire(): void {
    const nowMs = this.#clock.monotonicMs()
    this.#lose(
      this.held.filter((shard) => (this.#leases.get(shard)?.endsAtMonotonicMs ?? 0) <= nowMs),
    )
  }

  /** The database refused a record under this lease: another process has the shard, whatever our clock says. */
  refused({ shard, epoch }: ShardEpoch): void {
    // A renewal that was made before may still be on its way, and would bring it back. By its time, not
    // by its epoch: after a fail-over to a standby that lagged, epochs come again.
    this.#refusedAtMs.set(shard, this.#clock.monotonicMs())
    if (this.epochOf(shard) === epoch) this.#lose([shard])
  }

  /**
   * Hands over what is idle, so that others need not wait for the leases to run out, nor for what is under
   * way in other shards. To be called when nothing new is begun, and again when all is settled.
   */
  async leave(): Promise<void> {
    // A renewal under way would take shards, and count us among the living.
    this.#isReleasing = true
    await this.#renewing
    this.#isReleasing = false
    // Of an attempt that may still be under way the next owner would know nothing.
    const busy = [
      ...this.#aftermaths.lasting(this.#clock.monotonicMs()),
      ...this.held.filter((shard) => !this.#events.isIdle(shard)),
    ]
    this.#lose(this.held.filter((shard) => !busy.includes(shard)))
    await this.#environment.store.leave(busy)
    this.#environment.wakeUps?.announceLeases()
  }

  /** Once each time that it begins to wait. */
  #tellAwaited(): void {
    const shards = this.awaited
    const { log } = this.#environment
    if (shards > 0 && !this.#isAwaiting) log.warn({ shards }, 'leases.awaited')
    this.#isAwaiting = shards > 0
  }

  /** Lengthens what was renewed; returns what was not, although we counted on it. */
  #keep(held: readonly RenewedLease[], sentAt: OwnMoment): number[] {
    const renewed = new Map(held.map((lease) => [lease.shard, lease]))
    const lost: number[] = []
    for (const lease of this.#leases.values()) {
      const now = renewed.get(lease.shard)
      if (now?.epoch !== lease.epoch) {
        lost.push(lease.shard)
        continue
      }
      Object.assign(lease, now, this.#endsOf(sentAt))
    }
    return lost
  }

  async #take(wanted: number, free: number, mayTakeEarly: boolean): Promise<void> {
    const sentAt = this.#readClocks()
    // By the clock that may stand still, never by the one that may run ahead.
    const silent = this.#others.silentFor(this.#policy.leaseMs, sentAt.monotonicMs)
    // Of who is gone for so long nothing is under way, nor of those before, from whom it may have taken early.
    const { others } = this.#signs
    const longMs = aftermathMs(this.#policy)
    const over = this.#others.marksOf(others.heldByGoneFor(longMs, sentAt.monotonicMs))
    // A lease that is taken early stands under a sign that ends after that of its last owner: what a third may rest on.
    const early = this.#takeEarly(mayTakeEarly ? others.gone(sentAt.monotonicMs) : [], over)
    const takeable = new Map([...early, ...silent, ...over])
    if (free + takeable.size === 0) return
    const { store } = this.#environment
    this.#adopt(await store.takeLeases(wanted, takeable, [...early.keys()]), sentAt)
  }

  /** The other leases of processes that are gone, with their marks. */
  #takeEarly(gone: readonly GoneProcess[], over: ReadonlyMap<number, string>) {
    const early = new Map<number, string>()
    for (const { shards, endedAtMs } of gone) {
      for (const [shard, mark] of this.#others.marksOf(shards)) {
        if (over.has(shard)) continue
        early.set(shard, mark)
        this.#aftermaths.begin(shard, endedAtMs)
      }
    }
    return early
  }

  /**
   * Takes what the database says is ours. A renewal can bring shards that we do not know of, because the
   * answer to a take-over or a release got lost: left alone, they would be renewed for ever and no process
   * would send for them.
   */
  #adopt(leases: readonly RenewedLease[], sentAt: OwnMoment): void {
    const isNews = (shard: number) =>
      sentAt.monotonicMs > (this.#refusedAtMs.get(shard) ?? Number.NEGATIVE_INFINITY)
    const gained = leases.filter(({ shard }) => !this.#leases.has(shard) && isNews(shard))
    for (const lease of gained) {
      this.#refusedAtMs.delete(lease.shard)
      this.#leases.set(lease.shard, { ...lease, ...this.#endsOf(sentAt) })
      this.#gainedAtMs.set(lease.shard, this.#clock.monotonicMs())
    }
    if (gained.length > 0) this.#events.onGained(gained.map((lease) => lease.shard))
  }

  async #giveAway(surplus: number): Promise<void> {
    // Those of an aftermath cannot go before it is over, and would be silent until then.
    const chosen = [...this.#leases.values()]
      .filter(({ shard }) => this.aftermathMs(shard) === 0)
      .slice(0, Math.max(0, surplus))
    this.#leaving.clear()
    for (const { shard } of chosen) this.#leaving.add(shard)
    const idle = chosen.filter(({ shard }) => this.#events.isIdle(shard))
    if (idle.length === 0) return
    this.#lose(idle.map(({ shard }) => shard))
    await this.#environment.store.releaseLeases(idle)
    this.#environment.wakeUps?.announceLeases()
  }

  #readClocks(): OwnMoment {
    const { clock, cautiousMs } = this.#environment
    return { monotonicMs: clock.monotonicMs(), cautiousMs: cautiousMs() }
  }

  /** A lease counts from the moment its renewal was sent: the database cannot have made it before. */
  #endsOf({ monotonicMs, cautiousMs }: OwnMoment) {
    const { leaseMs } = this.#policy
    return { endsAtMonotonicMs: monotonicMs + leaseMs, endsAtCautiousMs: cautiousMs + leaseMs }
  }

  #lose(shards: readonly number[]): void {
    for (const shard of shards) {
      this.#leases.delete(shard)
      this.#gainedAtMs.delete(shard)
      this.#leaving.delete(shard)
    }
    if (shards.length > 0) this.#events.onLost(shards)
  }
}
