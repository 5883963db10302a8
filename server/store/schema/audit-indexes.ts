// The index of places of months that were too large to get it from migration 0033, which would have stopped their
// writers. Without it every round of sealing reads such a month: what is sealed next is looked for in all of them, because
// an id says when some clock thought that its row was made.

import pg from 'pg'
import type { Db } from '../connection/db.ts'
import { LOCK_TIMEOUT } from '../connection/lock-tries.ts'

export interface IndexedMonths {
  made: readonly string[]
  /** Broken off, or another process is at it: the next call goes on. */
  left: readonly { partition: string; reason: string }[]
}

/** Those of ours; a role that does not own the audit makes none, and the owner has docs/operations.md. Stops no writer. */
export async function indexPlaces(db: Db): Promise<IndexedMonths> {
  const made: string[] = []
  const left: { partition: string; reason: string }[] = []
  for (const name of await readUnindexed(db)) {
    try {
      // What an earlier call has left unfinished. Each outside a transaction: PostgreSQL asks for that.
      await db.query(`drop index concurrently if exists ${name}_by_place`)
      await db.query(
        `create index concurrently ${name}_by_place on ${name} using brin (place)
         with (pages_per_range = 32, autosummarize = on)`,
      )
      await db.query(
        `set local lock_timeout = '${LOCK_TIMEOUT}';
         alter index audit_by_place attach partition ${name}_by_place`,
      )
      made.push(name)
    } catch (error) {
      if (!(error instanceof pg.DatabaseError)) throw error
      left.push({ partition: name, reason: error.message })
    }
  }
  return { made, left }
}

async function readUnindexed(db: Db): Promise<readonly string[]> {
  const { rows } = await db.query<{ name: string }>(
    `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
       join pg_attribute a on a.attrelid = c.oid and a.attname = 'place'
     where i.inhparent = 'audit'::regclass and pg_has_role(c.relowner, 'usage')
       and not exists (select from pg_index x
         where x.indrelid = c.oid and x.indisvalid and x.indkey[0] = a.attnum)
     order by c.relname desc`,
  )
  return rows.map((row) => row.name)
}
