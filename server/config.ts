// Every setting, in one table. loadConfig is pure and the only reader of the environment: it reports
// all faults together, by name and never by value, and returns a frozen object.

import { readFileSync } from 'node:fs'
import { parseNetworks } from './core/network-rules.ts'

export type Mode = 'sandbox' | 'production'
export type Environment = Readonly<Record<string, string | undefined>>

interface Setting {
  name: string
  /** Shown in `.env.example`; the text a setting takes when it is left out. */
  fallback?: string
  /** Where the sandbox differs. */
  sandboxFallback?: string
  /** Secrets may come from a file named by `<NAME>_FILE`, and are never printed. */
  secret?: true
  /** Production refuses to start without it. */
  required?: true
  /** Has a meaning only in the sandbox; refused in production. */
  sandboxOnly?: true
  about: string
}

export const SETTINGS = [
  { name: 'HOST', fallback: '127.0.0.1', about: 'Address to listen on.' },
  { name: 'PORT', fallback: '8080', about: 'Port to listen on; 0 takes any free one.' },
  {
    name: 'PAYBELL_BASE_URL',
    about:
      'Public address of the service, used in links (by default host and port) and as the issuer of tokens (by default paybell).',
  },
  {
    name: 'PAYBELL_OPERATOR_PORT',
    about: 'Moves the operator routes and metrics to a port of their own.',
  },
  {
    name: 'PAYBELL_DATA_DIR',
    fallback: '.paybell',
    sandboxOnly: true,
    about: 'Where the sandbox keeps its database and credentials.',
  },
  {
    name: 'DATABASE_URL',
    required: true,
    secret: true,
    about: 'PostgreSQL 15 or later. The sandbox brings its own when this is left out.',
  },
  {
    name: 'PAYBELL_MASTER_KEY',
    required: true,
    secret: true,
    about:
      '32 bytes in base64 that seal all stored secrets; several, comma-separated, to rotate: the first one writes, all read. Make one with: openssl rand -base64 32',
  },
  {
    name: 'PAYBELL_OPERATOR_KEY',
    required: true,
    secret: true,
    about: "The operator's key for /operator/v1: at least 32 characters.",
  },
  {
    name: 'PAYBELL_TOKEN_TTL_SECONDS',
    fallback: '3600',
    about: 'Lifetime of an access token, 60 to 86400.',
  },
  {
    name: 'PAYBELL_MIN_SHARED_KEY_LENGTH',
    fallback: '16',
    sandboxFallback: '1',
    about: 'Fewest characters of a sharedKey, 1 to 256.',
  },
  {
    name: 'PAYBELL_MAX_ENDPOINTS',
    fallback: '50',
    about: 'Webhooks per account, and subscriptions per client, 1 to 1000.',
  },
  {
    name: 'PAYBELL_ORDER_PATIENCE',
    fallback: '1h',
    about:
      'How long a failing update holds back the later ones of its payment: 0s to 7d; 7d never gives way.',
  },
  {
    name: 'PAYBELL_REQUESTS_PER_SECOND',
    fallback: '200',
    sandboxFallback: '5000',
    about: 'API requests that one client may make per second, in bursts of twice that.',
  },
  {
    name: 'PAYBELL_ENDPOINT_RATE',
    about: 'Callbacks per second that one endpoint gets at most; without it, as many as it takes.',
  },
  {
    name: 'PAYBELL_RETENTION_DAYS',
    fallback: '30',
    about: 'How long events, attempts and finished deliveries are kept, 8 to 3650 days.',
  },
  {
    name: 'PAYBELL_ALLOWED_NETWORKS',
    about:
      'Private networks that callbacks may reach all the same: a comma-separated list of CIDRs.',
  },
  {
    name: 'PAYBELL_EXTRA_CA_FILE',
    about: 'PEM file of certificate authorities trusted for callbacks besides the usual ones.',
  },
  {
    name: 'PAYBELL_TRUSTED_PROXIES',
    about: 'CIDRs of reverse proxies whose X-Forwarded-For is believed.',
  },
  {
    name: 'PAYBELL_TIME_SCALE',
    fallback: '1',
    sandboxOnly: true,
    about: 'Runs the delivery clock this many times faster, 1 to 100000.',
  },
  {
    name: 'PAYBELL_LOG_LEVEL',
    fallback: 'info',
    sandboxFallback: 'warn',
    about: 'debug, info, warn, error or silent.',
  },
] as const satisfies readonly Setting[]

