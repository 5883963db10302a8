// One Paybell per data directory. The lock is an exclusive SQLite transaction on an empty file, that is,
// a lock of the kernel: it is taken atomically, ends with the process even after kill -9, and needs no
// addon. No other code in this process may open the file: closing it would unlock it.
import { chmod, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

export interface DataDirLock {
  release(): Promise<void>
}

// Keeps the locks reachable: the garbage collector would otherwise release them.
const held = new Set<DatabaseSync>()
const SQLITE_BUSY = 5

export async function lockDataDir(dataDir: string): Promise<DataDirLock> {
  const holderFile = join(dataDir, 'lock-holder')
  const lock = takeLock(dataDir)
  if (lock === undefined) throw new Error(inUseMessage(dataDir, await readHolder(holderFile)))
  held.add(lock)
  await chmod(join(dataDir, 'lock'), 0o600)
  // Only for the message above; the lock decides. A file left by a killed root process is replaced.
  await rm(holderFile, { force: true })
  await writeFile(holderFile, `${process.pid}\n`, { mode: 0o600 })
  return {
    async release() {
      if (!held.delete(lock)) return
      await rm(holderFile, { force: true })
      lock.close()
    },
  }
}

function takeLock(dataDir: string): DatabaseSync | undefined {
  try {
    const database = new DatabaseSync(join(dataDir, 'lock'), { timeout: 0 })
    // In memory, or a crash would leave a journal of SQLite in the folder.
    database.exec('pragma journal_mode = memory; begin exclusive')
    return database
  } catch (cause) {
    if ((cause as { errcode?: number }).errcode === SQLITE_BUSY) return undefined
    throw new Error(
      `The data directory ${dataDir} cannot be used: this user cannot open and lock the ` +
        'file "lock" in it. Make it theirs, or choose another directory (PAYBELL_DATA_DIR).',
      { cause },
    )
  }
}

async function readHolder(file: string): Promise<string> {
  const pid = (await readFile(file, 'utf8').catch(() => '')).trim()
  return pid === '' ? 'another process' : `process ${pid}`
}

function inUseMessage(dataDir: string, holder: string): string {
  return (
    `The data directory ${dataDir} is in use by ${holder}. ` +
    'Stop that one first, or give this one a directory of its own (PAYBELL_DATA_DIR).'
  )
}
