// What the database alone knows of the whole service, for metrics: a few statements, everything in them
// bounded. Counts of what is owed stop at a limit; the size of history is the planner's estimate.

import type { Pool } from 'pg'
import { DAY_MS } from '../../core/delivery/backoff.ts'
import type { FinalState } from '../../core/delivery/delivery.ts'
import type { EndpointStatus } from '../../core/delivery/endpoint.ts'
import { type Db, inTransaction } from '../connection/db.ts'
import { type DefaultRows, readDefaultRows } from '../schema/default-partitions.ts'
import { readCertificateEnds } from '../secrets/certificate-ends.ts'
import { downEndpoints, isOfDownEndpoint } from '../sql/due-times.ts'

export interface DatabaseGauges {
  due: number
  scheduled: number
  /** The endpoint is paused, disabled or down, or has enough in memory: they wait for it, and are not due. */
  paused: number
  /** Null when nothing is due. */
  oldestDueAtMs: number | null
  /** Rows of the history, by the planner's own estimate. */
  ended: Readonly<Partial<Record<FinalState, number>>>
  endpoints: readonly { kind: string; status: EndpointStatus; count: number }[]
  /** Whole days for which every partitioned table has its partition already; -1: not even today. */
  partitionDaysAhead: number
  /** Everything audited before this instant is sealed; null before the first round. */
  auditSealedThroughMs: number | null
  /** Rows that lie in a default partition, where there should be none, by table. */
  defaultRows: DefaultRows
  /** When the service's own certificates end, by name. */
  certificateEndsMs: Readonly<Record<string, number>>
}

/** Of each shard; 64 of them make about a million, which is backlog enough for a gauge. */
const COUNTED_PER_SHARD_MAX = 20_000

const PARTITIONED = ['events', 'final_deliveries', 'earlier_attempts']

const counted = (condition: string) => `(
  select count(*)::int from generate_series(0, 63) as s (shard) cross join lateral (
    select from pending_deliveries p where p.shard = s.shard and ${condition}
    limit ${COUNTED_PER_SHARD_MAX}) as one)`

/** Gives up after `limitMs`, on the server too. */
export async function readDatabaseGauges(
  pool: Pool,
  now: Date,
  limitMs: number,
): Promise<DatabaseGauges> {
  return inTransaction(pool, async (db) => {
    const [, owed, catalogue, defaultRows, ends] = await Promise.all([
      db.query(`set local statement_timeout = ${Math.ceil(limitMs)}`),
      readOwed(db, now),
      readCatalogue(db),
      readDefaultRows(db),
      readCertificateEnds(db),
    ])
    return {
      due: owed.due,
      scheduled: owed.scheduled,
      paused: owed.paused,
      oldestDueAtMs: owed.oldest_due_at?.getTime() ?? null,
      ended: catalogue.ended ?? {},
      endpoints: owed.endpoints ?? [],
      partitionDaysAhead: countDaysAhead(new Set(catalogue.partitions ?? []), now),
      auditSealedThroughMs:
        owed.sealed_through instanceof Date ? owed.sealed_through.getTime() : null,
      defaultRows,
      certificateEndsMs: Object.fromEntries(
        ends.map(({ name, notAfter }) => [name, notAfter.getTime()]),
      ),
    }
  })
}

interface OwedRow {
  due: number
  scheduled: number
  paused: number
  oldest_due_at: Date | null
  endpoints: DatabaseGauges['endpoints'] | null
  sealed_through: Date | number | null
}

async function readOwed(db: Db, now: Date): Promise<OwedRow> {
  const { rows } = await db.query<OwedRow>({
    name: 'read-owed-gauges',
    text: `with ${downEndpoints('$1')}, come as materialized (
             select count(*) filter (where not one.is_down)::int as due,
               count(*) filter (where one.is_down)::int as held_up
             from generate_series(0, 63) as s (shard) cross join lateral (
               select ${isOfDownEndpoint('p')} as is_down from pending_deliveries p
               where p.shard = s.shard and p.next_attempt_at <= $1
               limit ${COUNTED_PER_SHARD_MAX}) as one)
           select (select due from come) as due,
             ${counted('p.next_attempt_at > $1')} as scheduled,
             ${counted('p.next_attempt_at is null')} + (select held_up from come) as paused,
             (select min(first.next_attempt_at)
              from generate_series(0, 63) as s (shard) cross join lateral (
                select p.next_attempt_at from pending_deliveries p
                where p.shard = s.shard and p.next_attempt_at <= $1
                  and not ${isOfDownEndpoint('p')}
                order by p.next_attempt_at limit 1) as first) as oldest_due_at,
             (select json_agg(k) from (
                select kind, status, count(*)::int as count from endpoints
                where deleted_at is null group by kind, status) as k) as endpoints,
             (select sealed_through from audit_seal_progress) as sealed_through`,
    values: [now],
  })
  return rows[0] as OwedRow
}

interface CatalogueRow {
  ended: DatabaseGauges['ended'] | null
  partitions: string[] | null
}

/** A statement of its own: tables may live on another node than the catalogue that is asked. */
async function readCatalogue(db: Db): Promise<CatalogueRow> {
  const { rows } = await db.query<CatalogueRow>({
    name: 'read-catalogue-gauges',
    text: `select (select json_object_agg(state, round) from (
                select v.state, round(sum(c.reltuples * v.share)) as round
                from pg_inherits i join pg_class c on c.oid = i.inhrelid
                join pg_stats t on t.schemaname = current_schema() and t.tablename = c.relname
                  and t.attname = 'state'
                cross join lateral unnest(t.most_common_vals::text::text[], t.most_common_freqs)
                  as v (state, share)
                where i.inhparent = 'final_deliveries'::regclass and c.reltuples > 0
                group by v.state) as e) as ended,
             (select json_agg(c.relname) from pg_inherits i
                join pg_class c on c.oid = i.inhrelid
                where i.inhparent = any($1::text[]::regclass[])) as partitions`,
    values: [PARTITIONED],
  })
  return rows[0] as CatalogueRow
}

function countDaysAhead(existing: ReadonlySet<string>, now: Date): number {
  for (let day = 0; ; day++) {
    const date = new Date(now.getTime() + day * DAY_MS).toISOString().slice(0, 10)
    const suffix = date.replaceAll('-', '_')
    if (!PARTITIONED.every((table) => existing.has(`${table}_${suffix}`))) return day - 1
  }
}
