// Brings a database to the newest schema. Safe when several processes start at once: one migrates under an
// advisory lock, the others wait for it and find nothing left to do. Safe beside healthy processes, too:
// nothing here waits for a lock for longer than a moment, and every wait has an end.

import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type pg from 'pg'
import { schemaOfCell } from '../../core/network/cell.ts'
import { createClient } from '../connection/db.ts'
import {
  LOCK_TIMEOUT,
  LOCK_TRIES,
  type LockTries,
  nameHolders,
  tryForLocks,
} from '../connection/lock-tries.ts'
import { isLockTimeout, tryLockMigrations, unlockMigrations } from '../connection/locks.ts'
import { addressOf } from '../connection/session.ts'
import { migrationsOfCell } from './cell-migrations.ts'
import { prepareForMigration } from './cells.ts'
import { carryFeedOver } from './feed-origin.ts'
import {
  changedMigrationText,
  findChangedMigrations,
  noteMigrationHashes,
  readMigrationHashes,
} from './migration-hashes.ts'
import { ensurePartitions, type PartitionOptions, type PartitionsMade } from './partitions.ts'

export const MIGRATIONS_DIR = fileURLToPath(new URL('../../../migrations', import.meta.url))

export interface MigrateOptions extends PartitionOptions {
  migrationsDir?: string
  lockTries?: LockTries
  /** Told what came of the partitions when some were left for later, or rows had to be moved. */
  onPartitions?: (partitions: PartitionsMade) => void
}

/** Another process that migrates may take its time. */
const ELSEWHERE_MS_MAX = 120_000
const ELSEWHERE_POLL_MS = 200
const IDLE_MS_MAX = 30_000

/** Returns the names of the migrations that this call applied. */
export async function migrate(
  url: string,
  now: Date,
  options: MigrateOptions = {},
): Promise<readonly string[]> {
  const client = createClient(url, 'paybell migrate', {
    mustTakeWrites: true,
    // A process that is frozen in the middle of a migration must not keep its tables locked.
    settings: { idle_in_transaction_session_timeout: IDLE_MS_MAX },
  })
  await client.connect()
  try {
    await client.query(`set lock_timeout = '${LOCK_TIMEOUT}'`)
    const isDistributed = await prepareForMigration(client)
    const dir = options.migrationsDir ?? MIGRATIONS_DIR
    const hashes = await readMigrationHashes(dir)
    const changed = await findChangedMigrations(client, hashes)
    if (changed.length > 0) throw new Error(changedMigrationText(changed))
    const lockTries = options.lockTries ?? LOCK_TRIES
    const { cell } = addressOf(url)
    const of = { dir, names: [...hashes.keys()], lockTries, cell, isDistributed }
    const applied = await applyPending(client, of)
    await noteMigrationHashes(client, hashes, now).catch((error) => {
      // Another process notes the same ones at this moment.
      if (!isLockTimeout(error)) throw error
    })
    await prepareToday(client, now, { ...options, lockTries })
    // A dump that was restored elsewhere is at home in another cluster from its first start on.
    await client.query('begin')
    await carryFeedOver(client)
    await client.query('commit')
    return applied
  } finally {
    await client.end()
  }
}

interface Migrations {
  dir: string
  names: readonly string[]
  lockTries: LockTries
  cell: number
  isDistributed: boolean
}

/** A role that does not own the schema may serve: where nothing is to be done, nothing is tried. */
async function applyPending(client: pg.Client, of: Migrations): Promise<readonly string[]> {
  const limit = performance.now() + ELSEWHERE_MS_MAX
  for (;;) {
    if ((await countPending(client, of.names)) === 0) return []
    if (await tryLockMigrations(client)) break
    if (performance.now() > limit) {
      throw new Error(
        `another process has been migrating this database for more than ${ELSEWHERE_MS_MAX / 1_000} s: ${await nameHolders(client)}. Nothing was changed; start again when that has ended`,
      )
    }
    await delay(ELSEWHERE_POLL_MS)
  }
  try {
    return await applyOneByOne(client, of)
  } finally {
    await unlockMigrations(client).catch(() => {})
  }
}

/**
 * Each in a transaction of its own: what one has locked is free again before the next begins, and a slow one keeps
 * from a busy table only what it needs itself. An empty database has no traffic, and takes all of them at once.
 */
async function applyOneByOne(client: pg.Client, of: Migrations): Promise<readonly string[]> {
  const applied: string[] = []
  for (;;) {
    const pending = await countPending(client, of.names)
    if (pending === 0) return applied
    const count = pending === of.names.length ? pending : 1
    const what = 'the schema could not be migrated'
    const run = () => apply(client, of, { pending, count })
    applied.push(...(await tryForLocks(client, what, of.lockTries, run)))
  }
}

async function countPending(client: pg.Client, names: readonly string[]): Promise<number> {
  const { rows } = await client.query<{ there: boolean }>(
    `select to_regclass('migrations') is not null as there`,
  )
  if (!rows[0]?.there) return names.length
  const done = await client.query<{ name: string }>('select name from migrations')
  const applied = new Set(done.rows.map((row) => row.name))
  return names.filter((name) => !applied.has(name)).length
}

async function apply(
  client: pg.Client,
  { dir, cell, isDistributed }: Migrations,
  { pending, count }: { pending: number; count: number },
): Promise<readonly string[]> {
  // Loaded where there is something to migrate: most starts find nothing, and should be quick.
  const { runner } = await import('node-pg-migrate')
  try {
    const applied = await runner({
      dbClient: migrationsOfCell(client, cell, isDistributed),
      dir,
      direction: 'up',
      count,
      migrationsTable: 'migrations',
      schema: schemaOfCell(cell),
      createSchema: true,
      checkOrder: true,
      singleTransaction: true,
      // Its own lock has no limit: we hold it already.
      noLock: true,
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

/** What is written today needs its partitions; those of the days ahead can wait for upkeep. */
async function prepareToday(
  client: pg.Client,
  now: Date,
  options: MigrateOptions & { lockTries: LockTries },
): Promise<void> {
  const { triesMax, pauseMs } = options.lockTries
  for (let tried = 1; ; tried++) {
    const partitions = await ensurePartitions(client, now, options)
    if (partitions.left.length > 0 || partitions.moved.length > 0) {
      options.onPartitions?.(partitions)
    }
    const [missing] = partitions.missingToday
    if (missing === undefined) return
    if (tried >= triesMax || !partitions.missingToday.every(({ isPassing }) => isPassing)) {
      const names = partitions.missingToday.map(({ partition }) => partition).join(', ')
      const holders = missing.isPassing ? `, because ${await nameHolders(client)}` : ''
      throw new Error(
        `today's partitions cannot be made: ${names} (${missing.reason})${holders}. Start again when that is put right`,
      )
    }
    await delay(pauseMs)
  }
}
