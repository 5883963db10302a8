// The shared keys of this machine's listeners. Each stays the same from one start to the next, so that a
// developer puts it into the receiver's settings once. Only its owner can read the file.

import { OwnedFile } from '../basics/owned-file.ts'
import { generateSharedKey } from './shared-key.ts'

export interface ListenerIdentity {
  /** The service's address. */
  url: string
  accountId: string
  name: string
}

type Keys = Record<string, { sharedKey: string }>

export class ListenerKeys {
  readonly #file: OwnedFile<Keys>

  constructor(configDir: string | null) {
    this.#file = new OwnedFile(configDir, 'listeners.json')
  }

  get path(): string {
    return this.#file.path
  }

  /** The key of this listener; made, and kept, when there is none yet. */
  async keyOf(identity: ListenerIdentity): Promise<string> {
    const keys = (await this.#file.read()) ?? {}
    const member = memberOf(identity)
    const stored = keys[member]?.sharedKey
    if (stored !== undefined) return stored
    const sharedKey = generateSharedKey()
    await this.#file.write({ ...keys, [member]: { sharedKey } })
    return sharedKey
  }
}

function memberOf({ url, accountId, name }: ListenerIdentity): string {
  return `${new URL(url).origin} ${accountId} ${name}`
}
