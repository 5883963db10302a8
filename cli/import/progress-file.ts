// The position of an import, in a small file beside its input, written whole after every answer. It
// says which file and which service it belongs to: an import must not go on in the middle of a file
// that was replaced, nor send another service only the rest.

import { createHash } from 'node:crypto'
import { open, readFile, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { UsageError } from '../basics/run.ts'

export interface ImportCounts {
  /** Lines that were sent, blank ones excepted. */
  lines: number
  /** Lines that made an event. */
  events: number
  /** Lines that changed nothing, or came with a stale version. */
  unchanged: number
  bad: number
}

export interface ImportProgress {
  version: 1
  service: string
  /** SHA-256 of the first bytes of the input, and of how many. */
  head: { bytes: number; sha256: string }
  /** Everything before it is recorded. */
  offset: number
  line: number
  /** The batch that begins there, when some of its layers are recorded; else null. Files of earlier
   *  versions have this name for it. */
  window: { end: number; roundsDone: number } | null
  /** How long the file of bad lines is; lines beyond that are reported again. */
  badBytes: number
  counts: ImportCounts
  isFinished: boolean
  updatedAt: string
}

/** Enough to tell files apart: ids and times are in the first line already. */
export const HEAD_BYTES_MAX = 64 * 1024

export function headOf(bytes: Uint8Array): ImportProgress['head'] {
  const head = bytes.subarray(0, HEAD_BYTES_MAX)
  return { bytes: head.length, sha256: createHash('sha256').update(head).digest('hex') }
}

/** True when the input begins as it did; it may have grown since. */
export function isSameHead(head: ImportProgress['head'], bytes: Uint8Array): boolean {
  return bytes.length >= head.bytes && headOf(bytes.subarray(0, head.bytes)).sha256 === head.sha256
}

export async function readProgress(path: string): Promise<ImportProgress | null> {
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
  try {
    const progress = JSON.parse(text) as ImportProgress
    if (progress.version === 1 && Number.isInteger(progress.offset)) return progress
  } catch {
    // Reported below.
  }
  throw new UsageError(`${path} is not the progress of an import. Give another --state FILE.`)
}

/** Whole, and on disk before anything else is sent: an older one would repeat more than a layer. */
export async function writeProgress(path: string, progress: object): Promise<void> {
  const draft = `${path}.new`
  const file = await open(draft, 'w', 0o600)
  try {
    await file.writeFile(`${JSON.stringify(progress)}\n`)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(draft, path)
  // Windows refuses it for a folder.
  if (process.platform === 'win32') return
  const folder = await open(dirname(path), 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

/** Two imports of one file at once would each undo what the other did. */
export async function lockProgress(path: string): Promise<() => Promise<void>> {
  const lock = `${path}.lock`
  for (let tries = 0; ; tries++) {
    try {
      const file = await open(lock, 'wx', 0o600)
      await file.writeFile(String(process.pid))
      await file.close()
      return () => rm(lock, { force: true })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
    const pid = Number(await readFile(lock, 'utf8').catch(() => ''))
    if (tries > 2 || isAlive(pid)) {
      throw new UsageError(
        `another import of this file is running${pid ? ` (process ${pid})` : ''}. If not, remove ${lock}.`,
      )
    }
    // Its owner was killed.
    await rm(lock, { force: true })
  }
}

/** This process holds no lock yet: its own number is that of one before it, as in a container, where each is the first. */
function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0 || pid === process.pid) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
