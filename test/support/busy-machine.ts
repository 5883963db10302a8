// Time limits in tests. They hold as written on an idle machine; where programs queue for its processors, everything
// takes as many times longer as the queue is long, and where neighbours steal these, longer again.

import { readFileSync } from 'node:fs'
import { availableParallelism, loadavg } from 'node:os'

/** How long a test waits for what must happen at last. The fact ends the wait, so a long limit costs nothing. */
export const PATIENCE_MS = 60_000

/** Less than this since the process began says nothing yet: then what was stolen since the machine began. */
const TICKS_MIN = 500

const atStart = readTicks()

export function limitOf(ms: number): number {
  const [lastMinute = 0] = loadavg()
  const queue = Math.max(1, lastMinute / availableParallelism())
  return Math.ceil(ms * queue * stretchByTheft())
}

/** For CPU time, which a queue does not make longer (measured beside four busy loops: 5 %). What is stolen a kernel may
 *  count as the program's own, and neighbours on the same cores and caches are in no statistics. */
export function cpuLimitOf(ms: number): number {
  return Math.ceil(ms * Math.max(stretchByTheft(), slowness()))
}

/** A text of so many characters, decoded and parsed: CPU time in a usual moment of a machine with two cores, which took 7 to
 *  12 ms within minutes. So the limit of a usual moment is up to a fifth longer than it is written. */
const PARSED_CHARACTERS = 2_000_000
const PARSED_MS = 10
const TRIES = 10

/** 2, where this machine takes twice as long for the same at this moment. */
function slowness(): number {
  const bytes = Buffer.from(JSON.stringify('😀'.repeat(PARSED_CHARACTERS)))
  const times = Array.from({ length: TRIES }, () => {
    const before = process.threadCpuUsage()
    JSON.parse(bytes.toString())
    const { user, system } = process.threadCpuUsage(before)
    return (user + system) / 1_000
  })
  return Math.max(1, Math.min(...times) / PARSED_MS)
}

/** 2, where half of what programs asked for was given to neighbours of this machine. */
function stretchByTheft(): number {
  const { given, stolen } = readTicks()
  const isKnown = given + stolen - atStart.given - atStart.stolen >= TICKS_MIN
  const [used, lost] = isKnown ? [given - atStart.given, stolen - atStart.stolen] : [given, stolen]
  return used > 0 ? (used + lost) / used : 1
}

/** Processor time of all programs in ticks, and what they had to do without. Only Linux tells. */
function readTicks(): { given: number; stolen: number } {
  try {
    const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n', 1)
    const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, stolen = 0] = line
      .split(/\s+/)
      .slice(1)
      .map(Number)
    return { given: user + nice + system + irq + softirq, stolen }
  } catch {
    return { given: 0, stolen: 0 }
  }
}
