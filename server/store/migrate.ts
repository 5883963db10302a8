// Brings a database to the newest schema. Safe when several processes start at once: one migrates
// under an advisory lock, the others wait for it and find nothing left to do.

import { readdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { runner } from 'node-pg-migrate'
import pg from 'pg'
import { connectionConfig, SCHEMA } from './db.ts'
import { carryFeedOver } from './feed-origin.ts'
import { ensurePartitions } from './partitions.ts'

export const MIGRATIONS_DIR = fileURLToPath(new URL('../../migrations', import.meta.url))

/** Returns the names of the migrations that this call applied. */
export async function migrate(url: string, now: Date): Promise<readonly string[]> {
  const client = new pg.Client(connectionConfig(url, 'paybell migrate'))
  await client.connect()
  try {
    const pending = await countPending(client)
    const applied = pending === 0 ? [] : await apply(client, pending)
    await ensurePartitions(client, now)
    // A dump that was restored elsewhere is at home in another cluster from its first start on.
    await client.query('begin')
    await carryFeedOver(client)
    await client.query('commit')
    return applied
  } finally {
    await client.end()
  }
}

/** A role that does not own the schema may serve: where nothing is to be done, nothing is tried. */
async function countPending(client: pg.Client): Promise<number> {
  const files = (await readdir(MIGRATIONS_DIR)).filter((name) => name.endsWith('.sql'))
  const { rows } = await client.query<{ there: boolean }>(
    `select to_regclass('${SCHEMA}.migrations') is not null as there`,
  )
  if (!rows[0]?.there) return files.length
  const done = await client.query<{ name: string }>('select name from migrations')
  const names = new Set(done.rows.map((row) => row.name))
  return files.filter((file) => !names.has(file.replace(/\.sql$/, ''))).length
}

async function apply(client: pg.Client, pending: number): Promise<readonly string[]> {
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
    return applied.map((migration) => migration.name)
  } catch (error) {
    if ((error as { code?: unknown }).code !== '42501') throw error
    throw new Error(
      `the schema is ${pending} migrations behind, and this database role may not change it: run "paybell migrate" as the role that owns the schema, then start again`,
      { cause: error },
    )
  }
}
