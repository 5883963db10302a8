// Brings a database to the newest schema. Safe when several processes start at once: one migrates
// under an advisory lock, the others wait for it and find nothing left to do.

import { fileURLToPath } from 'node:url'
import { runner } from 'node-pg-migrate'
import pg from 'pg'
import { connectionConfig, SCHEMA } from './db.ts'
import { ensurePartitions } from './partitions.ts'

const MIGRATIONS_DIR = fileURLToPath(new URL('../../migrations', import.meta.url))

/** Returns the names of the migrations that this call applied. */
export async function migrate(url: string, now: Date): Promise<readonly string[]> {
  const client = new pg.Client(connectionConfig(url, 'paybell migrate'))
  await client.connect()
  try {
    const applied = await runner({
      dbClient: client,
      dir: MIGRATIONS_DIR,
      direction: 'up',
      migrationsTable: 'migrations',
      schema: SCHEMA,
      createSchema: true,
      checkOrder: true,
      singleTransaction: true,
      advisoryLockMode: 'wait',
      logger: { debug() {}, info() {}, warn() {}, error() {} },
    })
    await ensurePartitions(client, now)
    return applied.map((migration) => migration.name)
  } finally {
    await client.end()
  }
}
