// A database that answers and yet takes no writes: its disk is full, it is read-only, its storage fails.

import type { Pool } from 'pg'
import { inTransaction, isDatabaseAway } from './db.ts'

const READ_ONLY = '25006'
const DISK_FULL = '53100'

/** These tell of a statement that had to wait, for one payment perhaps: others are written all the same. */
const ONE_STATEMENT = new Set([
  '25P03', // idle in transaction timeout
  '25P04', // transaction timeout
  '40001', // serialization failure
  '40P01', // deadlock
  '55P03', // lock not available
  '57014', // statement timeout
])

/** Why nothing could be written, in words without details of the database; null for any other failure. */
export function findWriteRefusal(error: unknown): string | null {
  const { code } = (error ?? {}) as { code?: unknown }
  if (code === READ_ONLY) return 'the database is read-only'
  if (code === DISK_FULL) return 'the disk of the database is full'
  if (ONE_STATEMENT.has(String(code)) || !isDatabaseAway(error)) return null
  return 'the database does not take them'
}

/**
 * Throws what keeps the database from taking new rows. Writes a file of its own, which a full disk always
 * refuses; a row of an existing table might still find room. Nothing of it stays.
 */
export async function probeWrite(pool: Pool): Promise<void> {
  await inTransaction(pool, async (db) => {
    await db.query('create temp table write_probe (filler text) on commit drop')
    // Long enough for several pages, and not compressed: 128 kB reach the disk.
    await db.query(`alter table write_probe alter filler set storage plain`)
    await db.query(`insert into write_probe select repeat('x', 4000) from generate_series(1, 32)`)
  })
}
