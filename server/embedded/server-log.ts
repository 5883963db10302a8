// PostgreSQL's own log, `<data dir>/pg.log`: never on the terminal, never larger than two files of
// 10 MB. PostgreSQL only appends, so the file can be emptied under it.
import { constants } from 'node:fs'
import { copyFile, type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'

const BYTES_MAX = 10 * 1024 * 1024
const CHECK_EVERY_MS = 60_000
const TAIL_BYTES_MAX = 4_096
const TAIL_LINES_MAX = 8

export interface ServerLog {
  /** For the standard output and error of PostgreSQL. */
  fd: number
  sizeBytes(): Promise<number>
  /** The last lines that were written after this position, without their timestamps. */
  tail(fromByte: number): Promise<string[]>
  close(): Promise<void>
}

export async function openServerLog(dataDir: string): Promise<ServerLog> {
  const path = join(dataDir, 'pg.log')
  const flags = constants.O_APPEND | constants.O_CREAT | constants.O_RDWR
  // Root may work in another user's folder: it must not follow a link there.
  const handle = await open(path, flags | (constants.O_NOFOLLOW ?? 0), 0o600)
  await bound(handle, path)
  const timer = setInterval(() => bound(handle, path).catch(() => {}), CHECK_EVERY_MS).unref()
  return {
    fd: handle.fd,
    sizeBytes: async () => (await handle.stat()).size,
    tail: (fromByte) => readTail(handle, fromByte),
    async close() {
      clearInterval(timer)
      await handle.close()
    },
  }
}

async function bound(handle: FileHandle, path: string): Promise<void> {
  if ((await handle.stat()).size <= BYTES_MAX) return
  await copyFile(path, `${path}.1`)
  await handle.truncate(0)
}

async function readTail(handle: FileHandle, fromByte: number): Promise<string[]> {
  const { size } = await handle.stat()
  const start = Math.max(Math.min(fromByte, size), size - TAIL_BYTES_MAX)
  const { buffer } = await handle.read(Buffer.alloc(size - start), 0, size - start, start)
  return buffer
    .toString('utf8')
    .split('\n')
    .map((line) => line.replace(/^[\d-]+ [\d:.]+ \w+ \[\d+\] /, '').trim())
    .filter((line) => line !== '')
    .slice(-TAIL_LINES_MAX)
}
