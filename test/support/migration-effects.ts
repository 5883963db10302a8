// What SQL does to tables that are there already, as PostgreSQL itself tells: what it locks, how many rows it
// reads and writes, and whether it writes a table anew. For migrations, which run beside traffic.

import type { Db } from '../../server/store/connection/db.ts'

export interface Effect {
  /** A table, or a partition. */
  table: string
  /** The strongest lock that is held at the end, by PostgreSQL's name for it. */
  lock: string
  /** From the weakest, 1, to the strongest, 8. */
  strength: number
  rowsRead: number
  rowsWritten: number
  isRewritten: boolean
}

/** From `share` on, a lock keeps others from writing; the strongest keeps them from reading, too. */
export const STOPS_WRITERS = 5

const LOCKS = [
  'AccessShareLock',
  'RowShareLock',
  'RowExclusiveLock',
  'ShareUpdateExclusiveLock',
  'ShareLock',
  'ShareRowExclusiveLock',
  'ExclusiveLock',
  'AccessExclusiveLock',
]

interface TableState {
  table: string
  file: number
  read: number
  written: number
  locks: string[]
}

/**
 * Counters of the transaction are there before statistics are: a scan that an `alter table` or the building
 * of an index makes is counted like any other.
 */
const STATE = `
  select c.oid::regclass::text as table, c.relfilenode::bigint::int as file,
    pg_stat_get_xact_tuples_returned(c.oid)::int as read,
    (pg_stat_get_xact_tuples_inserted(c.oid) + pg_stat_get_xact_tuples_updated(c.oid)
      + pg_stat_get_xact_tuples_deleted(c.oid))::int as written,
    array(select l.mode from pg_locks l
      where l.relation = c.oid and l.pid = pg_backend_pid() and l.granted) as locks
  from pg_class c
  where c.relnamespace = to_regnamespace(current_schema()) and c.relkind in ('r', 'p')`

/** Runs the SQL in the transaction that the caller has begun. */
export async function observe(db: Db, sql: string): Promise<readonly Effect[]> {
  const before = new Map((await readState(db)).map((state) => [state.table, state]))
  await db.query(sql)
  return (await readState(db)).flatMap((state) => {
    const known = before.get(state.table)
    return known === undefined ? [] : toEffect(known, state)
  })
}

async function readState(db: Db): Promise<readonly TableState[]> {
  return (await db.query<TableState>(STATE)).rows
}

/** Nothing for a table that is not touched. */
function toEffect(before: TableState, after: TableState): readonly Effect[] {
  const strength = Math.max(0, ...after.locks.map((lock) => LOCKS.indexOf(lock) + 1))
  if (strength === 0) return []
  return [
    {
      table: after.table,
      lock: LOCKS[strength - 1] as string,
      strength,
      rowsRead: after.read - before.read,
      rowsWritten: after.written - before.written,
      isRewritten: after.file !== before.file,
    },
  ]
}
