// The checks of `paybell doctor`, one after the other: each says what it found and, where that is not
// right, what to do.

import {
  type Config,
  ConfigError,
  type Environment,
  loadConfig,
  type Mode,
} from '../../../server/config/config.ts'
import { DAY_MS } from '../../../server/core/delivery/backoff.ts'
import {
  type DatabaseFacts,
  inspectDatabase,
  type SchemaFacts,
} from '../../../server/store/schema/inspect-database.ts'
import { changedMigrationText } from '../../../server/store/schema/migration-hashes.ts'
import { Sealer } from '../../../server/store/secrets/sealing.ts'
import { VERSION } from '../../../server/version.ts'
import type { Check } from '../../basics/doctor-check.ts'
import { readSandboxFile } from '../../basics/sandbox-file.ts'
import { isSameOrigin } from '../../basics/target.ts'
import { formatCount, formatDuration, plural } from '../../basics/terminal.ts'
import { countProcesses } from '../count-processes.ts'
import { reasonOf } from '../reason.ts'
import { checkBrokers } from './broker-checks.ts'
import { checkEgress } from './egress-checks.ts'
import { checkEndpoints } from './endpoint-checks.ts'
import { checkKeys } from './key-checks.ts'
import { checkSealing } from './sealing-checks.ts'
import { checkServer } from './server-checks.ts'

export interface DoctorInput {
  env: Environment
  dataDir: string
  serviceUrl: string | null
  /** Of the caller: settings of a service need not be here. */
  operatorKey?: string | null
  /** Throws where a key must not be sent. */
  assertSafe?(url: string): Promise<void>
  /** Addresses to try besides those of the endpoints. */
  egress: readonly string[]
}

/** Further off than this, tokens and signatures are judged too old by the other side. */
const CLOCK_SKEW_MS_MAX = 5_000
const ROUND_TRIP_MS_MAX = 20
const VERSION_MIN = 150_000

export async function* runChecks(input: DoctorInput): AsyncGenerator<Check> {
  yield checkProgram()
  const sandbox = await readSandboxFile(input.dataDir).catch(() => null)
  const hasDatabase = Boolean(input.env.DATABASE_URL || input.env.DATABASE_URL_FILE)
  const mode: Mode = hasDatabase || sandbox === null ? 'production' : 'sandbox'
  const { config, checks } = checkSettings(mode, input)
  yield* checks
  const url = config?.databaseUrl ?? (hasDatabase ? databaseUrlOf(input.env) : null)
  let endpointUrls: readonly string[] = []
  if (url !== null) {
    const facts = await inspect(url)
    if ('check' in facts) yield facts.check
    else {
      yield* checkDatabase(facts.facts)
      yield* checkServer(facts.facts.server, {
        connections: config?.databaseConnections ?? 16,
        processes: config === null ? 1 : countProcesses(config),
        retentionDays: config?.retentionDays ?? 30,
      })
      if (facts.facts.schema) {
        yield* checkSchema(facts.facts.schema)
        if (config) {
          yield checkMasterKeys(config, facts.facts.schema)
          yield* checkKeys(config, facts.facts.schema)
          yield* checkSealing(config, facts.facts.schema)
        }
        endpointUrls = facts.facts.schema.endpointUrls
      }
    }
  } else if (mode === 'sandbox') {
    yield {
      name: 'database',
      status: 'ok',
      detail: 'the sandbox brings its own and looks after it',
    }
  }
  if (config) yield* checkBrokers(config)
  const serviceUrl = input.serviceUrl ?? config?.baseUrl ?? sandbox?.baseUrl ?? null
  const service = await checkService(serviceUrl)
  // The sandbox's key is for the sandbox alone, though PAYBELL_URL may name another service.
  const isSandbox = serviceUrl !== null && sandbox && isSameOrigin(serviceUrl, sandbox.baseUrl)
  const operatorKey =
    input.operatorKey ?? config?.operatorKey ?? (isSandbox ? sandbox.operatorKey : null)
  const found = await checkEndpoints(
    service.status === 'ok' ? serviceUrl : null,
    operatorKey ?? null,
    input.assertSafe,
  )
  const triedUrls = url === null ? found.urls : endpointUrls
  if (config) yield* checkEgress(config, input.egress, triedUrls)
  yield service
  yield* found.checks
}

