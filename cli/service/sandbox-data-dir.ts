// The folder of a sandbox, made at the first start. When it cannot be made, the error names the setting.

import { mkdir } from 'node:fs/promises'
import { resolve } from 'node:path'

/** Returns its whole path. */
export async function makeDataDir(path: string): Promise<string> {
  const dataDir = resolve(path)
  try {
    await mkdir(dataDir, { recursive: true, mode: 0o700 })
  } catch (error) {
    const why = reasonOf((error as NodeJS.ErrnoException).code)
    if (why === null) throw error
    throw new Error(
      `the data directory ${dataDir} cannot be used: ${why}. Choose another directory with PAYBELL_DATA_DIR.`,
      { cause: error },
    )
  }
  return dataDir
}

function reasonOf(code: string | undefined): string | null {
  switch (code) {
    case 'EEXIST':
      return 'there is a file of this name'
    case 'ENOTDIR':
      return 'a part of its path is a file'
    case 'EACCES':
    case 'EPERM':
      return 'this user may not make it'
    case 'EROFS':
      return 'it lies on a file system that cannot be written to'
    case 'ENOSPC':
      return 'the disk is full'
    default:
      return null
  }
}
