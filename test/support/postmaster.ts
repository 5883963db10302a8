// The embedded database's own process, as a test sees it: its number in the data directory, and whether
// it runs.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Null when no server has the data directory. */
export async function readPostmasterPid(dataDir: string): Promise<number | null> {
  const text = await readFile(join(dataDir, 'pg', 'postmaster.pid'), 'utf8').catch(() => '')
  const pid = Number.parseInt(text, 10)
  return Number.isInteger(pid) ? pid : null
}

/** The folder in /tmp that this run's socket lives in. */
export async function readRunDir(dataDir: string): Promise<string | null> {
  return readFile(join(dataDir, 'run-dir'), 'utf8').catch(() => null)
}

export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