/** On a Node that is too old for this checkout or package, `paybell.js` has ended before. */
function checkProgram(): Check {
  const detail = `Paybell ${VERSION} on Node ${process.versions.node}`
  return { name: 'program', status: 'ok', detail }
}

function checkSettings(
  mode: Mode,
  input: DoctorInput,
): { config: Config | null; checks: readonly Check[] } {
  try {
    const config = loadConfig(mode, input.env)
    const detail = mode === 'sandbox' ? 'all are valid, for a sandbox' : 'all are valid'
    return { config, checks: [{ name: 'settings', status: 'ok', detail }] }
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    const checks = error.faults.map((detail, index): Check => {
      const isLast = index === error.faults.length - 1
      const remedy = 'See docs/configuration.md. For a sandbox, none is needed: npm start.'
      return { name: 'settings', status: 'failed', detail, ...(isLast ? { remedy } : {}) }
    })
    return { config: null, checks }
  }
}

/** Even where other settings are wrong, the database can be looked at. */
function databaseUrlOf(env: Environment): string | null {
  try {
    return loadConfig('sandbox', {
      DATABASE_URL: env.DATABASE_URL,
      DATABASE_URL_FILE: env.DATABASE_URL_FILE,
    }).databaseUrl
  } catch {
    return null
  }
}

async function inspect(url: string): Promise<{ facts: DatabaseFacts } | { check: Check }> {
  try {
    return { facts: await inspectDatabase(url) }
  } catch (error) {
    const check: Check = {
      name: 'database',
      status: 'failed',
      detail: `cannot be used: ${reasonOf(error)}`,
      remedy: 'Check DATABASE_URL: host, port, name of the database, user and password.',
    }
    return { check }
  }
}

function* checkDatabase(facts: DatabaseFacts): Generator<Check> {
  const isNew = facts.versionNumber >= VERSION_MIN
  const answers = `answers in ${formatDuration(facts.roundTripMs)}`
  yield {
    name: 'database',
    status: !isNew ? 'failed' : facts.roundTripMs > ROUND_TRIP_MS_MAX ? 'warning' : 'ok',
    detail: `PostgreSQL ${facts.versionText}, ${answers}`,
    ...(isNew
      ? facts.roundTripMs > ROUND_TRIP_MS_MAX
        ? { remedy: 'It is far away: every accepted payment waits for it. Bring it closer.' }
        : {}
      : { remedy: 'PostgreSQL 15 or later is needed.' }),
  }
  yield facts.durabilityFaults.length === 0
    ? { name: 'durability', status: 'ok', detail: 'what it acknowledges is on disk' }
    : {
        name: 'durability',
        status: 'warning',
        detail: facts.durabilityFaults.join('; '),
        remedy: 'Turn it on, or a power cut loses payments that were acknowledged.',
      }
  const skew = Math.abs(facts.clockSkewMs)
  const off = `this machine and the database differ by ${formatDuration(skew)}`
  yield skew <= CLOCK_SKEW_MS_MAX
    ? { name: 'clock', status: 'ok', detail: off }
    : {
        name: 'clock',
        status: 'warning',
        detail: off,
        remedy: 'Let both follow NTP. Deliveries go by the clock of the database.',
      }
  if (facts.isRefused) {
    yield {
      name: 'migrations',
      status: 'failed',
      detail: 'this role may not use the schema',
      remedy: 'Run paybell migrate --app-role with this role, as the owner of the schema.',
    }
  } else if (facts.schema === null) {
    yield {
      name: 'migrations',
      status: 'failed',
      detail: 'the schema is not there',
      remedy: 'Run paybell migrate, or start paybell serve, which does it by itself.',
    }
  }
}

