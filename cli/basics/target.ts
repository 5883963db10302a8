// Which service a command calls, and as whom: --url and --key-file first, then the profile that is named, then the
// settings, then the sandbox whose credentials are in the data directory, then the profile of `paybell login`. What is set
// beats what is found, also in who is meant: a caller who gave a client's credentials never gets the operator's rights
// because a key of the operator lies near.

import { resolve } from 'node:path'
import type { Credentials } from '../../sdk/src/calling/client-caller.ts'
import { isSafeForSecrets } from '../../sdk/src/calling/service-options.ts'
import type { PrivateKey } from '../../sdk/src/plain/private-key.ts'
import { isUuid } from '../../server/core/plain/uuid.ts'
import { type Agent, Api, keyBearer } from './api.ts'
import { clientBearer, readClientKey, readClientKeyFile } from './client-credentials.ts'
import { readGivenText } from './given-file.ts'
import { Profiles, type SavedService } from './profiles.ts'
import { UsageError } from './run.ts'
import { readSandboxFile } from './sandbox-file.ts'
import type { CallerConfig } from './settings.ts'

export interface TargetOptions {
  url?: string | undefined
  keyFile?: string | undefined
  account?: string | undefined
  clientId?: string | undefined
  clientSecret?: string | undefined
  clientSecretFile?: string | undefined
  profile?: string | undefined
}

type Note = (text: string) => void

interface Found {
  service: SavedService
  /** In words, for the note. */
  as: string
}

export class Target {
  readonly config: CallerConfig
  readonly #options: TargetOptions
  readonly #note: Note
  readonly #hint: Note
  /** Named by the caller, who then means nothing that the settings say. */
  readonly #profileName: string | null
  #found: Promise<Found | null> | null = null
  #isSaid = false
  /** What was found, in words. */
  #as = ''
  #agent: Agent = 'paybell'

  /** `hint`: for people only. */
  constructor(config: CallerConfig, options: TargetOptions, note: Note, hint: Note = () => {}) {
    this.#profileName = options.profile ?? config.profile
    this.config = this.#profileName === null ? config : { ...config, ...NO_SERVICE }
    this.#options = options
    this.#note = note
    this.#hint = hint
  }

  /** What is called from here on is said to come from this program. */
  actAs(agent: Agent): void {
    this.#agent = agent
  }

  /** For /operator/v1. */
  async operator(): Promise<Api> {
    const key = this.#options.keyFile
      ? await readSecretFile(this.#options.keyFile)
      : this.config.operatorKey
    const url = this.#options.url ?? this.config.url
    if (url !== null && key !== null) {
      this.#sayAs('the operator', url, null)
      return this.#operatorApi(url, key)
    }
    const saved = await this.#savedAt(url)
    const operatorKey = key ?? saved?.operatorKey
    const baseUrl = url ?? saved?.baseUrl
    if (baseUrl === undefined || operatorKey === undefined) {
      throw new UsageError(
        baseUrl === undefined
          ? `no service is named. Sign in with paybell login --url URL, give --url and PAYBELL_OPERATOR_KEY, or start a sandbox.${this.#looked()}`
          : 'no operator key is given. Set PAYBELL_OPERATOR_KEY, give --key-file FILE, or sign in: paybell login --operator',
      )
    }
    this.#sayAs('the operator', baseUrl, saved)
    return this.#operatorApi(baseUrl, operatorKey)
  }

  async #operatorApi(url: string, key: string): Promise<Api> {
    await this.assertSafe(url)
    return operatorApi(url, key, this.#agent)
  }

  /**
   * For what both sides may read: as the one whose key or credentials are set. Where none are, as the operator if the
   * service that was found has a key, because the operator sees more.
   */
  async reader(): Promise<{ api: Api; isOperator: boolean }> {
    const isOperator = this.#isOperatorSet() ?? (await this.#isOperatorFound())
    return { api: await (isOperator ? this.operator() : this.client()), isOperator }
  }

  /** Null when neither is set. Half of a client's credentials counts: `client` says what is missing. */
  #isOperatorSet(): boolean | null {
    const { keyFile, clientId, clientSecret, clientSecretFile } = this.#options
    if (keyFile !== undefined) return true
    if ((clientId ?? clientSecret ?? clientSecretFile) !== undefined) return false
    if (this.config.operatorKey !== null) return true
    const { clientId: ofSettings, clientSecret: secret, clientKey } = this.config
    return (ofSettings ?? secret ?? clientKey) === null ? null : false
  }

