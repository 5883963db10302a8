// Two cells, 0 and 7, and the route before them: in two schemas of one database, or each on a server of its own.
// Both have the same master key, operator's key and signing keys, as cells behind one address do.

import { randomBytes } from 'node:crypto'
import { pino } from 'pino'
import { addressOfCell } from '../../server/core/database-url.ts'
import { Route } from '../../server/route/route.ts'
import { parseCells, type RouteConfig } from '../../server/route/route-config.ts'
import { copySigningKeys } from '../../server/store/cells.ts'
import { createPool } from '../../server/store/db.ts'
import { migrate } from '../../server/store/migrate.ts'
import { cloneDatabase, type TestDatabase } from './database.ts'
import type { Owner } from './owner.ts'
import { type Paybell, SHORT_LEASES, startPaybell } from './paybell.ts'

const SPANS = { attempt: { deadlineMs: 400, connectTimeoutMs: 200 } }

export interface TwoCells {
  first: Paybell
  seventh: Paybell
  operatorKey: string
  /** For moveClient, of the client that the first cell began with. */
  move: {
    clientId: string
    toCell: number
    toAddress: string
    sourceUrl: string
    targetUrl: string
    drainMs: number
  }
}

/** `server` is that of the seventh cell; without it, both share a database. */
export async function startTwoCells(
  t: Owner,
  options: { server?: string; env?: Readonly<Record<string, string>> } = {},
): Promise<TwoCells> {
  const { server, env = {} } = options
  const operatorKey = randomBytes(32).toString('base64url')
  const masterKey = randomBytes(32)
  const shared = { operatorKey, masterKey, leasePolicy: SHORT_LEASES, spans: SPANS }
  const database = await cloneDatabase()
  const first = await startPaybell(t, { ...shared, database, env: { PAYBELL_CELL: '0', ...env } })
  // Its first token makes the signing key that both shall have.
  await first.caller.token()
  const home = server === undefined ? database : await cloneDatabase({ server })
  const other = await openCell(t, home, 7)
  await copySigningKeys(database.pool, other.pool)
  const seventh = await startPaybell(t, {
    ...shared,
    database: other,
    env: { PAYBELL_CELL: '7', ...env },
  })
  const move = {
    clientId: first.clientId,
    toCell: 7,
    toAddress: seventh.baseUrl,
    sourceUrl: addressOfCell(database.url, 0),
    targetUrl: other.url,
    drainMs: 2_000,
  }
  return { first, seventh, operatorKey, move }
}

/** The schema of a cell, migrated, in the database of another. */
export async function openCell(
  t: Owner,
  { url: home }: TestDatabase,
  cell: number,
): Promise<TestDatabase> {
  const url = addressOfCell(home, cell)
  await migrate(url, new Date())
  const pool = createPool({
    url,
    connectionsMax: 5,
    onIdleError: () => {},
    applicationName: 'paybell test',
  })
  t.after(() => pool.end())
  return { url, pool, drop: async () => {} }
}

export function routeConfig(
  addresses: Readonly<Record<number, string>>,
  key: string,
  more: Partial<RouteConfig> = {},
): RouteConfig {
  const cells = Object.entries(addresses).map(([cell, address]) => `${cell}=${address}`)
  return {
    host: '127.0.0.1',
    port: 0,
    operatorPort: null,
    baseUrl: null,
    cells: parseCells(cells.join(',')) ?? [],
    key,
    trustedProxies: [],
    drainSeconds: 0,
    logLevel: 'silent',
    ...more,
  }
}

export async function startRoute(
  t: Owner,
  config: RouteConfig,
  more: Partial<ConstructorParameters<typeof Route>[0]> = {},
): Promise<Route> {
  const log = pino({ level: process.env.PAYBELL_TEST_LOG ?? 'silent' })
  const route = new Route({ config, log, refreshEveryMs: 250, ...more })
  t.after(() => route.stop())
  await route.start()
  return route
}
