// A process's right to send for a shard of the endpoints. The lease outlives the longest attempt and
// its recording, so that a process that takes over never meets an attempt of its predecessor. No two
// clocks are compared: the owner counts from the moment it sent a renewal, any other process from the
// moment it received the reading that it saw no change since, each on its own clock (decision 0019). A process that
// died is known sooner, by its session (session-signs.ts).

import type { SignPolicy } from './session-signs.ts'

export const SHARD_COUNT = 64

export interface LeasePolicy {
  leaseMs: number
  renewEveryMs: number
  /** The longest an attempt can take, and the time set aside to record it. */
  attemptMsMax: number
  recordingMsMax: number
  /** A process that has shown no life for this long gets no share of the shards. */
  processGoneAfterMs: number
  sign: SignPolicy
}

export const LEASE_POLICY: LeasePolicy = {
  leaseMs: 25_000,
  renewEveryMs: 3_000,
  attemptMsMax: 15_000,
  recordingMsMax: 1_000,
  processGoneAfterMs: 10_000,
  sign: { beatEveryMs: 300, provenMs: 1_000, endedMs: 1_300 },
}

/** A shard under an epoch; a record made under an older epoch changes nothing. */
export interface ShardEpoch {
  shard: number
  epoch: number
}

/** A lease as the database had it when it was renewed or taken. Each renewal raises its beat. */
export interface RenewedLease extends ShardEpoch {
  beat: number
}

export interface Lease extends RenewedLease {
  /** On the owner's monotonic clock, counted from the moment it sent the renewal. */
  endsAtMonotonicMs: number
  /** The same on its cautious clock, which may run ahead: from there on nothing new is begun. */
  endsAtCautiousMs: number
}

/** True when an attempt begun now would be over, and recorded, before the lease ends. */
export function hasRoom(lease: Lease, policy: LeasePolicy, cautiousMs: number): boolean {
  return lease.endsAtCautiousMs - cautiousMs > policy.attemptMsMax + policy.recordingMsMax
}

/** The same as a fact of the lease: an attempt has to begin before this time of the owner's cautious clock. */
export function attemptBeginsByMs(lease: Lease, policy: LeasePolicy): number {
  return lease.endsAtCautiousMs - policy.attemptMsMax - policy.recordingMsMax
}

/**
 * How long after a sign was seen to have ended an attempt of its process may still be under way: one that began with the
 * last moment of its proof. Who takes its leases before that sends no update after one that may be among them.
 */
export function aftermathMs({ sign, attemptMsMax, recordingMsMax }: LeasePolicy): number {
  return sign.provenMs + attemptMsMax + recordingMsMax
}

/** How many of the shards each of `processes` should hold. */
export function fairShare(processes: number, shards: number = SHARD_COUNT): number {
  return Math.ceil(shards / Math.max(1, processes))
}
