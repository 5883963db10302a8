// Leases and the processes that hold them. The times in these tables are for people: nothing here
// compares them with any clock. A lease is taken when it was released, or when the taker names the mark
// that it has watched, unchanged, for a whole lease or until its owner was known to be dead: one renewal in
// between, and the mark is another.

import type { Pool } from 'pg'
import type { RenewedLease, ShardEpoch } from '../../core/delivery/lease.ts'
import {
  type EndedSign,
  type Sign,
  type SignedProcess,
  UNSIGNED,
} from '../../core/delivery/session-signs.ts'
import { type Db, inTransaction } from '../connection/db.ts'
import { SIGN_SERVER } from '../connection/locks.ts'
import { column } from '../sql/columns.ts'

export interface ProcessIdentity {
  id: string
  host: string
  version: string
}

export interface Renewal {
  /** The database's time. */
  nowMs: number
  /** Ours, and ours for longer now. */
  held: readonly RenewedLease[]
  /** Leases that others own, by shard, and all other processes, by id, with the mark of each. */
  others: ReadonlyMap<number, string>
  processes: ReadonlyMap<string, string>
  /** How many leases have no owner. */
  free: number
  /** Those of the other processes that have a sign, and the server where this was read, as their names begin with it. */
  signed: readonly SignedProcess[]
  server: string
}

// Any change of these is a sign of life: a process of the version before raises no beat.
const LEASE_MARK = `concat_ws('/', l.epoch, l.beat, extract(epoch from l.expires_at))`
const PROCESS_MARK = `concat_ws('/', p.beat, extract(epoch from p.seen_at))`

// Of the statement, not of the moment: a distributed schema takes no volatile function in an update.
const LATER = (ms: string) => `statement_timestamp() + ${ms} * interval '1 millisecond'`

interface SeenRow {
  now_ms: number
  server: string
  others: [shard: number, isFree: boolean, mark: string][] | null
  processes: [id: string, mark: string][] | null
  signed:
    | [
        id: string,
        name: string,
        endedForMs: number | null,
        shards: number[] | null,
        early: number[] | null,
      ][]
    | null
}

/**
 * Says "I am alive", renews every lease that is ours, and reads what others show of theirs. However late
 * it comes: as long as the lease is ours, no other process has sent for the shard. `gone` are processes
 * whose mark has not changed for long: they are forgotten. `settled` were taken early, and are as any other from now on.
 * `ended` are signs of others, for whoever watches after us.
 */
export function renewLeases(
  pool: Pool,
  process: ProcessIdentity,
  leaseMs: number,
  gone: ReadonlyMap<string, string>,
  sign: Sign = UNSIGNED,
  settled: readonly ShardEpoch[] = [],
  ended: readonly EndedSign[] = [],
): Promise<Renewal> {
  return inTransaction(pool, async (db, commit) => {
    // One after the other, and on the way together. Our own row comes first: a process that forgets others
    // passes over rows that are locked, so two of them never wait for each other.
    const [, held, , seen] = await Promise.all([
      sayAlive(db, process, sign),
      renewOwn(db, process.id, leaseMs, settled),
      // What follows it is on its way already: where another trip follows, a process that froze would hold rows of others.
      ended.length === 0 || gone.size > 0 ? null : noteEnded(db, ended),
      readOthers(db, process.id),
      gone.size === 0 ? commit() : forgetProcesses(db, gone),
    ])
    const others = seen.others ?? []
    return {
      nowMs: seen.now_ms,
      held,
      others: new Map(others.flatMap(([shard, isFree, mark]) => (isFree ? [] : [[shard, mark]]))),
      processes: new Map(seen.processes ?? []),
      free: others.filter(([, isFree]) => isFree).length,
      signed: (seen.signed ?? []).map(([id, name, endedForMs, shards, early]) => ({
        ...{ id, name, endedForMs, shards: shards ?? [], early: early ?? [] },
      })),
      server: seen.server,
    }
  })
}

/** A renewal that was held up, and comes after one of a later turn, does not bring its sign back. */
async function sayAlive(db: Db, { id, host, version }: ProcessIdentity, sign: Sign): Promise<void> {
  await db.query({
    name: 'say-alive',
    text: `insert into processes (id, host, version, started_at, seen_at, sign_turn, sign)
           values ($1, $2, $3, clock_timestamp(), clock_timestamp(), $4, $5)
           on conflict (id) do update set seen_at = excluded.seen_at, beat = processes.beat + 1,
             sign_turn = greatest(processes.sign_turn, excluded.sign_turn),
             sign = case when excluded.sign_turn >= processes.sign_turn
               then excluded.sign else processes.sign end`,
    values: [id, host, version, sign.turn, sign.name],
  })
}

/** Never less than was written before. Rows that are locked are passed over, as where processes are forgotten. */
async function noteEnded(db: Db, ended: readonly EndedSign[]): Promise<void> {
  await db.query({
    name: 'note-ended-signs',
    text: `update processes set ended_sign = e.name, ended_for_ms = e.ms
           from unnest($1::uuid[], $2::text[], $3::bigint[]) as e (id, name, ms)
           where processes.id = e.id and processes.id in (
             select p.id from processes p
             join unnest($1::uuid[], $2::text[], $3::bigint[]) as e (id, name, ms)
               on e.id = p.id and e.name = p.sign
             where p.ended_sign is distinct from e.name or p.ended_for_ms < e.ms
             for update of p skip locked)`,
    values: [
      column('uuid', ended, ({ id }) => id),
      column('text', ended, ({ name }) => name),
      column('bigint', ended, ({ forMs }) => forMs),
    ],
  })
}

