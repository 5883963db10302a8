// Limits of time in tests. They hold as they are written on a machine that has nothing else to do; where
// programs stand in line for its processors, everything takes as much longer as the line is long.

import { availableParallelism, loadavg } from 'node:os'

export function limitOf(ms: number): number {
  const [lastMinute = 0] = loadavg()
  return Math.ceil(ms * Math.max(1, lastMinute / availableParallelism()))
}
