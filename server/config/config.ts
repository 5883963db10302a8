// The settings of the service. loadConfig is pure and the only reader of the environment: it reports all
// faults together, by name and never by value, and returns a frozen object. The other rooms
// import what they need of config/ from here.

import { readFileSync } from 'node:fs'
import { SHARD_COUNT } from '../core/delivery/lease.ts'
import { parseBaseUrl } from '../core/network/base-url.ts'
import { checkCallbackUrl } from '../core/network/callback-url.ts'
import { CELL_MAX, FIRST_CELL, parseCell } from '../core/network/cell.ts'
import { addressOfCell, parseDatabaseUrl } from '../core/network/database-url.ts'
import type { TargetPolicy } from '../core/network/network-rules.ts'
import {
  ConfigError,
  type Environment,
  given,
  type Mode,
  type ReadFile,
  readSetting,
  type Setting,
  tryRead,
} from '../core/plain/setting.ts'
import { checkSharedKey } from '../core/signatures/shared-key.ts'
import { type ConsoleTheme, parseTheme } from './console-theme.ts'
import { type KafkaSettings, readKafka } from './kafka-settings.ts'
import { type NatsSettings, readNats } from './nats-settings.ts'
import { type OidcSettings, readOidc } from './oidc-settings.ts'
import {
  parseCidrs,
  parseDurationMs,
  parseInteger,
  parseMasterKeys,
  parseOperatorKey,
  parseOrigins,
} from './parsers.ts'
import {
  parseContacts,
  parseExpiry,
  type SecurityContact,
  toSecurityContact,
} from './security-contact.ts'
import { SETTINGS, type SettingName } from './settings.ts'

export { ConfigError, type Environment, type Mode } from '../core/plain/setting.ts'
export type { KafkaSettings } from './kafka-settings.ts'
export type { NatsSettings } from './nats-settings.ts'
export type { GroupRole, OidcSettings } from './oidc-settings.ts'
export { SETTINGS } from './settings.ts'

/** There are as many shards: a further process would have none. */
export const PROCESSES_MAX = SHARD_COUNT

/** Receivers put each into a rule of their firewall. */
const EGRESS_MAX = 100

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
  /** How many processes one command starts; null: it serves itself. */
  processes: number | 'auto' | null
  dataDir: string
  /** Which cell this service is. */
  cell: number
  /** PAYBELL_CELL was set: there are others, and figures say whose they are. */
  isCellNamed: boolean
  /** Past any `paybell route`; null where the base URL is that of the cell. */
  cellAddress: string | null
  /** With its cell. */
  databaseUrl: string | null
  databaseConnections: number
  databaseWaitSeconds: number
  masterKeys: readonly Buffer[]
  operatorKey: string | null
  /** How people sign in with their company; null: they do not. */
  oidc: OidcSettings | null
  tokenTtlSeconds: number
  sharedKeyLengthMin: number
  endpointsMax: number
  orderPatienceMs: number
  requestsPerSecond: number
  endpointRatePerSecond: number | null
  retentionDays: number
  /** Null: for ever. */
  paymentRetentionDays: number | null
  auditRetentionDays: number | null
  documentLinkDays: number
  allowedNetworks: readonly string[]
  /** What callbacks come from, as published; null: nothing is. */
  egressAddresses: readonly string[] | null
  /** Whose pages may show a client's console. */
  embedOrigins: readonly string[]
  /** Null: its own look. */
  consoleTheme: ConsoleTheme | null
  extraCa: string | null
  trustedProxies: readonly string[]
  /** What security.txt says; null: it is not served. */
  securityContact: SecurityContact | null
  drainSeconds: number
  noticeUrl: string | null
  noticeKey: string | null
  nats: NatsSettings | null
  kafka: KafkaSettings | null
  sandboxSeed: SandboxSeed
  timeScale: number
  logLevel: string
  /** All of them, for the operator to look at. */
  settings: readonly ResolvedSetting[]
}

