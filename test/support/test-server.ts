// The PostgreSQL that tests run on: an embedded one of their own in a temporary folder, with one
// migrated template database. It never waits for the disk, since a power cut ends the tests anyway: what is
// durable is proven on servers of their own. PAYBELL_TEST_SERVER_URL puts another server in its place, such
// as a 15.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { startEmbedded } from '../../server/embedded/database.ts'
import { migrate } from '../../server/store/schema/migrate.ts'

export const TEMPLATE = 'paybell_template'

export interface TestServer {
  url: string
  stop(): Promise<void>
}

export async function startTestServer(): Promise<TestServer> {
  const dataDir = await mkdtemp(join(tmpdir(), 'paybell-test-'))
  const database = await startEmbedded({
    dataDir,
    log: () => {},
    ephemeral: true,
    unsafeThrowAwayForTests: true,
    // Files that share a process keep their pools until the last of them has ended.
    maxConnections: 500,
    sharedBuffersMb: 128,
  })
  await onServer(database.url, makeLoginsCheap)
  await makeTemplate(database.url)
  return {
    url: database.url,
    async stop() {
      await database.stop()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

/** The tests log in some thousand times: a password is usually hashed 4,096 times at each. */
async function makeLoginsCheap(client: pg.Client): Promise<void> {
  const { user, password } = client
  await client.query('set scram_iterations = 1')
  await client.query(`alter role ${user} password ${pg.escapeLiteral(password ?? '')}`)
}

export async function makeTemplate(serverUrl: string): Promise<void> {
  await onServer(serverUrl, async (client) => {
    await client.query(`drop database if exists ${TEMPLATE}`)
    await client.query(`create database ${TEMPLATE}`)
  })
  await migrate(databaseUrl(serverUrl, TEMPLATE), new Date())
}

/** A busy machine takes its time for a connection: what waits for one in a test waits for a minute. */
export function databaseUrl(serverUrl: string, name: string): string {
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  url.searchParams.set('connect_timeout', '60')
  return url.href
}

export async function onServer<T>(
  serverUrl: string,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client({ connectionString: serverUrl })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}
