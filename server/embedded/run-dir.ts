// The run directory: a private folder in /tmp from start to stop, for the socket and for programs that
// had to be copied. Its path is short, because that of a Unix socket may have 103 bytes (107 on Linux),
// and a data directory may lie deeper. The data directory stores the path, so that the next start can
// remove the folder after a crash.
import { chmod, lchown, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import type { RunAs } from './run-as.ts'

const BASE_BYTES_MAX = 75
const PREFIX = 'paybell-'

export async function makeRunDir(dataDir: string, runAs: RunAs): Promise<string> {
  await removeRunDir(dataDir)
  for (const base of bases()) {
    if (process.platform !== 'win32' && Buffer.byteLength(base) > BASE_BYTES_MAX) continue
    if (!(await canEnter(base, runAs))) continue
    const dir = await mkdtemp(join(base, PREFIX))
    await writeFile(memoryOf(dataDir), dir, { mode: 0o600 })
    await chmod(dir, 0o700)
    if (runAs) await lchown(dir, runAs.uid, runAs.gid)
    return dir
  }
  const tried = bases().join(', ')
  throw new Error(`PostgreSQL needs a folder for its socket; too deep or closed to it: ${tried}`)
}

/** Removes the folder of the last start, if there is one. */
export async function removeRunDir(dataDir: string): Promise<void> {
  const dir = await readFile(memoryOf(dataDir), 'utf8').catch(() => '')
  // A user who can write into the data directory must not choose what root deletes.
  if (basename(dir).startsWith(PREFIX) && bases().includes(dirname(dir))) {
    await rm(dir, { recursive: true, force: true, maxRetries: 3 })
  }
  await rm(memoryOf(dataDir), { force: true })
}

function memoryOf(dataDir: string): string {
  return join(dataDir, 'run-dir')
}

function bases(): string[] {
  return process.platform === 'win32' ? [tmpdir()] : [tmpdir(), '/tmp', '/var/tmp']
}

async function canEnter(path: string, runAs: RunAs): Promise<boolean> {
  const found = await stat(path).catch(() => undefined)
  if (!found) return false
  if (!runAs) return true
  const needed = found.uid === runAs.uid ? 0o100 : 0o001
  if ((found.mode & needed) === 0) return false
  return dirname(path) === path || canEnter(dirname(path), runAs)
}
