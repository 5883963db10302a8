// Leases and the processes that hold them. Every time here is read and compared on the database's own
// clock, so that a machine whose clock runs ahead cannot take a lease early.

import type { ShardEpoch } from '../core/lease.ts'
import type { Db } from './db.ts'

export interface ProcessIdentity {
  id: string
  host: string
  version: string
}

export interface Renewal {
  /** The database's time. */
  nowMs: number
  /** Processes alive, this one included. */
  processes: number
  held: readonly ShardEpoch[]
}

/** Says "I am alive", and lengthens every lease that has not run out yet. */
export async function renewLeases(
  db: Db,
  process: ProcessIdentity,
  spans: { leaseMs: number; processGoneAfterMs: number },
): Promise<Renewal> {
  const { rows } = await db.query<{ now_ms: number; processes: number; held: ShardEpoch[] | null }>(
    {
      name: 'renew-leases',
      text: `with alive as (
             insert into processes (id, host, version, started_at, seen_at)
             values ($1, $2, $3, clock_timestamp(), clock_timestamp())
             on conflict (id) do update set seen_at = excluded.seen_at
           ), renewed as (
             update leases set expires_at = clock_timestamp() + $4 * interval '1 millisecond'
             where owner = $1 and expires_at > clock_timestamp()
             returning shard, epoch
           )
           select extract(epoch from clock_timestamp())::float8 * 1000 as now_ms,
             1 + (select count(*)::int from processes where id <> $1
                   and seen_at > clock_timestamp() - $5 * interval '1 millisecond') as processes,
             (select json_agg(json_build_object('shard', shard, 'epoch', epoch)) from renewed) as held`,
      values: [process.id, process.host, process.version, spans.leaseMs, spans.processGoneAfterMs],
    },
  )
  const row = rows[0] as (typeof rows)[number]
  return { nowMs: row.now_ms, processes: row.processes, held: row.held ?? [] }
}

/** Takes up to `wanted` shards whose lease has run out. The epoch rises: an old owner records nothing more. */
export async function takeLeases(
  db: Db,
  processId: string,
  wanted: number,
  leaseMs: number,
): Promise<readonly ShardEpoch[]> {
  const { rows } = await db.query<ShardEpoch>({
    name: 'take-leases',
    text: `update leases set owner = $1, epoch = epoch + 1,
             expires_at = clock_timestamp() + $3 * interval '1 millisecond'
           where shard in (
             select shard from leases where expires_at <= clock_timestamp()
             order by shard limit $2 for update skip locked)
           returning shard, epoch`,
    values: [processId, wanted, leaseMs],
  })
  return rows
}

export async function releaseLeases(
  db: Db,
  processId: string,
  shards: readonly number[],
): Promise<void> {
  await db.query({
    name: 'release-leases',
    text: `update leases set owner = null, expires_at = '-infinity'
           where owner = $1 and shard = any($2::smallint[])`,
    values: [processId, shards],
  })
}

/** A process that stops is no longer counted when shards are shared out. */
export async function leaveProcesses(db: Db, processId: string): Promise<void> {
  await db.query('delete from processes where id = $1', [processId])
}

/**
 * Frees every shard at once. Only for a process that knows that it is alone on this database: the
 * sandbox, which has just started the server itself.
 */
export async function freeAllLeases(db: Db): Promise<void> {
  await db.query(`update leases set owner = null, expires_at = '-infinity' where owner is not null`)
  await db.query('delete from processes')
}

/** What time it is by the database, in milliseconds. */
export async function readDatabaseTimeMs(db: Db): Promise<number> {
  const { rows } = await db.query<{ now_ms: number }>(
    'select extract(epoch from clock_timestamp())::float8 * 1000 as now_ms',
  )
  return rows[0]?.now_ms as number
}
