// The shared keys of this machine's listeners. Each stays the same from one start to the next, so that a
// developer puts it into the receiver's settings once. Only its owner can read the file.

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
    const member = memberOf(identity)
    const known = keys[member]?.sharedKey
    if (known !== undefined) return known
    const sharedKey = generateSharedKey()
    await this.#write({ ...keys, [member]: { sharedKey } })
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
      // Reported below, like JSON that is no object.
    }
    throw new Error(`${this.path} is not readable JSON. Correct it, or delete it.`)
  }

  /** Whole or not at all: half a file would lose the keys, and the next start would make others. */
  async #write(keys: Keys): Promise<void> {
    await mkdir(dirname(this.path), { recursive: true, mode: 0o700 })
    const draft = `${this.path}.${process.pid}`
    await writeFile(draft, `${JSON.stringify(keys, null, 2)}\n`, { mode: 0o600 })
    await chmod(draft, 0o600)
    await rename(draft, this.path)
  }
}

function memberOf({ url, accountId, name }: ListenerIdentity): string {
  return `${new URL(url).origin} ${accountId} ${name}`
}
