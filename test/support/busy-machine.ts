// Time limits in tests. They hold as written on an idle machine; where programs queue for its processors,
// everything takes as many times longer as the queue is long.

import { availableParallelism, loadavg } from 'node:os'

export function limitOf(ms: number): number {
  const [lastMinute = 0] = loadavg()
  return Math.ceil(ms * Math.max(1, lastMinute / availableParallelism()))
}
