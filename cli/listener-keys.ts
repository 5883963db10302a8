// The shared keys of this machine's listeners, so that each stays the same from one start to the next:
// whoever has put it into their receiver's settings need not do so again. Readable by its owner alone.

import { chmod, mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { generateSharedKey } from './shared-key.ts'

export interface ListenerIdentity {
  /** The service's address. */
  url: string
  accountId: string
  name: string
}

type Keys = Record<string, { sharedKey: string }>

export class ListenerKeys {
  readonly path: string

  /** `configDir` null: below the home directory, as the XDG rules have it. */
  constructor(configDir: string | null) {
    this.path = join(configDir ?? join(homedir(), '.config'), 'paybell', 'listeners.json')
  }

  /** The key of this listener; made, and kept, when there is none yet. */
  async keyOf(identity: ListenerIdentity): Promise<string> {
    const keys = await this.#read()
    const place = placeOf(identity)
    const known = keys[place]?.sharedKey
    if (known !== undefined) return known
    const sharedKey = generateSharedKey()
    await this.#write({ ...keys, [place]: { sharedKey } })
    return sharedKey
  }

  async #read(): Promise<Keys> {
    let text: string
    try {
      text = await readFile(this.path, 'utf8')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {}
      throw new Error(`${this.path} cannot be read: ${(error as Error).message}`)
    }
    try {
      const keys: unknown = JSON.parse(text)
      if (typeof keys === 'object' && keys !== null && !Array.isArray(keys)) return keys as Keys
    } catch {
      // Told below, with what is no object.
    }
    throw new Error(`${this.path} is not what it was written as. Mend it, or delete it.`)
  }

  /** Whole or not at all: a key that is lost halfway would be another one next time. */
  async #write(keys: Keys): Promise<void> {
    await mkdir(dirname(this.path), { recursive: true, mode: 0o700 })
    const draft = `${this.path}.${process.pid}`
    await writeFile(draft, `${JSON.stringify(keys, null, 2)}\n`, { mode: 0o600 })
    await chmod(draft, 0o600)
    await rename(draft, this.path)
  }
}

function placeOf({ url, accountId, name }: ListenerIdentity): string {
  return `${new URL(url).origin} ${accountId} ${name}`
}
