// Every setting, in one table. loadConfig is pure and the only reader of the environment: it reports
// all faults together, by name and never by value, and returns a frozen object.

import { readFileSync } from 'node:fs'
import { checkCallbackUrl } from './core/callback-url.ts'
import { parseNetworks, type TargetPolicy } from './core/network-rules.ts'
import { checkSharedKey } from './core/shared-key.ts'

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
    name: 'PAYBELL_NOTICE_URL',
    about:
      'Where notices to the operator go: exhausted deliveries, failing, recovered and disabled endpoints. The rules of a callbackUrl hold.',
  },
  {
    name: 'PAYBELL_NOTICE_KEY',
    secret: true,
    about: 'The shared key that signs notices. Needed with PAYBELL_NOTICE_URL.',
  },
  {
    name: 'PAYBELL_NATS_URL',
    secret: true,
    about:
      'Takes payment changes from a NATS JetStream stream, too: nats:// or tls:// addresses of one cluster, comma-separated.',
  },
  {
    name: 'PAYBELL_NATS_STREAM',
    fallback: 'PAYBELL',
    about: 'The stream that is read. It exists already.',
  },
  {
    name: 'PAYBELL_NATS_SUBJECT',
    fallback: 'paybell.payments.>',
    about: 'The subjects that are read; their last token is the id of the account.',
  },
  {
    name: 'PAYBELL_NATS_DURABLE',
    fallback: 'paybell',
    about: 'Name of the durable consumer, which is made when it is not there.',
  },
  {
    name: 'PAYBELL_NATS_CREDS',
    secret: true,
    about:
      'Content of the credentials file of a NATS user; PAYBELL_NATS_CREDS_FILE names the file.',
  },
  {
    name: 'PAYBELL_SANDBOX_SEED',
    fallback: 'terminal',
    sandboxOnly: true,
    about:
      'on, off or terminal: whether the first start makes a demo client with a payment and its callbacks; terminal: only where a person starts it in one.',
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

/** One setting as it was resolved. Of a secret there is no part in it. */
export interface ResolvedSetting {
  name: string
  isSecret: boolean
  isSet: boolean
  /** Null for secrets, and for what is not set. */
  value: string | null
  source: 'environment' | 'file' | 'default' | null
  about: string
}

const SANDBOX_SEEDS = ['on', 'off', 'terminal'] as const
type SandboxSeed = (typeof SANDBOX_SEEDS)[number]

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
  noticeUrl: string | null
  noticeKey: string | null
  nats: NatsSettings | null
  sandboxSeed: SandboxSeed
  timeScale: number
  logLevel: string
  /** All of them, for the operator to look at. */
  settings: readonly ResolvedSetting[]
}

export interface NatsSettings {
  /** nats:// or tls:// addresses of one cluster, perhaps with user and password, or a token. */
  urls: readonly string[]
  stream: string
  subject: string
  durable: string
  /** The content of a .creds file. */
  credentials: string | null
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
    noticeUrl: texts.get('PAYBELL_NOTICE_URL') ?? null,
    noticeKey: texts.get('PAYBELL_NOTICE_KEY') ?? null,
    nats: readNats((name) => texts.get(name), faults),
    sandboxSeed:
      parse('PAYBELL_SANDBOX_SEED', 'on, off or terminal', (text) =>
        SANDBOX_SEEDS.find((seed) => seed === text),
      ) ?? 'off',
    timeScale: integer('PAYBELL_TIME_SCALE', 1, 100_000) ?? 1,
    logLevel:
      parse('PAYBELL_LOG_LEVEL', 'debug, info, warn, error or silent', (text) =>
        ['debug', 'info', 'warn', 'error', 'silent'].includes(text) ? text : undefined,
      ) ?? 'info',
    settings: SETTINGS.map((setting) => resolveSetting(setting, env, texts.get(setting.name))),
  }
  faults.push(...noticeFaults(config))
  if (faults.length > 0) throw new ConfigError(faults)
  return Object.freeze(config)
}

/** Not a secret by itself, but a query of it may be one. */
const MASKED: readonly string[] = ['PAYBELL_NOTICE_URL']

function resolveSetting(
  setting: Setting,
  env: Environment,
  text: string | undefined,
): ResolvedSetting {
  const { name, about } = setting
  const isSecret = setting.secret === true || MASKED.includes(name)
  const isSet = text !== undefined
  const isFromFile = setting.secret === true && given(env[`${name}_FILE`]) !== undefined
  const isGiven = given(env[name]) !== undefined
  const source = isFromFile ? 'file' : isGiven ? 'environment' : isSet ? 'default' : null
  return { name, isSecret, isSet, value: isSecret ? null : (text ?? null), source, about }
}

/** Which addresses callbacks may reach. The sandbox relaxes loopback and nothing else. */
export function targetsOf(config: Pick<Config, 'mode' | 'allowedNetworks'>): TargetPolicy {
  return {
    loopbackAllowed: config.mode === 'sandbox',
    allowedNetworks: config.mode === 'production' ? config.allowedNetworks : [],
  }
}

