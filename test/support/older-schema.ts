// A database with the schema of an earlier day: the migrations up to one of them, and none after it.

import { readdir } from 'node:fs/promises'
import { runner } from 'node-pg-migrate'
import { createClient } from '../../server/store/connection/db.ts'
import { MIGRATIONS_DIR } from '../../server/store/schema/migrate.ts'

/** The names of all migrations, without `.sql`, in order. */
export async function migrationNames(): Promise<readonly string[]> {
  const files = await readdir(MIGRATIONS_DIR)
  return files
    .filter((name) => name.endsWith('.sql'))
    .map((name) => name.slice(0, -'.sql'.length))
    .sort()
}

/** `last` is the name of the last one, without `.sql`. The database is empty. */
export async function migrateTo(url: string, last: string): Promise<void> {
  const count = (await migrationNames()).indexOf(last) + 1
  if (count === 0) throw new Error(`there is no migration ${last}`)
  const client = createClient(url, 'paybell test')
  await client.connect()
  try {
    await runner({
      dbClient: client,
      dir: MIGRATIONS_DIR,
      direction: 'up',
      count,
      migrationsTable: 'migrations',
      schema: 'paybell',
      createSchema: true,
      singleTransaction: true,
      logger: { debug() {}, info() {}, warn() {}, error() {} },
    })
  } finally {
    await client.end()
  }
}
