// Medians and percentiles. A cell is reported as its median with the least and the greatest slice, and with the
// best quarter: what a host that is never calm has left undisturbed.

export interface Spread {
  median: number
  /** A quarter of the slices has less, and a quarter has more. */
  lowQuarter: number
  highQuarter: number
  min: number
  max: number
  slices: number
}

export function spread(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b)
  return {
    median: quantile(sorted, 0.5),
    lowQuarter: quantile(sorted, 0.25),
    highQuarter: quantile(sorted, 0.75),
    min: sorted[0] ?? Number.NaN,
    max: sorted.at(-1) ?? Number.NaN,
    slices: sorted.length,
  }
}

/**
 * Least, first quarter and median, for rounds in turns on a busy machine: what disturbs them only adds, and the first
 * quarter depends less on it than the median, and less on luck than the least.
 */
export function lowerHalf(values: readonly number[]): readonly [number, number, number] {
  const sorted = [...values].sort((a, b) => a - b)
  return [quantile(sorted, 0), quantile(sorted, 0.25), quantile(sorted, 0.5)]
}

/** Of values in rising order, between its neighbours. */
function quantile(sorted: readonly number[], share: number): number {
  if (sorted.length === 0) return Number.NaN
  const at = share * (sorted.length - 1)
  const low = sorted[Math.floor(at)] as number
  const high = sorted[Math.ceil(at)] as number
  return low + (high - low) * (at - Math.floor(at))
}

export interface Percentiles {
  count: number
  p50: number
  p90: number
  p99: number
  p999: number
  max: number
}

export function percentiles(values: readonly number[]): Percentiles {
  const sorted = [...values].sort((a, b) => a - b)
  return {
    count: sorted.length,
    p50: quantile(sorted, 0.5),
    p90: quantile(sorted, 0.9),
    p99: quantile(sorted, 0.99),
    p999: quantile(sorted, 0.999),
    max: sorted.at(-1) ?? Number.NaN,
  }
}
