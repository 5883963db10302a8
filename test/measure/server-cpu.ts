// Processor time of PostgreSQL's processes, of several servers on one machine.

import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** Of every process that works in a folder of this one, as PostgreSQL's do in their data, in microseconds. */
export function readCpuUs(folder: string): ReadonlyMap<string, number> {
  const used = new Map<string, number>()
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const cwd = readlinkSync(`/proc/${pid}/cwd`)
      if (!cwd.startsWith(`${folder}/`)) continue
      const server = cwd.slice(folder.length + 1).split('/')[0] as string
      const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
      // Its own, and that of children that have ended.
      const ticks = [11, 12, 13, 14].reduce((sum, index) => sum + Number(fields[index]), 0)
      used.set(server, (used.get(server) ?? 0) + ticks * 10_000)
    } catch {
      // It has ended.
    }
  }
  return used
}

/** What each server has used between two readings. */
export function usedBetween(
  before: ReadonlyMap<string, number>,
  after: ReadonlyMap<string, number>,
): ReadonlyMap<string, number> {
  return new Map([...after].map(([server, us]) => [server, us - (before.get(server) ?? 0)]))
}
