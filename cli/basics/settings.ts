// The settings of the commands that call a service instead of being one; docs/cli.md shows them.

import { readFileSync } from 'node:fs'
import { parseBaseUrl } from '../../server/core/network/base-url.ts'
import {
  ConfigError,
  type Environment,
  given,
  type ReadFile,
  readSetting,
  type Setting,
} from '../../server/core/plain/setting.ts'

/** What the commands read that call a service instead of being one. None is required by itself. */
export const CALLER_SETTINGS = [
  { name: 'PAYBELL_URL', about: 'Address of the service, where --url is not given.' },
  {
    name: 'PAYBELL_OPERATOR_KEY',
    secret: true,
    about: "The operator's key, or one made with `paybell keys create`.",
  },
  { name: 'PAYBELL_CLIENT_ID', about: "A client's id, for what an integrator does." },
  { name: 'PAYBELL_CLIENT_SECRET', secret: true, about: 'The secret of that client.' },
  {
    name: 'PAYBELL_CLIENT_KEY',
    secret: true,
    about: 'Instead of the secret: a private key of that client, as PEM or JWK.',
  },
  { name: 'PAYBELL_ACCOUNT_ID', about: 'The account, where --account is not given.' },
  {
    name: 'PAYBELL_SHARED_KEY',
    secret: true,
    about: 'The shared key of a webhook, where --shared-key is not given.',
  },
  {
    name: 'PAYBELL_ALLOW_INSECURE_HTTP',
    about: '`true`: keys and secrets may be sent over http:// to another machine.',
  },
  {
    name: 'PAYBELL_PROFILE',
    about: 'The profile of `paybell login`, where --profile is not given.',
  },
  {
    name: 'PAYBELL_DATA_DIR',
    fallback: '.paybell',
    about: 'Where the credentials of a sandbox are found.',
  },
  {
    name: 'XDG_CONFIG_HOME',
    about:
      'Where profiles and the shared keys of `paybell listen` are kept, in paybell/; ~/.config by default.',
  },
  { name: 'NO_COLOR', about: 'Any text turns colours off.' },
] as const satisfies readonly Setting[]

export interface CallerConfig {
  url: string | null
  operatorKey: string | null
  clientId: string | null
  clientSecret: string | null
  clientKey: string | null
  accountId: string | null
  sharedKey: string | null
  allowsInsecureHttp: boolean
  profile: string | null
  dataDir: string
  /** Null: below the home directory. */
  configDir: string | null
}

/** Read apart from the other settings, because it decides how their faults are printed. */
export function isColourRefused(env: Environment): boolean {
  return given(env.NO_COLOR) !== undefined || env.TERM === 'dumb'
}

/** Like loadConfig: pure, all faults at once, never a value. */
export function loadCallerConfig(
  env: Environment,
  readFile: ReadFile = (path) => readFileSync(path, 'utf8'),
): CallerConfig {
  const faults: string[] = []
  const read = (name: (typeof CALLER_SETTINGS)[number]['name']): string | null => {
    const setting = CALLER_SETTINGS.find((row) => row.name === name) as Setting
    return readSetting(setting, 'sandbox', env, readFile, faults) ?? null
  }
  const url = read('PAYBELL_URL')
  if (url !== null && parseBaseUrl(url) === undefined) {
    faults.push('PAYBELL_URL must be an absolute http or https URL')
  }
  const allowed = read('PAYBELL_ALLOW_INSECURE_HTTP')
  if (allowed !== null && allowed !== 'true' && allowed !== 'false') {
    faults.push('PAYBELL_ALLOW_INSECURE_HTTP must be true or false')
  }
  const config: CallerConfig = {
    url,
    operatorKey: read('PAYBELL_OPERATOR_KEY'),
    clientId: read('PAYBELL_CLIENT_ID'),
    clientSecret: read('PAYBELL_CLIENT_SECRET'),
    clientKey: read('PAYBELL_CLIENT_KEY'),
    accountId: read('PAYBELL_ACCOUNT_ID'),
    sharedKey: read('PAYBELL_SHARED_KEY'),
    allowsInsecureHttp: allowed === 'true',
    profile: read('PAYBELL_PROFILE'),
    dataDir: read('PAYBELL_DATA_DIR') ?? '.paybell',
    configDir: read('XDG_CONFIG_HOME'),
  }
  if (config.clientSecret !== null && config.clientKey !== null) {
    faults.push('PAYBELL_CLIENT_SECRET and PAYBELL_CLIENT_KEY are both set: keep one')
  }
  if (faults.length > 0) throw new ConfigError(faults)
  return Object.freeze(config)
}
