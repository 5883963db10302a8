// The services that this machine is signed in to, each under a name: their addresses and credentials, for commands
// that are given neither.

import { OwnedFile } from './owned-file.ts'

/** What is known of a service beforehand: by a profile, or by the file of a sandbox. */
export interface SavedService {
  baseUrl: string
  operatorKey?: string
  clientId?: string
  clientSecret?: string
  /** Where its private key is, instead: the key stays in its file. */
  clientKeyFile?: string
  accountId?: string
}

interface ProfilesFile {
  /** The profile of commands that name none. */
  default?: string
  profiles?: Record<string, SavedService>
}

export interface NamedProfile {
  name: string
  service: SavedService
  isDefault: boolean
}

export const DEFAULT_PROFILE = 'default'
const PROFILES_MAX = 100

export class Profiles {
  readonly #file: OwnedFile<ProfilesFile>

  constructor(configDir: string | null) {
    this.#file = new OwnedFile(configDir, 'profiles.json')
  }

  get path(): string {
    return this.#file.path
  }

  /** By name. */
  async list(): Promise<readonly NamedProfile[]> {
    const { default: chosen, profiles = {} } = (await this.#file.read()) ?? {}
    return Object.entries(profiles)
      .map(([name, service]) => ({ name, service, isDefault: name === chosen }))
      .toSorted((a, b) => (a.name < b.name ? -1 : 1))
  }

  /** The one of this name; without one, the one that commands use which name none. */
  async find(name: string | null): Promise<NamedProfile | null> {
    const all = await this.list()
    return all.find((each) => (name === null ? each.isDefault : each.name === name)) ?? null
  }

  /** The first one is what commands use that name none. */
  async save(name: string, service: SavedService): Promise<void> {
    const { default: chosen, profiles = {} } = (await this.#file.read()) ?? {}
    if (!Object.hasOwn(profiles, name) && Object.keys(profiles).length >= PROFILES_MAX) {
      throw new Error(`there are ${PROFILES_MAX} profiles. Remove one: paybell logout NAME`)
    }
    await this.#file.write({ default: chosen ?? name, profiles: { ...profiles, [name]: service } })
  }

  /** False when there is none of this name. */
  async use(name: string): Promise<boolean> {
    const { profiles = {} } = (await this.#file.read()) ?? {}
    if (!Object.hasOwn(profiles, name)) return false
    await this.#file.write({ default: name, profiles })
    return true
  }

  /** False when there is none of this name. */
  async remove(name: string): Promise<boolean> {
    const { default: chosen, profiles = {} } = (await this.#file.read()) ?? {}
    if (!Object.hasOwn(profiles, name)) return false
    const { [name]: _, ...rest } = profiles
    await this.#file.write({
      ...(chosen === undefined || chosen === name ? {} : { default: chosen }),
      profiles: rest,
    })
    return true
  }
}
