// Two cells, 0 and 7, for a route to stand before: in two schemas of one database, or each on a server of its own.
// Both have the same master key, operator's key and signing keys, as cells behind one address do.

import { randomBytes } from 'node:crypto'
import { addressOfCell } from '../../server/core/network/database-url.ts'
import { createPool } from '../../server/store/connection/db.ts'
import { copySigningKeys } from '../../server/store/schema/cells.ts'
import { migrate } from '../../server/store/schema/migrate.ts'
import { cloneDatabase, type TestDatabase } from './database.ts'
import type { Owner } from './owner.ts'
import { type Paybell, SHORT_LEASES, startPaybell } from './paybell.ts'

export { routeConfig, startRoute } from './routes.ts'

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
