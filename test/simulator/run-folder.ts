// The temporary folder of a run of the mutants, for all that it and its tests make: removed as the process ends, however it
// ends by itself. What a killed run has left, the next one removes.

import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const NAME = /^paybell-mutants-(\d+)-/

/** For this process and all that are started from here on. */
export function makeRunFolder(): string {
  const parent = tmpdir()
  for (const name of readdirSync(parent)) {
    const [, pid] = NAME.exec(name) ?? []
    if (pid !== undefined && !isRunning(Number(pid))) remove(join(parent, name))
  }
  const folder = mkdtempSync(join(parent, `paybell-mutants-${process.pid}-`))
  // PostgreSQL refuses to be root, and must get to its own folder inside.
  chmodSync(folder, 0o711)
  process.env.TMPDIR = folder
  process.on('exit', () => remove(folder))
  return folder
}

function remove(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}

/** One of another user, too, which only its owner may signal. */
function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
