// What is kept, and for how long. History goes by whole days: dropping a partition costs the same
// whether it holds ten rows or ten million. A day whose events are still owed stays.

import pg from 'pg'
import { DAY_MS } from '../../core/delivery/backoff.ts'
import { uuidFloor } from '../../core/plain/uuid.ts'
import type { Db } from '../connection/db.ts'
import { LOCK_TIMEOUT } from '../connection/lock-tries.ts'
import { isLockTimeout } from '../connection/locks.ts'
import { forgetFinalCounts } from '../history/stats.ts'
import { type DocumentKey, deleteIfUnused } from '../payments/documents.ts'

export interface Dropped {
  partitions: readonly string[]
  /** Could not be dropped, for another reason than that a session reads them now. */
  failed: readonly { partition: string; reason: string }[]
}

interface Partition {
  table: string
  name: string
  /** The first instant of its day. */
  startMs: number
}

/** Longer than the 24 hours that health looks back. */
const HOURS_KEPT_MS = 8 * DAY_MS

export async function dropOldHistory(db: Db, now: Date, keptDays: number): Promise<Dropped> {
  const before = now.getTime() - keptDays * DAY_MS
  const partitions: string[] = []
  const failed: { partition: string; reason: string }[] = []
  for (const partition of await readPartitions(db)) {
    if (partition.startMs + DAY_MS > before) continue
    // A list that is being read would block the drop, and the drop all who come after it: give up
    // quickly and try again at the next round. One string is one transaction.
    try {
      if (partition.table === 'events' && (await isStillOwed(db, partition))) continue
      await db.query(
        `set local lock_timeout = '${LOCK_TIMEOUT}'; drop table ${partition.name}; ${noteOf(partition)}`,
      )
      partitions.push(partition.name)
    } catch (error) {
      // No answer at all: the others would get none either.
      if (!(error instanceof pg.DatabaseError)) throw error
      if (isLockTimeout(error)) continue
      failed.push({ partition: partition.name, reason: error.message })
    }
  }
  return { partitions, failed }
}

export async function deleteOldHours(db: Db, now: Date): Promise<void> {
  await db.query('delete from endpoint_hours where hour < $1', [
    new Date(now.getTime() - HOURS_KEPT_MS),
  ])
}

/** The feed tells readers that are still before this day that they have missed something, and what is
 *  gone is no longer counted, nor stated (store/proofs/feed-marks.ts). */
function noteOf({ table, startMs }: Partition): string {
  const end = new Date(startMs + DAY_MS).toISOString()
  if (table === 'final_deliveries') {
    return `${forgetFinalCounts(startMs)};
      update feed_origin set ended_since = greatest(ended_since, '${end}')`
  }
  if (table !== 'events') return ''
  return `update feed_origin set kept_since = greatest(kept_since, '${end}');
    delete from late_days where day < '${end}'::timestamptz at time zone 'UTC'`
}

async function readPartitions(db: Db): Promise<readonly Partition[]> {
  const { rows } = await db.query<{ parent: string; name: string }>(
    `select p.relname as parent, c.relname as name from pg_inherits i
       join pg_class c on c.oid = i.inhrelid join pg_class p on p.oid = i.inhparent
     where p.relnamespace = current_schema()::regnamespace
       and p.relname in ('events', 'final_deliveries', 'earlier_attempts') and c.relkind = 'r'`,
  )
  return rows.flatMap(({ parent, name }) => {
    const day = /_(\d{4})_(\d{2})_(\d{2})$/.exec(name)
    if (day === null) return []
    return [
      {
        table: parent,
        name,
        startMs: Date.UTC(Number(day[1]), Number(day[2]) - 1, Number(day[3])),
      },
    ]
  })
}

/**
 * A delivery's id has the time of its event's id. So one look by the key tells for each client, however much is owed.
 */
async function isStillOwed(db: Db, partition: Partition): Promise<boolean> {
  const { rows } = await db.query<{ owed: boolean }>(
    `select exists (select from clients c cross join lateral (
       select from pending_deliveries d
       where d.client_key = c.client_key and d.id >= $1::uuid and d.id < $2::uuid limit 1) as d) as owed`,
    [uuidFloor(partition.startMs), uuidFloor(partition.startMs + DAY_MS)],
  )
  return rows[0]?.owed === true
}

/** How far the last look at the files came. */
export interface DocumentPosition {
  clientKey: number
  hash: Buffer
}

/**
 * Looks at some files, in the order of their key, and deletes those of them that are old and that nothing names any
 * more. One that is used again is renewed: what is older than `before` is named by nothing that is kept. `next` is null at
 * the end.
 */
export async function deleteUnusedDocuments(
  db: Db,
  before: Date,
  after: DocumentPosition | null,
  limit: number,
): Promise<{ count: number; next: DocumentPosition | null }> {
  const { rows } = await db.query<DocumentKey & { is_unused: boolean }>(
    `with looked as materialized (
       select d.client_key, d.hash, d.created_at from documents d
       where (d.client_key, d.hash) > ($2::int, $3::bytea)
       order by d.client_key, d.hash limit $4)
     select l.client_key, l.hash, l.created_at::text,
       l.created_at < $1 and (select true from payments p
         where p.client_key = l.client_key and p.document_hash = l.hash limit 1) is null as is_unused
     from looked l order by l.client_key, l.hash`,
    [before, after?.clientKey ?? 0, after?.hash ?? Buffer.alloc(0), limit],
  )
  const count = await deleteIfUnused(
    db,
    db,
    rows.filter((row) => row.is_unused),
  )
  const last = rows.at(-1)
  const isEnd = rows.length < limit || last === undefined
  return { count, next: isEnd ? null : { clientKey: last.client_key, hash: last.hash } }
}
