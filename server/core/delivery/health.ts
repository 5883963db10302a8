// What attempts show of an endpoint, in a form that adds up: counts per hour and a histogram of
// durations whose buckets grow by √2, so that a percentile is right within 41 %.

import type { EndpointStatus } from './endpoint.ts'
import { LEASE_POLICY } from './lease.ts'

export interface EndpointHealth {
  failingSince: Date | null
  lastSuccessAt: Date | null
  lastError: string | null
  pending: number
  circuit: 'CLOSED' | 'OPEN' | 'HALF_OPEN'
  /** When an attempt may probe the endpoint, at the earliest; null while its circuit is closed. */
  nextProbeAt: Date | null
  successRate24h: number | null
  p95Ms: number | null
}

/** How an endpoint stands, in one word. */
export type HealthWord = 'healthy' | 'failing' | 'paused' | 'disabled'

/** One that takes nothing is not failing, whatever its last attempts have shown. */
export function healthWord(status: EndpointStatus, isFailing: boolean): HealthWord {
  if (status === 'DISABLED') return 'disabled'
  if (status === 'PAUSED') return 'paused'
  return isFailing ? 'failing' : 'healthy'
}

/** What is shown of an endpoint and no crash may take away. Counts and the last success may be a minute old. */
export interface ShownHealth {
  isFailing: boolean
  /** What it fails with; null while it does not fail. */
  error: string | null
  circuit: EndpointHealth['circuit']
  /** Null exactly while the circuit is closed. */
  nextProbeAtMs: number | null
}

export const SHOWN_WELL: ShownHealth = {
  isFailing: false,
  error: null,
  circuit: 'CLOSED',
  nextProbeAtMs: null,
}

/** What the attempts since the last write have shown. */
export interface SeenHealth extends ShownHealth {
  hasSucceeded: boolean
}

/**
 * True when what is shown has become untrue: the endpoint began or ceased to fail, fails with something else or
 * since a later time, or its circuit has moved, or the time of its next probe: what waits for a probe that looks
 * overdue would count as due. All the rest only counts on, and can wait.
 */
export function isNews(shown: ShownHealth, seen: SeenHealth): boolean {
  if (seen.isFailing !== shown.isFailing || seen.circuit !== shown.circuit) return true
  if (seen.nextProbeAtMs !== shown.nextProbeAtMs) return true
  return seen.isFailing && (seen.hasSucceeded || seen.error !== shown.error)
}

export const DURATION_BUCKETS = 30

/** Bucket i holds durations up to √2^i ms; the last one everything above. */
export function durationBucket(durationMs: number): number {
  if (durationMs <= 1) return 0
  return Math.min(DURATION_BUCKETS - 1, Math.ceil(2 * Math.log2(durationMs)))
}

/** The duration that the given share of all attempts does not exceed, as if those of a bucket were spread evenly over it. */
export function percentileMs(durations: readonly number[], share: number): number | null {
  const total = durations.reduce((sum, count) => sum + count, 0)
  if (total === 0) return null
  let before = 0
  for (const [bucket, count] of durations.entries()) {
    if (before + count < total * share) {
      before += count
      continue
    }
    const [from, to] = [bucket === 0 ? 0 : edgeMs(bucket - 1), edgeMs(bucket)]
    return Math.round(from + ((to - from) * (total * share - before)) / count)
  }
  return null
}

function edgeMs(bucket: number): number {
  // No attempt takes longer.
  return Math.min(Math.SQRT2 ** bucket, LEASE_POLICY.attemptMsMax)
}
