// Two cells, 0 and 7, for a route to stand before: in two schemas of one database, or each in a database of its own.
// Both have the same master key, operator's key and signing keys, as cells behind one address do.

import { randomBytes } from 'node:crypto'
import { addressOfCell, parseDatabaseUrl } from '../../server/core/network/database-url.ts'
import { copySigningKeys } from '../../server/store/schema/cells.ts'
import { migrate } from '../../server/store/schema/migrate.ts'
import { cloneDatabase, openPool, type TestDatabase } from './database.ts'
import type { Owner } from './owner.ts'
import { type Paybell, startPaybell } from './paybell.ts'

export { routeConfig, startRoute } from './routes.ts'

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

/** `server` is that of the seventh cell's own database; `homes` are cells that are there. By default both are in one
 *  database. */
export async function startTwoCells(
  t: Owner,
  options: {
    server?: string
    homes?: readonly [TestDatabase, TestDatabase]
    env?: Readonly<Record<string, string>>
  } = {},
): Promise<TwoCells> {
  const { server, homes, env = {} } = options
  const operatorKey = randomBytes(32).toString('base64url')
  const masterKey = randomBytes(32)
  const shared = { operatorKey, masterKey }
  const database = homes?.[0] ?? (await cloneDatabase())
  const cell = String(parseDatabaseUrl(database.url)?.cell)
  const first = await startPaybell(t, { ...shared, database, env: { PAYBELL_CELL: cell, ...env } })
  // Its first token makes the signing key that both shall have.
  await first.caller.token()
  const home = server === undefined ? database : await cloneDatabase({ server })
  const other = homes?.[1] ?? (await openCell(t, home, 7))
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
    sourceUrl: database.url,
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
  const pool = openPool(t, url, 5)
  return { url, pool, drop: async () => {} }
}
