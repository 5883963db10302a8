// Which service a command calls, and as whom: --url and --key-file first, then the settings, then the
// sandbox whose credentials are in the data directory.

import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { isUuid } from '../server/core/uuid.ts'
import { Api, keyBearer, tokenBearer } from './api.ts'
import { UsageError } from './run.ts'
import { readSandboxFile, type SandboxFile } from './sandbox-file.ts'
import type { CallerConfig } from './settings.ts'

export interface TargetOptions {
  url?: string | undefined
  keyFile?: string | undefined
  account?: string | undefined
  clientId?: string | undefined
  clientSecret?: string | undefined
}

export class Target {
  readonly config: CallerConfig
  readonly #options: TargetOptions
  readonly #note: (text: string) => void
  #sandbox: Promise<SandboxFile | null> | null = null
  #isSaid = false

  constructor(config: CallerConfig, options: TargetOptions, note: (text: string) => void) {
    this.config = config
    this.#options = options
    this.#note = note
  }

  /** For /operator/v1. */
  async operator(): Promise<Api> {
    const key = this.#options.keyFile
      ? await readSecretFile(this.#options.keyFile)
      : this.config.operatorKey
    const url = this.#options.url ?? this.config.url
    if (url !== null && key !== null) return operatorApi(url, key)
    const sandbox = await this.#sandboxFor(url)
    const operatorKey = key ?? sandbox?.operatorKey
    const baseUrl = url ?? sandbox?.baseUrl
    if (baseUrl === undefined || operatorKey === undefined) {
      throw new UsageError(
        baseUrl === undefined
          ? `no service is named. Start a sandbox with npm start, or give --url and PAYBELL_OPERATOR_KEY.${this.#looked()}`
          : 'no operator key is given. Set PAYBELL_OPERATOR_KEY, or give --key-file FILE.',
      )
    }
    return operatorApi(baseUrl, operatorKey)
  }

  /**
   * For what both sides may read. As the operator where a key is given or a sandbox has one, because the operator
   * sees more; else with a client's credentials.
   */
  async reader(): Promise<{ api: Api; isOperator: boolean }> {
    const hasKey = this.#options.keyFile !== undefined || this.config.operatorKey !== null
    const hasCredentials = this.config.clientId !== null && this.config.clientSecret !== null
    const isClient =
      !hasKey &&
      hasCredentials &&
      (await this.#sandboxFor(this.#options.url ?? this.config.url)) === null
    if (isClient) return { api: await this.client(), isOperator: false }
    return { api: await this.operator(), isOperator: true }
  }

  /** For the client's side: what an integrator does, with a token made from the credentials. */
  async client(onTokenRefused?: () => void): Promise<Api> {
    const clientId = this.#options.clientId ?? this.config.clientId
    const clientSecret = this.#options.clientSecret ?? this.config.clientSecret
    const url = this.#options.url ?? this.config.url
    const isGiven = clientId !== null && clientSecret !== null
    const sandbox = url !== null && isGiven ? null : await this.#sandboxFor(url)
    const baseUrl = url ?? sandbox?.baseUrl
    if (baseUrl === undefined) {
      throw new UsageError(
        `no service is named. Start a sandbox with npm start, or give --url.${this.#looked()}`,
      )
    }
    const credentials = isGiven
      ? { clientId, clientSecret }
      : sandbox && { clientId: sandbox.clientId, clientSecret: sandbox.clientSecret }
    if (!credentials) {
      throw new UsageError(
        'no credentials are given. Set PAYBELL_CLIENT_ID and PAYBELL_CLIENT_SECRET.',
      )
    }
    const bearer = tokenBearer(baseUrl, credentials)
    return new Api({
      url: baseUrl,
      bearer: {
        get: () => bearer.get(),
        refuse(token) {
          onTokenRefused?.()
          return bearer.refuse(token)
        },
      },
      refusedHint: 'Check PAYBELL_CLIENT_ID and PAYBELL_CLIENT_SECRET.',
    })
  }

  /** The account that is meant: --account, the setting, or the sandbox's own. */
  async accountId(): Promise<string> {
    const given = this.#options.account ?? this.config.accountId
    if (given !== null) {
      if (!isUuid(given)) throw new UsageError('the account must be a uuid.')
      return given.toLowerCase()
    }
    // The sandbox's own account goes with the sandbox's own client, and with no other.
    const isSandboxClient = (this.#options.clientId ?? this.config.clientId) === null
    const sandbox = isSandboxClient
      ? await this.#sandboxFor(this.#options.url ?? this.config.url)
      : null
    if (sandbox === null) throw new UsageError('no account is named. Give --account ID.')
    return sandbox.accountId
  }

  /** What `npm start` wrote, if it is the service that is meant. */
  async #sandboxFor(url: string | null): Promise<SandboxFile | null> {
    this.#sandbox ??= readSandboxFile(this.config.dataDir)
    const sandbox = await this.#sandbox
    if (sandbox === null || (url !== null && !isSameOrigin(url, sandbox.baseUrl))) return null
    if (!this.#isSaid) this.#note(`Using the sandbox at ${sandbox.baseUrl}.`)
    this.#isSaid = true
    return sandbox
  }

  #looked(): string {
    return ` (No sandbox.json in ${resolve(this.config.dataDir)}.)`
  }
}

export function operatorApi(url: string, key: string): Api {
  return new Api({
    url,
    bearer: keyBearer(key),
    refusedHint: 'The operator key was refused: check PAYBELL_OPERATOR_KEY or --key-file.',
  })
}

async function readSecretFile(path: string): Promise<string> {
  const text = await readFile(path, 'utf8').catch((error: Error) => {
    throw new UsageError(`${path} cannot be read: ${error.message}`)
  })
  const secret = text.trim()
  if (secret === '' || /\s/.test(secret)) throw new UsageError(`${path} must hold one key.`)
  return secret
}

function isSameOrigin(one: string, other: string): boolean {
  return new URL(one).origin === new URL(other).origin
}