  async #isOperatorFound(): Promise<boolean> {
    const saved = await this.#savedAt(this.#options.url ?? this.config.url)
    return saved?.operatorKey !== undefined || saved?.clientId === undefined
  }

  /** For the client's side: what an integrator does, with a token made from the credentials. */
  async client(onTokenRefused?: () => void): Promise<Api> {
    const clientId = this.#options.clientId ?? this.config.clientId
    const proof = await this.#proof()
    const url = this.#options.url ?? this.config.url
    const isGiven = clientId !== null && proof !== null
    const saved = url !== null && isGiven ? null : await this.#savedAt(url)
    const baseUrl = url ?? saved?.baseUrl
    if (baseUrl === undefined) {
      throw new UsageError(
        `no service is named. Sign in with paybell login --url URL, give --url, or start a sandbox.${this.#looked()}`,
      )
    }
    const isHalf = (clientId === null) !== (proof === null)
    if (isHalf && !(clientId !== null && clientId === saved?.clientId)) {
      const name = proof && 'privateKey' in proof ? 'PAYBELL_CLIENT_KEY' : 'PAYBELL_CLIENT_SECRET'
      throw new UsageError(
        `only one of PAYBELL_CLIENT_ID and ${name} is set. Set both, or none of them.`,
      )
    }
    const credentials = isGiven ? { clientId, ...proof } : await credentialsOf(saved)
    if (!credentials) {
      throw new UsageError(
        'no credentials are given. Set PAYBELL_CLIENT_ID and PAYBELL_CLIENT_SECRET (or PAYBELL_CLIENT_KEY_FILE), or sign in: paybell login',
      )
    }
    this.#sayAs(`the client ${credentials.clientId}`, baseUrl, saved)
    await this.assertSafe(baseUrl)
    const bearer = clientBearer(baseUrl, credentials)
    return new Api({
      url: baseUrl,
      agent: this.#agent,
      bearer: {
        get: () => bearer.get(),
        refuse(token) {
          onTokenRefused?.()
          return bearer.refuse(token)
        },
      },
      refusedHint:
        'privateKey' in credentials
          ? 'Check PAYBELL_CLIENT_ID, that PAYBELL_URL is the address by which the service names itself, and that the operator has the public part of this key.'
          : 'Check PAYBELL_CLIENT_ID and PAYBELL_CLIENT_SECRET.',
    })
  }

  /** What is shown for the client that is named; an argument beats the settings. */
  async #proof(): Promise<{ clientSecret: string } | { privateKey: PrivateKey } | null> {
    const { clientSecret, clientSecretFile } = this.#options
    if (clientSecret !== undefined && clientSecretFile !== undefined) {
      throw new UsageError('give --client-secret or --client-secret-file, not both.')
    }
    const given =
      clientSecretFile === undefined ? clientSecret : await readSecretFile(clientSecretFile)
    if (given !== undefined) return { clientSecret: given }
    const { clientSecret: secret, clientKey } = this.config
    if (secret !== null) return { clientSecret: secret }
    return clientKey === null ? null : { privateKey: readClientKey(clientKey) }
  }

  /** Throws where a secret would go in clear to another machine, unless the caller allows that. */
  async assertSafe(url: string): Promise<void> {
    if (this.config.allowsInsecureHttp || isSafeForSecrets(new URL(url))) return
    // The sandbox of this machine listens wherever it was asked to.
    const sandbox = await readSandboxFile(this.config.dataDir).catch(() => null)
    if (sandbox !== null && isSameOrigin(url, sandbox.baseUrl)) return
    throw new UsageError(
      `${new URL(url).origin} is not https://, so your secret would be sent in clear. Give the address that speaks TLS. In a network that you trust, set PAYBELL_ALLOW_INSECURE_HTTP=true.`,
    )
  }

  /** For what needs no credentials. */
  async anyone(): Promise<Api> {
    const given = this.#options.url ?? this.config.url
    const saved = given === null ? await this.#savedAt(null) : null
    const url = given ?? saved?.baseUrl
    if (url === undefined) {
      throw new UsageError(`no service is named. Give --url, or start a sandbox.${this.#looked()}`)
    }
    this.#sayAs(null, url, saved)
    const refusedHint = 'It asks for credentials: check the address.'
    return new Api({ url, agent: this.#agent, bearer: null, refusedHint })
  }

  /** The account that is meant: --account, the setting, or the sandbox's own. */
  async accountId(): Promise<string> {
    const given = this.#options.account ?? this.config.accountId
    if (given !== null) {
      if (!isUuid(given)) throw new UsageError('the account must be a uuid.')
      return given.toLowerCase()
    }
    // The account of a known service goes with its own client, and with no other.
    const isOwnClient = (this.#options.clientId ?? this.config.clientId) === null
    const saved = isOwnClient ? await this.#savedAt(this.#options.url ?? this.config.url) : null
    if (saved?.accountId === undefined) {
      throw new UsageError('no account is named. Give --account ID.')
    }
    return saved.accountId
  }

  /** What a profile or `npm start` wrote, if it is the service that is meant: its keys are sent to no other. */
  async #savedAt(url: string | null): Promise<SavedService | null> {
    this.#found ??= this.#find()
    const found = await this.#found
    if (found === null || (url !== null && !isSameOrigin(url, found.service.baseUrl))) return null
    this.#as = found.as
    return found.service
  }

  /** Once: what was found is always said, and as whom; what the caller has set, to people only. */
  #sayAs(whom: string | null, url: string, saved: SavedService | null): void {
    if (this.#isSaid) return
    this.#isSaid = true
    const as = whom === null ? '' : ` as ${whom}`
    if (saved === null) this.#hint(`Calling ${url}${as}.`)
    else this.#note(`Using ${this.#as} at ${url}${as}.`)
  }

  async #find(): Promise<Found | null> {
    const profiles = new Profiles(this.config.configDir)
    if (this.#profileName !== null) {
      const profile = await profiles.find(this.#profileName)
      if (profile !== null) return asFound(profile)
      throw new UsageError(
        `there is no profile ${this.#profileName}. See them: paybell profiles list`,
      )
    }
    const sandbox = await readSandboxFile(this.config.dataDir)
    if (sandbox !== null) return { service: sandbox, as: 'the sandbox' }
    const profile = await profiles.find(null)
    return profile === null ? null : asFound(profile)
  }

  #looked(): string {
    return ` (No sandbox.json in ${resolve(this.config.dataDir)}.)`
  }
}

