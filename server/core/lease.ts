// A process's right to send for a shard of the endpoints. The lease outlives the longest attempt and
// its recording, so that a process that takes over never meets an attempt of its predecessor.

export const SHARD_COUNT = 64

export interface LeasePolicy {
  leaseMs: number
  renewEveryMs: number
  /** The longest an attempt can take, and the time set aside to record it. */
  attemptMsMax: number
  recordingMsMax: number
  /** A process not seen for this long counts for nothing when shards are shared out. */
  processGoneAfterMs: number
}

export const LEASE_POLICY: LeasePolicy = {
  leaseMs: 25_000,
  renewEveryMs: 3_000,
  attemptMsMax: 15_000,
  recordingMsMax: 1_000,
  processGoneAfterMs: 10_000,
}

/** A shard under an epoch; a record made under an older epoch changes nothing. */
export interface ShardEpoch {
  shard: number
  epoch: number
}

export interface Lease extends ShardEpoch {
  /** On the owner's monotonic clock, counted from the moment it sent the renewal. */
  endsAtMonotonicMs: number
}

/** True when an attempt begun now would be over, and recorded, before the lease ends. */
export function hasRoom(lease: Lease, policy: LeasePolicy, monotonicMs: number): boolean {
  return lease.endsAtMonotonicMs - monotonicMs > policy.attemptMsMax + policy.recordingMsMax
}

/** How many shards each of `processes` should hold. */
export function fairShare(processes: number): number {
  return Math.ceil(SHARD_COUNT / Math.max(1, processes))
}
