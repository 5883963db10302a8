// A database of its own for each test (file): a clone of the migrated template, gone afterwards.

import { randomBytes } from 'node:crypto'
import { after } from 'node:test'
import type { Pool } from 'pg'
import { createPool } from '../../server/store/connection/db.ts'
import type { Owner } from './owner.ts'
import { databaseUrl, onServer, startTestServer, TEMPLATE } from './test-server.ts'

export interface TestDatabase {
  url: string
  pool: Pool
  /** Ends the pool and drops the database; called by itself after the tests of the file. */
  drop(): Promise<void>
}

/** What hangs ends; what a busy machine takes long for does not. */
const STATEMENT_MS_MAX = 120_000

let serverUrl: Promise<string> | undefined

/** Run in reverse order: databases go before the server that holds them. */
const cleanUps: (() => Promise<void>)[] = []

// Registered while the file is loaded: inside a test it would run when that test ends.
after(endDatabases)

/** Where several files share a process, this is loaded with the first alone: test/worker.ts calls it after
 *  each. */
export async function endDatabases(): Promise<void> {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp()
}

/** The server that `npm test` has started, or one for this file alone when it is run by itself. */
export function testServerUrl(): Promise<string> {
  serverUrl ??= (async () => {
    const shared = process.env.PAYBELL_TEST_SERVER_URL
    if (shared) return shared
    const server = await startTestServer()
    cleanUps.push(() => server.stop())
    return server.url
  })()
  return serverUrl
}

export async function cloneDatabase(
  options: { connectionsMax?: number; server?: string; template?: string } = {},
): Promise<TestDatabase> {
  const server = options.server ?? (await testServerUrl())
  const name = `test_${randomBytes(8).toString('hex')}`
  await cloneTemplate(server, name, options.template ?? TEMPLATE)
  const url = databaseUrl(server, name)
  const pool = createPool({
    url,
    connectionsMax: options.connectionsMax ?? 10,
    onIdleError: () => {},
    applicationName: 'paybell test',
    statementTimeoutMs: STATEMENT_MS_MAX,
  })
  let isDropped = false
  const drop = async () => {
    if (isDropped) return
    isDropped = true
    await pool.end()
    await onServer(server, (client) => client.query(`drop database ${name} with (force)`))
  }
  cleanUps.push(drop)
  return { url, pool, drop }
}

/** Connections of a test's own, which end with it. */
export function openPool(
  t: Owner,
  url: string,
  connectionsMax = 1,
  statementTimeoutMs?: number,
): Pool {
  const pool = createPool({
    url,
    connectionsMax,
    onIdleError: () => {},
    applicationName: 'paybell test',
    ...(statementTimeoutMs === undefined ? {} : { statementTimeoutMs }),
  })
  t.after(() => pool.end())
  return pool
}

/** A copy of a database with what is in it. It can be made only while that one has no connections; its pool must have
 *  one at most, and none of them in use. */
export async function copyDatabase(
  { pool, url }: TestDatabase,
  options: { connectionsMax?: number; server?: string } = {},
): Promise<TestDatabase> {
  const client = await pool.connect()
  const gone = new Promise((resolve) => client.once('end', resolve))
  client.release(true)
  await gone
  return cloneDatabase({ ...options, template: new URL(url).pathname.slice(1) })
}

/** Noon of the day on which the partitions of the clones were made, which may be over: tests run over midnight. */
export async function readMadeAt(pool: Pool): Promise<Date> {
  const { rows } = await pool.query(
    `select min(substring(inhrelid::regclass::text from '\\d{4}_\\d\\d_\\d\\d')) as day
     from pg_inherits where inhparent = 'earlier_attempts'::regclass`,
  )
  return new Date(`${rows[0].day.replaceAll('_', '-')}T12:00:00Z`)
}

/** A template cannot be copied while another copy of it is being made: wait for each other. Files are copied
 *  as they are, which costs PostgreSQL a tenth of writing each page to its log. */
async function cloneTemplate(server: string, name: string, template: string): Promise<void> {
  await onServer(server, async (client) => {
    await client.query('select pg_advisory_lock(715)')
    await client.query(`create database ${name} template ${template} strategy file_copy`)
  })
}