/** Notices are callbacks: what is refused to clients is refused here, at start instead of for days. */
function noticeFaults(config: Config): string[] {
  const { noticeUrl, noticeKey } = config
  if (noticeUrl === null) {
    return noticeKey === null ? [] : ['PAYBELL_NOTICE_KEY is set without PAYBELL_NOTICE_URL']
  }
  const faults: string[] = []
  const url = checkCallbackUrl(noticeUrl, targetsOf(config))
  if (!url.ok) {
    faults.push(`PAYBELL_NOTICE_URL must be an address that callbacks may reach (${url.code})`)
  }
  if (noticeKey === null) {
    return [...faults, 'PAYBELL_NOTICE_URL needs PAYBELL_NOTICE_KEY, which signs notices']
  }
  const key = checkSharedKey(noticeKey, config.sharedKeyLengthMin)
  if (key !== null) {
    faults.push(`PAYBELL_NOTICE_KEY must be a text that may be a sharedKey (${key.code})`)
  }
  return faults
}

/** Null: payments come in by other ways only. */
function readNats(
  read: (name: SettingName) => string | undefined,
  faults: string[],
): NatsSettings | null {
  const url = read('PAYBELL_NATS_URL')
  const settings: NatsSettings = {
    urls: url?.split(',').map((text) => text.trim()) ?? [],
    stream: read('PAYBELL_NATS_STREAM') ?? '',
    subject: read('PAYBELL_NATS_SUBJECT') ?? '',
    durable: read('PAYBELL_NATS_DURABLE') ?? '',
    credentials: read('PAYBELL_NATS_CREDS') ?? null,
  }
  if (url === undefined) {
    if (settings.credentials !== null) {
      faults.push('PAYBELL_NATS_CREDS is set without PAYBELL_NATS_URL')
    }
    return null
  }
  if (!settings.urls.every((text) => /^(nats|tls):\/\/./.test(text) && URL.canParse(text))) {
    faults.push('PAYBELL_NATS_URL must be nats:// or tls:// addresses, comma-separated')
  }
  const NAME = /^[\w-]{1,255}$/
  for (const [name, text] of [
    ['PAYBELL_NATS_STREAM', settings.stream],
    ['PAYBELL_NATS_DURABLE', settings.durable],
  ]) {
    if (!NAME.test(text as string)) faults.push(`${name} must be letters, digits, _ and -`)
  }
  if (!isSourceSubject(settings.subject)) {
    faults.push(
      'PAYBELL_NATS_SUBJECT must be a subject that ends in >, * or an account, and does not take in paybell.dead',
    )
  }
  return settings
}

/** Dead letters must not come back as payments: they would go round for ever. */
function isSourceSubject(text: string): boolean {
  const tokens = text.split('.')
  const last = tokens.pop() ?? ''
  if (!/^(>|\*|[\da-f-]{36})$/i.test(last)) return false
  if (!tokens.every((token) => token === '*' || /^[\w$-]+$/.test(token))) return false
  const dead = ['paybell', 'dead', 'account']
  const takesIn = [...tokens, last].every(
    (token, index) => token === '>' || token === '*' || token === dead[index],
  )
  return !(takesIn && (last === '>' ? tokens.length < 3 : tokens.length === 2))
}

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
  { name: 'PAYBELL_ACCOUNT_ID', about: 'The account, where --account is not given.' },
  {
    name: 'PAYBELL_SHARED_KEY',
    secret: true,
    about: 'The shared key of a webhook, where --shared-key is not given.',
  },
  {
    name: 'PAYBELL_DATA_DIR',
    fallback: '.paybell',
    about: 'Where the credentials of a sandbox are found.',
  },
  {
    name: 'XDG_CONFIG_HOME',
    about: 'Where `paybell listen` keeps its shared keys, in paybell/; ~/.config by default.',
  },
  { name: 'NO_COLOR', about: 'Any text turns colours off.' },
] as const satisfies readonly Setting[]

export interface CallerConfig {
  url: string | null
  operatorKey: string | null
  clientId: string | null
  clientSecret: string | null
  accountId: string | null
  sharedKey: string | null
  dataDir: string
  /** Null: below the home directory. */
  configDir: string | null
}

/** Asked apart from the other settings, because their faults are told in colour or not. */
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
  const config: CallerConfig = {
    url,
    operatorKey: read('PAYBELL_OPERATOR_KEY'),
    clientId: read('PAYBELL_CLIENT_ID'),
    clientSecret: read('PAYBELL_CLIENT_SECRET'),
    accountId: read('PAYBELL_ACCOUNT_ID'),
    sharedKey: read('PAYBELL_SHARED_KEY'),
    dataDir: read('PAYBELL_DATA_DIR') ?? '.paybell',
    configDir: read('XDG_CONFIG_HOME'),
  }
  if (faults.length > 0) throw new ConfigError(faults)
  return Object.freeze(config)
}

/** The settings as they were resolved, for the log at start: secrets only as set or unset. */
export function describeConfig(config: Config): Record<string, unknown> {
  const { masterKeys, operatorKey, databaseUrl, extraCa, noticeUrl, noticeKey, nats, ...rest } =
    config
  const { settings: _, ...open } = rest
  return {
    ...open,
    masterKeysConfigured: masterKeys.length,
    operatorKeyConfigured: operatorKey !== null,
    databaseUrlConfigured: databaseUrl !== null,
    extraCaConfigured: extraCa !== null,
    // A query may be a credential: only whether there is an address.
    noticeUrlConfigured: noticeUrl !== null,
    noticeKeyConfigured: noticeKey !== null,
    // Its address may hold a password, and its credentials are one.
    nats: nats && { stream: nats.stream, subject: nats.subject, durable: nats.durable },
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
