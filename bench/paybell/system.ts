// Paybell as a system under test: a fresh PostgreSQL, one process or several.

import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  DEFAULT_SETTINGS,
  type EndpointSettings,
} from '../../server/core/delivery/endpoint-settings.ts'
import { treeCpuSeconds } from '../harness/cpu.ts'
import { BenchDatabase } from '../harness/database.ts'
import { TLS } from '../harness/stage.ts'
import type { RunningSystem, System, SystemOptions } from '../harness/system.ts'
import { type Prepared, preparePaybell } from './prepare.ts'
import { PaybellService } from './service.ts'

export interface PaybellOptions extends SystemOptions {
  processes?: number
  /** One `paybell serve` with so many processes under a parent, instead of the sandbox. */
  siblings?: number
  apart?: { url: string; count: number } | undefined
  settingsOf?: (number: number) => EndpointSettings
  heardEvery?: number
  nodeArguments?: readonly string[]
  env?: Readonly<Record<string, string>>
  /** Counts PostgreSQL's time by statement. */
  isCounting?: boolean
  /** Between the preparation and the start of the service. */
  beforeStart?: (database: BenchDatabase, prepared: Prepared) => Promise<void>
}

export interface RunningPaybell extends RunningSystem {
  database: BenchDatabase
  prepared: Prepared
  services: readonly PaybellService[]
  /** One more process on the same database. */
  addProcess(): Promise<PaybellService>
}

export async function startPaybell(options: PaybellOptions): Promise<RunningPaybell> {
  const database = await BenchDatabase.start(options.isCounting)
  const services: PaybellService[] = []
  const stop = async () => {
    await Promise.all(services.map((service) => service.stop().catch(() => {})))
    await database.stop()
  }
  try {
    const masterKey = randomBytes(32)
    const operatorKey = randomBytes(32).toString('hex')
    const prepared = await preparePaybell({ ...options, databaseUrl: database.url, masterKey })
    await options.beforeStart?.(database, prepared)
    const addProcess = async () => {
      const { nodeArguments = [], env = {}, siblings } = options
      const keys = { databaseUrl: database.url, masterKey, operatorKey }
      const service = await PaybellService.start({ ...keys, nodeArguments, env, siblings })
      services.push(service)
      return service
    }
    const first = await addProcess()
    for (let count = 1; count < (options.processes ?? 1); count++) await addProcess()
    return {
      baseUrl: first.baseUrl,
      operatorKey,
      accountIds: prepared.accountIds,
      heardEvery: options.heardEvery,
      prepared,
      services,
      addProcess,
      database,
      get pids() {
        return services.map((service) => service.pid)
      },
      cpuSeconds: () => ({
        service: services.reduce((sum, service) => sum + treeCpuSeconds(service.pid), 0),
        store: database.cpuSeconds(),
      }),
      isSettled: () => isSettled(database),
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Nothing is owed now, nor parked; what waits for a later day does not count, nor what `except` are
 *  owed. */
export async function isSettled(
  database: BenchDatabase,
  except: readonly string[] = [],
): Promise<boolean> {
  const rows = await database.query(
    `select 1 from paybell.pending_deliveries
     where (next_attempt_at is null or next_attempt_at < now() + interval '1 hour')
       and endpoint_id <> all($1::uuid[]) limit 1`,
    [except],
  )
  return rows.length === 0
}

export const PAYBELL: System = {
  name: 'Paybell',
  durability: 'fsync before 2xx',
  start: (options) => startPaybell(options),
}

/** As production logs: a line for each request and for each attempt. */
export const PAYBELL_LOGGING: System = {
  ...PAYBELL,
  name: 'Paybell, log level info',
  start: (options) => startPaybell({ ...options, env: { PAYBELL_LOG_LEVEL: 'info' } }),
}

export const PAYBELL_TLS: System = {
  ...PAYBELL,
  name: 'Paybell, callbacks over TLS',
  isOverTls: true,
  start: (options) => startPaybell({ ...options, env: { PAYBELL_EXTRA_CA_FILE: TLS.authority } }),
}

/** Every callback is signed with the service's own key as well; each event goes to one endpoint, so none is shared. */
export const PAYBELL_SIGNED: System = {
  ...PAYBELL,
  name: 'Paybell, with v1a',
  start: (options) => startPaybell({ ...options, settingsOf: () => SIGNED }),
}

const SIGNED: EndpointSettings = { ...DEFAULT_SETTINGS, signatures: ['hmac', 'ed25519'] }

/** Every callback carries a token, which each endpoint gets once, with a key of the service's own. */
export const PAYBELL_TOKENS: System = {
  ...PAYBELL,
  name: 'Paybell, with OAuth tokens',
  async start(options) {
    const tokens = await startTokenEndpoint()
    const settings: EndpointSettings = {
      ...DEFAULT_SETTINGS,
      oauth2: {
        ...{ tokenUrl: tokens.url, clientId: 'bench', privateKeyJwt: true, authentication: 'post' },
        ...{ scope: null, audience: null, sealedSecret: null },
      },
    }
    const running = await startPaybell({ ...options, settingsOf: () => settings })
    const { stop } = running
    running.stop = () => stop().finally(() => tokens.close())
    return running
  },
}

async function startTokenEndpoint() {
  const token = { access_token: randomBytes(32).toString('hex'), token_type: 'Bearer' }
  const body = JSON.stringify({ ...token, expires_in: 3_600 })
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.end(body))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/token`
  return { url, close: () => server.close() }
}

const HEARD_EVERY = 10

/**
 * All endpoints have a filter, and a tenth of the events passes: every payment is new, each tenth endpoint hears of
 * new ones, and the others of what never comes. An account has one endpoint, so nine of ten events make no delivery.
 */
export const PAYBELL_FILTERED: System = {
  ...PAYBELL,
  name: 'Paybell, a filter passes a tenth',
  async start(options) {
    if (options.endpoints % HEARD_EVERY !== 0) {
      throw new Error(`a tenth of ${options.endpoints} endpoints cannot be had`)
    }
    return startPaybell({ ...options, settingsOf: filterOf, heardEvery: HEARD_EVERY })
  },
}

function filterOf(number: number): EndpointSettings {
  const events = [number % HEARD_EVERY === 0 ? 'payment.created' : 'payment.paid'] as const
  return { ...DEFAULT_SETTINGS, events }
}
