// A log that survives: a line counts only when it is on disk. Lines that come together share one sync.

import { type FileHandle, open, readFile } from 'node:fs/promises'

export class SyncedLog {
  readonly #file: FileHandle
  #lines: string[] = []
  #waiting: (() => void)[] = []
  #isWriting = false

  private constructor(file: FileHandle) {
    this.#file = file
  }

  static async open(path: string): Promise<SyncedLog> {
    return new SyncedLog(await open(path, 'a'))
  }

  /** Resolves when the line is on disk. */
  write(line: object): Promise<void> {
    this.#lines.push(`${JSON.stringify(line)}\n`)
    return new Promise((resolve) => {
      this.#waiting.push(resolve)
      if (!this.#isWriting) void this.#flush()
    })
  }

  async close(): Promise<void> {
    await this.#file.close()
  }

  async #flush(): Promise<void> {
    this.#isWriting = true
    while (this.#lines.length > 0) {
      const text = this.#lines.join('')
      const waiting = this.#waiting
      this.#lines = []
      this.#waiting = []
      await this.#file.appendFile(text)
      await this.#file.datasync()
      for (const resolve of waiting) resolve()
    }
    this.#isWriting = false
  }
}

export async function readLines<T>(path: string): Promise<T[]> {
  const text = await readFile(path, 'utf8')
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as T)
}
