// Which shards are this process's to send for. Leases are renewed on the database's clock and counted
// on our monotonic one from the moment the renewal was sent: whoever stalls falls silent by itself.

import { fairShare, hasRoom, type Lease, type LeasePolicy, type ShardEpoch } from '../core/lease.ts'
import type { QueuedDelivery } from '../core/queued-delivery.ts'
import type { HeldDelivery } from '../store/outcomes.ts'
import type { DeliveryStore } from './delivery-store.ts'
import type { EngineEnvironment } from './environment.ts'

export interface ShardEvents {
  onGained(shards: readonly number[]): void
  onLost(shards: readonly number[]): void
  /** The database's time, as read between the two given moments of the monotonic clock. */
  onDatabaseTime(nowMs: number, sentAtMonotonicMs: number, receivedAtMonotonicMs: number): void
  /** True when nothing of the shard is in flight or unrecorded, so that it can be given away. */
  isIdle(shard: number): boolean
}

export class Shards {
  readonly #store: DeliveryStore
  readonly #clock: EngineEnvironment['clock']
  readonly #policy: LeasePolicy
  readonly #events: ShardEvents
  readonly #leases = new Map<number, Lease>()
  /** Too many for our share: no new attempt starts, and they go when they are idle. */
  readonly #leaving = new Set<number>()
  readonly #gainedAtMs = new Map<number, number>()
  #renewing: Promise<void> = Promise.resolve()
  #isReleasing = false

  constructor(
    environment: Pick<EngineEnvironment, 'store' | 'clock'>,
    policy: LeasePolicy,
    events: ShardEvents,
  ) {
    this.#store = environment.store
    this.#clock = environment.clock
    this.#policy = policy
    this.#events = events
  }

  get held(): readonly number[] {
    return [...this.#leases.keys()]
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
    return hasRoom(lease, this.#policy, this.#clock.monotonicMs())
  }

  /** One renewal: keeps what is ours, notices what is lost, takes or gives up to a fair share. */
  renew(): Promise<void> {
    const renewing = this.#renew()
    this.#renewing = renewing.catch(() => {})
    return renewing
  }

  async #renew(): Promise<void> {
    const sentAtMs = this.#clock.monotonicMs()
    const renewal = await this.#store.renewLeases()
    this.#events.onDatabaseTime(renewal.nowMs, sentAtMs, this.#clock.monotonicMs())
    const renewed = new Map(renewal.held.map((lease) => [lease.shard, lease.epoch]))
    const lost: number[] = []
    for (const lease of this.#leases.values()) {
      if (renewed.get(lease.shard) !== lease.epoch) lost.push(lease.shard)
      else lease.endsAtMonotonicMs = sentAtMs + this.#policy.leaseMs
    }
    this.#lose(lost)
    this.#adopt(renewal.held, sentAtMs)
    if (this.#isReleasing) return
    const share = fairShare(renewal.processes)
    if (this.#leases.size < share) await this.#take(share - this.#leases.size)
    await this.#giveAway(this.#leases.size - share)
  }

  /** Our own clock says that these have run out: nobody needs to tell us. */
  expire(): void {
    const nowMs = this.#clock.monotonicMs()
    this.#lose(
      this.held.filter((shard) => (this.#leases.get(shard)?.endsAtMonotonicMs ?? 0) <= nowMs),
    )
  }

  /** Hands everything over at once, so that others need not wait for the leases to run out. */
  async releaseAll(): Promise<void> {
    // A renewal under way would take shards, and count us among the living, behind our back.
    this.#isReleasing = true
    await this.#renewing
    this.#isReleasing = false
    const shards = this.held
    this.#lose(shards)
    await this.#store.releaseLeases(shards)
    await this.#store.leave()
  }

  async #take(wanted: number): Promise<void> {
    const sentAtMs = this.#clock.monotonicMs()
    this.#adopt(await this.#store.takeLeases(wanted), sentAtMs)
  }

  /**
   * Ours, by the database's word. A renewal can bring shards that we do not know of, because the
   * answer to a take-over or a release got lost: left alone, they would be renewed for ever and
   * served by nobody.
   */
  #adopt(leases: readonly ShardEpoch[], sentAtMs: number): void {
    const gained = leases.filter(({ shard }) => !this.#leases.has(shard))
    for (const { shard, epoch } of gained) {
      const endsAtMonotonicMs = sentAtMs + this.#policy.leaseMs
      this.#leases.set(shard, { shard, epoch, endsAtMonotonicMs })
      this.#gainedAtMs.set(shard, this.#clock.monotonicMs())
    }
    if (gained.length > 0) this.#events.onGained(gained.map((lease) => lease.shard))
  }

  async #giveAway(surplus: number): Promise<void> {
    const chosen = this.held.slice(0, Math.max(0, surplus))
    this.#leaving.clear()
    for (const shard of chosen) this.#leaving.add(shard)
    const idle = chosen.filter((shard) => this.#events.isIdle(shard))
    if (idle.length === 0) return
    this.#lose(idle)
    await this.#store.releaseLeases(idle)
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
