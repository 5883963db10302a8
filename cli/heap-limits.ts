// How much memory V8 may keep beyond what is in use. Its defaults are made for programs that have the
// machine to themselves: a young generation of 2 × 64 MB, and an old one that is collected only when it
// has grown to three or four times what was left of it. A service with 50,000 deliveries in memory uses
// 110 MB of heap, and took 450 of the machine.

import { PerformanceObserver } from 'node:perf_hooks'
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'

/** Large enough that what a batch of payments needs dies young; both halves together are twice this. */
const SEMI_SPACE_MB = 16
/** The old generation is collected when it has grown by this much. */
const GROWING_PERCENT = 50

const CHOSEN = /--(min|max)[-_]semi[-_]space[-_]size|--heap[-_]growing[-_]percent/

/**
 * To be called before anything else is loaded: the young generation grows while modules are read, and
 * does not shrink again. Whoever gave Node such limits by option is left alone.
 */
export function limitHeap(
  options: readonly string[] = [...process.execArgv, process.env.NODE_OPTIONS ?? ''],
): void {
  if (options.some((option) => CHOSEN.test(option))) return
  setFlagsFromString(`--heap-growing-percent=${GROWING_PERCENT}`)
  // The greatest size of the young generation is fixed when the process starts, but by how much it grows
  // is asked each time. It starts with 1 MB: it grows once, to the size that we want, and no more.
  setFlagsFromString(`--semi-space-growth-factor=${SEMI_SPACE_MB}`)
  const observer = new PerformanceObserver(() => {
    if (youngMegabytes() < SEMI_SPACE_MB) return
    setFlagsFromString('--semi-space-growth-factor=1')
    observer.disconnect()
  })
  observer.observe({ entryTypes: ['gc'] })
}

function youngMegabytes(): number {
  const young = getHeapSpaceStatistics().find((space) => space.space_name === 'new_space')
  return (young?.space_size ?? 0) / 1024 / 1024
}
