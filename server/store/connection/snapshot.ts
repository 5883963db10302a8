// Several statements that see one and the same state of the database, and hold the locks of none but the
// one that runs. A delivery moves from what is owed to what has ended, and back: within one snapshot it is
// in exactly one of them, however many statements look for it.

import type { Pool, QueryConfig, QueryResultRow } from 'pg'
import { type Db, inTransaction } from './db.ts'

/** Nothing that grows is prepared here: plans are made for tables as they are, and may read one whole. */
const OPENING =
  'set transaction isolation level repeatable read, read only; set local enable_seqscan = on'

/** Reads only. */
export function inSnapshot<T>(pool: Pool, run: (db: Db) => Promise<T>): Promise<T> {
  return inTransaction(pool, async (db) => {
    const [, result] = await Promise.all([db.query(OPENING), run(releasing(db))])
    return result
  })
}

/**
 * For a transaction's reads: what a statement has locked is released after it, because going back to a
 * savepoint gives up every lock taken since. Nothing that is written this way stays.
 */
export function releasing(db: Db): Db {
  return {
    async query<R extends QueryResultRow>(config: string | QueryConfig, values?: unknown[]) {
      const [, result] = await Promise.all([
        db.query('savepoint look'),
        db.query<R>(config, values),
        db.query('rollback to savepoint look; release savepoint look'),
      ])
      return result
    },
  }
}
