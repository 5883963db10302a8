// Processor time of this process and of those that it has started and seen end, in seconds.

import { readFileSync } from 'node:fs'

/** The kernel's unit in /proc, on every Linux that Node runs on. */
const TICKS_A_SECOND = 100

/** Without /proc, this process alone. */
export function cpuSeconds(): number {
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8')
    // The name of the program may have blanks; it ends with the last bracket.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    // utime, stime, and both of the children that were waited for.
    const ticks = fields.slice(11, 15).map(Number)
    return ticks.reduce((sum, one) => sum + one, 0) / TICKS_A_SECOND
  } catch {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1e6
  }
}