/** Where a profile is named, settings that name another service or another caller do not count. */
const NO_SERVICE = {
  url: null,
  operatorKey: null,
  clientId: null,
  clientSecret: null,
  clientKey: null,
  accountId: null,
}

function asFound({ name, service }: { name: string; service: SavedService }): Found {
  return { service, as: `the profile ${name}` }
}

async function credentialsOf(saved: SavedService | null): Promise<Credentials | null> {
  const { clientId, clientSecret, clientKeyFile } = saved ?? {}
  if (clientId === undefined) return null
  if (clientKeyFile !== undefined) {
    return { clientId, privateKey: await readClientKeyFile(clientKeyFile) }
  }
  return clientSecret === undefined ? null : { clientId, clientSecret }
}

/** Of the session of a person who signed in with the company, which stands in the place of a key. */
export const SESSION_PREFIX = 'pbp_'

export function operatorApi(url: string, key: string, agent?: Agent): Api {
  return new Api({
    url,
    agent,
    bearer: keyBearer(key),
    refusedHint: key.startsWith(SESSION_PREFIX)
      ? 'Your session was refused. Sign in again: paybell login --sso'
      : 'The operator key was refused: check PAYBELL_OPERATOR_KEY or --key-file.',
  })
}

async function readSecretFile(path: string): Promise<string> {
  const text = await readGivenText(path)
  const secret = text.trim()
  if (secret === '' || /\s/.test(secret)) throw new UsageError(`${path} must hold one key.`)
  return secret
}

export function isSameOrigin(one: string, other: string): boolean {
  return new URL(one).origin === new URL(other).origin
}