async function forgetProcesses(db: Db, gone: ReadonlyMap<string, string>): Promise<void> {
  const { rows } = await db.query<{ id: string }>({
    text: `select p.id from processes p
           join unnest($1::uuid[], $2::text[]) as g (id, mark)
             on g.id = p.id and g.mark = ${PROCESS_MARK}
           for update of p skip locked`,
    values: [
      column('uuid', [...gone], ([id]) => id),
      column('text', [...gone], ([, mark]) => mark),
    ],
  })
  await db.query('delete from processes where id = any($1)', [column('uuid', rows, ({ id }) => id)])
}

async function renewOwn(
  db: Db,
  owner: string,
  leaseMs: number,
  settled: readonly ShardEpoch[],
): Promise<readonly RenewedLease[]> {
  const { rows } = await db.query<RenewedLease>({
    name: 'renew-leases',
    text: `update leases set expires_at = ${LATER('$2')}, beat = beat + 1,
             is_early = is_early and (shard, epoch) not in (
               select * from unnest($3::smallint[], $4::bigint[]))
           where owner = $1 returning shard, epoch, beat`,
    values: [
      owner,
      leaseMs,
      column('smallint', settled, ({ shard }) => shard),
      column('bigint', settled, ({ epoch }) => epoch),
    ],
  })
  return rows
}

async function readOthers(db: Db, owner: string): Promise<SeenRow> {
  const { rows } = await db.query<SeenRow>({
    name: 'read-other-leases',
    text: `select extract(epoch from clock_timestamp())::float8 * 1000 as now_ms,
             ${SIGN_SERVER} as server,
             (select json_agg(json_build_array(l.shard, l.owner is null, ${LEASE_MARK}))
               from leases l where l.owner is distinct from $1) as others,
             (select json_agg(json_build_array(p.id, ${PROCESS_MARK}))
               from processes p where p.id <> $1) as processes,
             (select json_agg(json_build_array(p.id, p.sign,
                 case when p.ended_sign = p.sign then p.ended_for_ms end,
                 (select json_agg(l.shard) from leases l
                   where l.owner = p.id and not l.is_early),
                 (select json_agg(l.shard) from leases l
                   where l.owner = p.id and l.is_early)))
               from processes p where p.id <> $1 and p.sign is not null) as signed`,
    values: [owner],
  })
  return rows[0] as SeenRow
}

/**
 * Takes up to `wanted` shards that have no owner, or whose lease still has the mark that we have watched
 * for a whole lease, or until the session of its owner had ended: those in `early` for less than an attempt of it may last.
 * The epoch rises: an old owner records nothing more.
 */
export async function takeLeases(
  db: Db,
  processId: string,
  wanted: number,
  leaseMs: number,
  marks: ReadonlyMap<number, string>,
  early: readonly number[] = [],
): Promise<readonly RenewedLease[]> {
  const { rows } = await db.query<RenewedLease>({
    name: 'take-leases',
    text: `update leases set owner = $1, epoch = epoch + 1, beat = beat + 1,
             expires_at = ${LATER('$3')}, is_early = shard = any($6::smallint[])
           where shard in (
             select l.shard from leases l
             where l.owner is null or (l.shard, ${LEASE_MARK}) in (
               select * from unnest($4::smallint[], $5::text[]))
             order by l.shard limit $2 for update of l skip locked)
           returning shard, epoch, beat`,
    values: [
      processId,
      wanted,
      leaseMs,
      column('smallint', [...marks], ([shard]) => shard),
      column('text', [...marks], ([, mark]) => mark),
      column('smallint', early, (shard) => shard),
    ],
  })
  return rows
}

/**
 * Gives these up, if they are still as they were when we last renewed them. A release that is held up,
 * and comes after a later renewal, must not free a lease that we have begun to count on again.
 */
export async function releaseLeases(
  db: Db,
  processId: string,
  leases: readonly RenewedLease[],
): Promise<void> {
  await db.query({
    name: 'release-leases',
    text: `update leases set owner = null, beat = beat + 1, expires_at = '-infinity'
           where owner = $1 and (shard, epoch, beat) in (
             select * from unnest($2::smallint[], $3::bigint[], $4::bigint[]))`,
    values: [
      processId,
      column('smallint', leases, ({ shard }) => shard),
      column('bigint', leases, ({ epoch }) => epoch),
      column('bigint', leases, ({ beat }) => beat),
    ],
  })
}

/**
 * A process stops: all that is its own is free, but for the shards that it still has to record for, and
 * it is no longer counted when shards are shared out. Both at once, or others would share out what is
 * free as if it were still there.
 */
export async function leaveProcesses(
  db: Db,
  processId: string,
  busy: readonly number[],
): Promise<void> {
  await db.query(
    `with gone as (delete from processes where id = $1)
     update leases set owner = null, beat = beat + 1, expires_at = '-infinity'
     where owner = $1 and shard <> all($2::smallint[])`,
    [processId, column('smallint', busy, (shard) => shard)],
  )
}

/**
 * Frees every shard at once. Only for a process that knows that it is alone on this database: the
 * sandbox, which has just started the server itself.
 */
export async function freeAllLeases(db: Db): Promise<void> {
  await db.query(
    `update leases set owner = null, beat = beat + 1, expires_at = '-infinity'
     where owner is not null`,
  )
  await db.query('delete from processes')
}

/** What time it is by the database, in milliseconds. */
export async function readDatabaseTimeMs(db: Db): Promise<number> {
  const { rows } = await db.query<{ now_ms: number }>(
    'select extract(epoch from clock_timestamp())::float8 * 1000 as now_ms',
  )
  return rows[0]?.now_ms as number
}
