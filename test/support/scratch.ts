// Where a test run has its temporary folders: in memory, where the machine has room there. A clone of the template
// database is 700 files, and making and removing them on a disk costs the kernel ten times as much.

import { chmod, mkdtemp, rm, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const MEMORY = '/dev/shm'

/** A run has some 600 MB at a time. Containers often have 64 MB there. */
const BYTES_MIN = 4 * 1024 ** 3

/** For this process and all that are started from here on. Returns how to remove it, with what is left in it. */
export async function makeScratch(): Promise<() => Promise<void>> {
  const parent = (await hasRoom(MEMORY)) ? MEMORY : tmpdir()
  const folder = await mkdtemp(join(parent, 'paybell-tests-'))
  // PostgreSQL refuses to be root, and must get to its own folder inside.
  await chmod(folder, 0o711)
  process.env.TMPDIR = folder
  return () => rm(folder, { recursive: true, force: true, maxRetries: 5 })
}

async function hasRoom(folder: string): Promise<boolean> {
  const found = await statfs(folder).catch(() => null)
  return found !== null && found.bavail * found.bsize >= BYTES_MIN
}