export type SettingName = (typeof SETTINGS)[number]['name']

export interface Config {
  mode: Mode
  host: string
  port: number
  baseUrl: string | null
  operatorPort: number | null
  dataDir: string
  databaseUrl: string | null
  masterKeys: readonly Buffer[]
  operatorKey: string | null
  tokenTtlSeconds: number
  sharedKeyLengthMin: number
  endpointsMax: number
  orderPatienceMs: number
  requestsPerSecond: number
  endpointRatePerSecond: number | null
  retentionDays: number
  allowedNetworks: readonly string[]
  extraCa: string | null
  trustedProxies: readonly string[]
  timeScale: number
  logLevel: string
}

/** Everything that is wrong with the settings, a line each. */
export class ConfigError extends Error {
  readonly faults: readonly string[]
  constructor(faults: readonly string[]) {
    super(`the settings do not conform:\n${faults.map((fault) => `  - ${fault}`).join('\n')}`)
    this.name = 'ConfigError'
    this.faults = faults
  }
}

type ReadFile = (path: string) => string

export function loadConfig(
  mode: Mode,
  env: Environment,
  readFile: ReadFile = (path) => readFileSync(path, 'utf8'),
): Config {
  const faults: string[] = []
  const texts = new Map<SettingName, string>()
  for (const setting of SETTINGS) {
    const text = readSetting(setting, mode, env, readFile, faults)
    if (text !== undefined) texts.set(setting.name, text)
  }

  /** Parses one setting; a fault names the setting and what it takes, never what was given. */
  const parse = <T>(name: SettingName, takes: string, parser: (text: string) => T | undefined) => {
    const text = texts.get(name)
    if (text === undefined) return undefined
    const value = parser(text)
    if (value === undefined) faults.push(`${name} must be ${takes}`)
    return value
  }
  const integer = (name: SettingName, min: number, max: number) =>
    parse(name, `a whole number from ${min} to ${max}`, (text) => parseInteger(text, min, max))

  const config: Config = {
    mode,
    host: texts.get('HOST') ?? '127.0.0.1',
    port: integer('PORT', 0, 65535) ?? 0,
    baseUrl: parse('PAYBELL_BASE_URL', 'an absolute http or https URL', parseBaseUrl) ?? null,
    operatorPort: integer('PAYBELL_OPERATOR_PORT', 0, 65535) ?? null,
    dataDir: texts.get('PAYBELL_DATA_DIR') ?? '.paybell',
    databaseUrl:
      parse('DATABASE_URL', 'a postgres:// or postgresql:// URL', (text) =>
        /^postgres(ql)?:\/\//.test(text) && URL.canParse(text) ? text : undefined,
      ) ?? null,
    masterKeys:
      parse('PAYBELL_MASTER_KEY', '32 random bytes in base64 (comma-separated)', parseMasterKeys) ??
      [],
    operatorKey:
      parse(
        'PAYBELL_OPERATOR_KEY',
        'a random text of 32 to 512 letters, digits and ._~+/-',
        (text) => parseOperatorKey(text),
      ) ?? null,
    tokenTtlSeconds: integer('PAYBELL_TOKEN_TTL_SECONDS', 60, 86_400) ?? 3600,
    sharedKeyLengthMin: integer('PAYBELL_MIN_SHARED_KEY_LENGTH', 1, 256) ?? 16,
    endpointsMax: integer('PAYBELL_MAX_ENDPOINTS', 1, 1000) ?? 50,
    orderPatienceMs:
      parse('PAYBELL_ORDER_PATIENCE', 'a span from 0s to 7d, such as 90s, 30m, 1h, 7d', (text) =>
        parseSpanMs(text),
      ) ?? 3_600_000,
    requestsPerSecond: integer('PAYBELL_REQUESTS_PER_SECOND', 1, 1_000_000) ?? 200,
    endpointRatePerSecond: integer('PAYBELL_ENDPOINT_RATE', 1, 100_000) ?? null,
    retentionDays: integer('PAYBELL_RETENTION_DAYS', 8, 3650) ?? 30,
    allowedNetworks:
      parse('PAYBELL_ALLOWED_NETWORKS', 'a comma-separated list of CIDRs', parseCidrs) ?? [],
    extraCa:
      parse('PAYBELL_EXTRA_CA_FILE', 'the path of a readable PEM file', (path) => {
        const pem = tryRead(path, readFile)
        return pem?.includes('-----BEGIN CERTIFICATE-----') ? pem : undefined
      }) ?? null,
    trustedProxies:
      parse('PAYBELL_TRUSTED_PROXIES', 'a comma-separated list of CIDRs', parseCidrs) ?? [],
    timeScale: integer('PAYBELL_TIME_SCALE', 1, 100_000) ?? 1,
    logLevel:
      parse('PAYBELL_LOG_LEVEL', 'debug, info, warn, error or silent', (text) =>
        ['debug', 'info', 'warn', 'error', 'silent'].includes(text) ? text : undefined,
      ) ?? 'info',
  }
  if (faults.length > 0) throw new ConfigError(faults)
  return Object.freeze(config)
}