function* checkSchema(schema: SchemaFacts): Generator<Check> {
  const { missingMigrations: missing, unknownMigrations: unknown } = schema
  if (schema.changedMigrations.length > 0) {
    yield {
      name: 'migrations',
      status: 'failed',
      detail: changedMigrationText(schema.changedMigrations),
      remedy:
        'Install Paybell as it was released; a database that another text has made needs a new one.',
    }
  }
  if (missing.length > 0) {
    yield {
      name: 'migrations',
      status: 'failed',
      detail: `not applied yet: ${missing.join(', ')}`,
      remedy: 'Run paybell migrate, or start paybell serve, which does it by itself.',
    }
  } else if (unknown.length > 0) {
    // The version before works on the newer schema: processes are replaced one by one, and may go back.
    yield {
      name: 'migrations',
      status: 'warning',
      detail: `the schema is newer than this program, which works on it: ${unknown.join(', ')}`,
      remedy: 'If an upgrade is not under way, install the newer version on this machine, too.',
    }
  } else if (schema.changedMigrations.length === 0) {
    yield { name: 'migrations', status: 'ok', detail: 'the schema is up to date' }
  }
  yield checkPartitions(schema.partitionedUntil)
  yield* checkDefaultRows(schema.defaultRows)
}

function* checkDefaultRows(rows: SchemaFacts['defaultRows']): Generator<Check> {
  const used = Object.entries(rows ?? {}).filter(([, count]) => count > 0)
  if (used.length === 0) return
  yield {
    name: 'partitions',
    status: 'warning',
    detail: `rows had no partition to go to: ${used
      .map(([table, count]) => `${formatCount(count)} of ${table}`)
      .join(', ')}`,
    remedy:
      'A running paybell serve moves them within the hour, paybell migrate any number at once.',
  }
}

function checkPartitions(until: string | null): Check {
  const days =
    until === null
      ? -1
      : Math.floor((Date.parse(until) - Math.floor(Date.now() / DAY_MS) * DAY_MS) / DAY_MS)
  if (days >= 2) {
    return { name: 'partitions', status: 'ok', detail: `made until ${until}` }
  }
  return {
    name: 'partitions',
    status: days >= 0 ? 'warning' : 'failed',
    detail: until === null ? 'there are none' : `made only until ${until}`,
    remedy: 'A running paybell serve makes them days ahead; paybell migrate makes them now.',
  }
}

function checkMasterKeys(config: Config, schema: SchemaFacts): Check {
  if (config.masterKeys.length === 0) {
    return { name: 'master keys', status: 'skipped', detail: 'the sandbox keeps its own' }
  }
  const sealer = new Sealer(config.masterKeys)
  const needed = [...schema.secretsByMasterKey]
  const missing = needed.filter(([id]) => !sealer.hasKey(id))
  if (missing.length > 0) {
    const lost = missing.map(([id, count]) => `${id} (${plural(count, 'secret')})`).join(', ')
    return {
      name: 'master keys',
      status: 'failed',
      detail: `stored secrets need keys that are not configured: ${lost}`,
      remedy: 'Put the old key back, behind the new one: PAYBELL_MASTER_KEY=new,old',
    }
  }
  const old = needed.filter(([id]) => id !== sealer.writeKeyId)
  const count = old.reduce((sum, [, secrets]) => sum + secrets, 0)
  const all = `${plural(config.masterKeys.length, 'key')} configured`
  return {
    name: 'master keys',
    status: 'ok',
    detail:
      count === 0
        ? `${all}, every stored secret opens`
        : `${all}; ${formatCount(count)} secrets still need an older one`,
    ...(count === 0 ? {} : { remedy: 'To be able to take the older one out: paybell reseal' }),
  }
}

async function checkService(url: string | null): Promise<Check> {
  if (url === null) {
    return { name: 'service', status: 'skipped', detail: 'its address is not known: PAYBELL_URL' }
  }
  try {
    const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(5_000) })
    if (response.status === 200) {
      return { name: 'service', status: 'ok', detail: `${url} is ready` }
    }
    const body = (await response.json().catch(() => ({}))) as { detail?: string }
    return {
      name: 'service',
      status: 'failed',
      detail: `${url} is not ready: ${body.detail ?? `it answers ${response.status}`}`,
      remedy: 'Its log says more.',
    }
  } catch {
    return {
      name: 'service',
      status: 'warning',
      detail: `${url} does not answer`,
      remedy: 'Start it with npm start (a sandbox) or paybell serve (production).',
    }
  }
}
