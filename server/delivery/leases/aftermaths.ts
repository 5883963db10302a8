// Shards that a process asked for before their whole lease was over: until when, on its monotonic clock, an attempt of the
// owner before may be under way (decision 0089). Also where the answer got lost: the shard may be its own all the same.

import { aftermathMs, type LeasePolicy } from '../../core/delivery/lease.ts'

export class Aftermaths {
  readonly #policy: LeasePolicy
  readonly #overAtMs = new Map<number, number>()

  constructor(policy: LeasePolicy) {
    this.#policy = policy
  }

  /** It is about to be asked for: the end of its owner's sign was seen then. */
  begin(shard: number, endedAtMs: number): void {
    this.#overAtMs.set(shard, endedAtMs + aftermathMs(this.#policy))
  }

  leftMs(shard: number, nowMs: number): number {
    return Math.max(0, (this.#overAtMs.get(shard) ?? nowMs) - nowMs)
  }

  lasting(nowMs: number): number[] {
    return [...this.#overAtMs.keys()].filter((shard) => this.leftMs(shard, nowMs) > 0)
  }

  /** It is over, and not forgotten: the database has not been told. */
  isOver(shard: number, nowMs: number): boolean {
    return this.#overAtMs.has(shard) && this.leftMs(shard, nowMs) === 0
  }

  forget(shard: number): void {
    this.#overAtMs.delete(shard)
  }
}