export function loadConfig(
  mode: Mode,
  env: Environment,
  readFile: ReadFile = (path) => readFileSync(path, 'utf8'),
): Config {
  const faults: string[] = []
  const texts = new Map<SettingName, string>()
  for (const setting of SETTINGS) {
    const text = readSetting(toRead(setting, env), mode, env, readFile, faults)
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

  const cell =
    parse('PAYBELL_CELL', `a whole number from 0 to ${CELL_MAX}`, parseCell) ?? FIRST_CELL
  const extraCa =
    parse('PAYBELL_EXTRA_CA_FILE', 'the path of a readable PEM file', (path) => {
      const pem = tryRead(path, readFile)
      return pem?.includes('-----BEGIN CERTIFICATE-----') ? pem : undefined
    }) ?? null
  const config: Config = {
    mode,
    host: texts.get('HOST') ?? '127.0.0.1',
    port: integer('PORT', 0, 65535) ?? 0,
    baseUrl: parse('PAYBELL_BASE_URL', 'an absolute http or https URL', parseBaseUrl) ?? null,
    operatorPort: integer('PAYBELL_OPERATOR_PORT', 0, 65535) ?? null,
    processes:
      parse('PAYBELL_PROCESSES', `auto, or a whole number from 1 to ${PROCESSES_MAX}`, (text) =>
        text === 'auto' ? 'auto' : parseInteger(text, 1, PROCESSES_MAX),
      ) ?? null,
    dataDir: texts.get('PAYBELL_DATA_DIR') ?? '.paybell',
    cell,
    isCellNamed: texts.has('PAYBELL_CELL'),
    cellAddress:
      parse('PAYBELL_CELL_ADDRESS', 'an absolute http or https URL', parseBaseUrl) ?? null,
    databaseUrl:
      parse(
        'DATABASE_URL',
        'a postgres:// or postgresql:// URL; its target_session_attrs, if any, is read-write or primary',
        // What it may say of a cell is ours to add: PAYBELL_CELL is the one place to set it.
        (text) =>
          parseDatabaseUrl(text)?.cell === FIRST_CELL ? addressOfCell(text, cell) : undefined,
      ) ?? null,
    databaseConnections: integer('PAYBELL_DATABASE_CONNECTIONS', 4, 500) ?? 16,
    databaseWaitSeconds: integer('PAYBELL_DATABASE_WAIT_SECONDS', 0, 86_400) ?? 60,
    masterKeys:
      parse('PAYBELL_MASTER_KEY', '32 random bytes in base64 (comma-separated)', parseMasterKeys) ??
      [],
    operatorKey:
      parse(
        'PAYBELL_OPERATOR_KEY',
        'a random text of 32 to 512 letters, digits and ._~+/-',
        (text) => parseOperatorKey(text),
      ) ?? null,
    oidc: readOidc((name) => texts.get(name), mode, faults),
    tokenTtlSeconds: integer('PAYBELL_TOKEN_TTL_SECONDS', 60, 86_400) ?? 3600,
    sharedKeyLengthMin: integer('PAYBELL_MIN_SHARED_KEY_LENGTH', 1, 256) ?? 16,
    endpointsMax: integer('PAYBELL_MAX_ENDPOINTS', 1, 1000) ?? 50,
    orderPatienceMs:
      parse('PAYBELL_ORDER_PATIENCE', 'a span from 0s to 7d, such as 90s, 30m, 1h, 7d', (text) =>
        parseDurationMs(text),
      ) ?? 3_600_000,
    requestsPerSecond: integer('PAYBELL_REQUESTS_PER_SECOND', 1, 1_000_000) ?? 200,
    endpointRatePerSecond: integer('PAYBELL_ENDPOINT_RATE', 1, 100_000) ?? null,
    retentionDays: integer('PAYBELL_RETENTION_DAYS', 8, 3650) ?? 30,
    paymentRetentionDays: integer('PAYBELL_PAYMENT_RETENTION_DAYS', 30, 36_500) ?? null,
    auditRetentionDays: integer('PAYBELL_AUDIT_RETENTION_DAYS', 30, 36_500) ?? null,
    documentLinkDays: integer('PAYBELL_DOCUMENT_LINK_DAYS', 1, 3650) ?? 30,
    allowedNetworks:
      parse('PAYBELL_ALLOWED_NETWORKS', 'a comma-separated list of CIDRs', parseCidrs) ?? [],
    egressAddresses:
      parse('PAYBELL_EGRESS_ADDRESSES', 'at most 100 CIDRs, comma-separated', (text) => {
        const networks = parseCidrs(text)
        return networks && networks.length <= EGRESS_MAX ? networks : undefined
      }) ?? null,
    embedOrigins:
      parse(
        'PAYBELL_CONSOLE_EMBED_ORIGINS',
        'at most 20 origins with https://, without a path or a wildcard, comma-separated',
        (text) => parseOrigins(text, mode),
      ) ?? [],
    consoleTheme:
      parse(
        'PAYBELL_CONSOLE_THEME',
        'accent=#rrggbb (with a contrast of 5.5 to white), logo=https://… (without a query) and name=… (up to 40 characters), comma-separated, any of them once',
        (text) => parseTheme(text, mode),
      ) ?? null,
    extraCa,
    trustedProxies:
      parse('PAYBELL_TRUSTED_PROXIES', 'a comma-separated list of CIDRs', parseCidrs) ?? [],
    securityContact: toSecurityContact(
      parse(
        'PAYBELL_SECURITY_CONTACT',
        'at most 5 https:, mailto: or tel: URIs, comma-separated',
        parseContacts,
      ),
      parse(
        'PAYBELL_SECURITY_EXPIRES',
        'a day or an instant, such as 2027-06-30 or 2027-06-30T12:00:00Z',
        parseExpiry,
      ),
      faults,
    ),
    drainSeconds: integer('PAYBELL_DRAIN_SECONDS', 0, 600) ?? 0,
    noticeUrl: texts.get('PAYBELL_NOTICE_URL') ?? null,
    noticeKey: texts.get('PAYBELL_NOTICE_KEY') ?? null,
    nats: readNats((name) => texts.get(name), faults),
    kafka: readKafka((name) => texts.get(name), extraCa, faults),
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
  faults.push(...noticeFaults(config), ...retentionFaults(config))
  if (faults.length > 0) throw new ConfigError(faults)
  return Object.freeze(config)
}

/** Where people sign in with their company, no key has to be there before them. */
function toRead(setting: Setting, env: Environment): Setting {
  if (setting.name !== 'PAYBELL_OPERATOR_KEY' || !given(env.PAYBELL_OIDC_ISSUER)) return setting
  const { required: _, ...optional } = setting
  return optional
}

/** Not a secret, but its query may be one. */
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

/** Events name their payment: it must be kept as long as they are. */
function retentionFaults({ paymentRetentionDays, retentionDays }: Config): string[] {
  if (paymentRetentionDays === null || paymentRetentionDays >= retentionDays) return []
  return ['PAYBELL_PAYMENT_RETENTION_DAYS must not be less than PAYBELL_RETENTION_DAYS']
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

/** The settings as they were resolved, for the log at start: secrets only as set or unset. */
export function describeConfig(config: Config): Record<string, unknown> {
  const {
    masterKeys,
    operatorKey,
    databaseUrl,
    extraCa,
    noticeUrl,
    noticeKey,
    nats,
    kafka,
    oidc,
    ...rest
  } = config
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
    oidc: oidc && { issuer: oidc.issuer, roleClaim: oidc.roleClaim, roles: oidc.roles },
    nats: nats && { stream: nats.stream, subject: nats.subject, durable: nats.durable },
    kafka: kafka && { ...kafka, tls: kafka.tls !== null, sasl: kafka.sasl?.mechanism ?? null },
  }
}
