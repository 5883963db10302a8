// CPU-seconds from /proc: user plus system time. For PostgreSQL the postmaster, its living children,
// and, by the postmaster's own account, those that have already ended.

import { readdirSync, readFileSync } from 'node:fs'

/** USER_HZ is 100 on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100

interface Times {
  parent: number
  own: number
  /** Of children that ended and were waited for. */
  ended: number
}

function readTimes(pid: number): Times | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name, in parentheses, may hold spaces: the fields are counted after it.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const ticks = (index: number) => Number(fields[index]) / TICKS_PER_SECOND
    return { parent: Number(fields[1]), own: ticks(11) + ticks(12), ended: ticks(13) + ticks(14) }
  } catch {
    return null
  }
}

export function cpuSeconds(pid: number): number {
  return readTimes(pid)?.own ?? 0
}

/** A process and all that descend from it, living or ended. */
export function treeCpuSeconds(root: number): number {
  const all = new Map<number, Times>()
  for (const entry of readdirSync('/proc')) {
    const pid = Number(entry)
    const times = Number.isInteger(pid) ? readTimes(pid) : null
    if (times !== null) all.set(pid, times)
  }
  let sum = 0
  for (const [pid, times] of all) {
    if (isWithin(all, pid, root)) sum += times.own + times.ended
  }
  return sum
}

function isWithin(all: ReadonlyMap<number, Times>, pid: number, root: number): boolean {
  for (let at: number | undefined = pid; at !== undefined && at > 1; at = all.get(at)?.parent) {
    if (at === root) return true
  }
  return false
}

export function rssMegabytes(pid: number): number {
  try {
    const match = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))
    return Number(match?.[1] ?? 0) / 1024
  } catch {
    return 0
  }
}

export interface MachineTimes {
  total: number
  steal: number
  busy: number
}

/** Of all cores together, since the machine started. */
export function machineTimes(): MachineTimes {
  const [line] = readFileSync('/proc/stat', 'utf8').split('\n')
  const [user = 0, nice = 0, system = 0, idle = 0, wait = 0, irq = 0, soft = 0, steal = 0] = (
    line as string
  )
    .trim()
    .split(/\s+/)
    .slice(1)
    .map((ticks) => Number(ticks) / TICKS_PER_SECOND)
  const busy = user + nice + system + irq + soft + steal
  return { total: busy + idle + wait, steal, busy }
}
