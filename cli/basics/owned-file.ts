// A small JSON file that only its owner can read, for what the commands keep between runs. It lies where the XDG
// rules have it.

import { chmod, mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'

export class OwnedFile<Content extends object> {
  readonly path: string

  /** `configDir` null: below the home directory. */
  constructor(configDir: string | null, name: string) {
    this.path = join(configDir ?? join(homedir(), '.config'), 'paybell', name)
  }

  /** Null when there is none yet. */
  async read(): Promise<Content | null> {
    let text: string
    try {
      text = await readFile(this.path, 'utf8')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
      throw new Error(`${this.path} cannot be read: ${(error as Error).message}`)
    }
    try {
      const content: unknown = JSON.parse(text)
      if (typeof content === 'object' && content !== null && !Array.isArray(content)) {
        return content as Content
      }
    } catch {
      // Reported below, like JSON that is no object.
    }
    throw new Error(`${this.path} is not readable JSON. Correct it, or delete it.`)
  }

  /** Whole or not at all: half a file would lose what it held. */
  async write(content: Content): Promise<void> {
    await mkdir(dirname(this.path), { recursive: true, mode: 0o700 })
    const draft = `${this.path}.${process.pid}`
    await writeFile(draft, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 })
    await chmod(draft, 0o600)
    await rename(draft, this.path)
  }
}