/** The settings as they were resolved, for the log at start: secrets only as set or unset. */
export function describeConfig(config: Config): Record<string, unknown> {
  const { masterKeys, operatorKey, databaseUrl, extraCa, ...open } = config
  return {
    ...open,
    masterKeysConfigured: masterKeys.length,
    operatorKeyConfigured: operatorKey !== null,
    databaseUrlConfigured: databaseUrl !== null,
    extraCaConfigured: extraCa !== null,
  }
}

function readSetting(
  setting: Setting,
  mode: Mode,
  env: Environment,
  readFile: ReadFile,
  faults: string[],
): string | undefined {
  let text = given(env[setting.name])
  const file = setting.secret ? given(env[`${setting.name}_FILE`]) : undefined
  if (file !== undefined) {
    if (text !== undefined) {
      faults.push(`${setting.name} and ${setting.name}_FILE are both set: keep one`)
    }
    text = given(tryRead(file, readFile)?.trim())
    if (text === undefined)
      faults.push(`${setting.name}_FILE must name a readable file that is not empty`)
  }
  if (setting.sandboxOnly && mode === 'production' && text !== undefined) {
    faults.push(`${setting.name} works only in the sandbox: remove it`)
    return undefined
  }
  if (text !== undefined) return text
  if (setting.required && mode === 'production' && file === undefined) {
    faults.push(`${setting.name} is missing. ${setting.about}`)
  }
  return mode === 'sandbox' ? (setting.sandboxFallback ?? setting.fallback) : setting.fallback
}

// An empty variable is what `.env` files and orchestrators leave behind for "not set".
function given(text: string | undefined): string | undefined {
  return text === undefined || text === '' ? undefined : text
}

function tryRead(path: string, readFile: ReadFile): string | undefined {
  try {
    return readFile(path)
  } catch {
    return undefined
  }
}

function parseInteger(text: string, min: number, max: number): number | undefined {
  if (!/^\d{1,9}$/.test(text)) return undefined
  const value = Number(text)
  return value >= min && value <= max ? value : undefined
}

function parseBaseUrl(text: string): string | undefined {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return undefined
  const url = new URL(text)
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    return undefined
  }
  return url.href.replace(/\/+$/, '')
}

/** What people copy from guides, or type when they are asked for something random. */
const KNOWN_DEFAULTS = /change-?me|password|secret|example|default|paybell|0123456789|abcdefgh/i

function parseMasterKeys(text: string): readonly Buffer[] | undefined {
  const keys = text.split(',').map((part) => {
    const key = Buffer.from(part.trim(), 'base64')
    return key.toString('base64') === part.trim() ? key : Buffer.alloc(0)
  })
  const isWeak = (key: Buffer) =>
    key.length !== 32 ||
    new Set(key).size < 8 ||
    KNOWN_DEFAULTS.test(key.toString('latin1')) ||
    new Set(key.map((byte, index) => byte - (key[index - 1] ?? 0))).size < 4
  return keys.length <= 8 && !keys.some(isWeak) ? keys : undefined
}

function parseOperatorKey(text: string): string | undefined {
  // What an Authorization header can carry (RFC 6750 §2.1).
  if (!/^[\w.~+/-]{32,512}=*$/.test(text)) return undefined
  return new Set(text).size < 8 || KNOWN_DEFAULTS.test(text) ? undefined : text
}

const UNIT_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

function parseSpanMs(text: string): number | undefined {
  const match = /^(\d{1,9})(ms|s|m|h|d)$/.exec(text)
  if (!match) return undefined
  const spanMs = Number(match[1]) * UNIT_MS[match[2] as keyof typeof UNIT_MS]
  return spanMs <= 7 * UNIT_MS.d ? spanMs : undefined
}

function parseCidrs(text: string): readonly string[] | undefined {
  const { networks, faults } = parseNetworks(text)
  return faults.length === 0 ? networks : undefined
}
