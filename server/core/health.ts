// What attempts show of an endpoint, in a form that adds up: counts per hour and a histogram of
// durations whose buckets grow by √2, so that a percentile is right within 41 %.

export interface EndpointHealth {
  failingSince: Date | null
  lastSuccessAt: Date | null
  lastError: string | null
  pending: number
  circuit: 'CLOSED' | 'OPEN' | 'HALF_OPEN'
  successRate24h: number | null
  p95Ms: number | null
}

export const DURATION_BUCKETS = 30

/** Bucket i holds durations up to √2^i ms; the last one everything above. */
export function durationBucket(durationMs: number): number {
  if (durationMs <= 1) return 0
  return Math.min(DURATION_BUCKETS - 1, Math.ceil(2 * Math.log2(durationMs)))
}

/** The upper bound of the bucket that holds the given share of all attempts. */
export function percentileMs(durations: readonly number[], share: number): number | null {
  const total = durations.reduce((sum, count) => sum + count, 0)
  if (total === 0) return null
  let seen = 0
  for (const [bucket, count] of durations.entries()) {
    seen += count
    if (seen >= total * share) return Math.round(Math.SQRT2 ** bucket)
  }
  return null
}
