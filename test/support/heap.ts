// What is still held after some work, when everything else has been collected.

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

export function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
}

/** By how many bytes the heap has grown; the work is done once before, so that what it warms up does not count. */
export function heapGrowthOf(work: () => void): number {
  work()
  collectGarbage()
  const before = process.memoryUsage().heapUsed
  work()
  collectGarbage()
  return process.memoryUsage().heapUsed - before
}
