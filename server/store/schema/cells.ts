// Cells as their database shows them: which there are, how large, and where they live. A cluster of Citus places
// and moves whole schemas; all that is asked of it is to take one, and to say where it is.

import { CELL_MAX, schemaOfCell } from '../../core/network/cell.ts'
import type { Db } from '../connection/db.ts'

export interface CellFacts {
  cell: number
  bytes: number
  /** The node of a cluster that has it; null where the server has it itself. */
  node: string | null
  isMigrated: boolean
}

interface CellRow {
  schema: string
  bytes: number
  has_migrations: boolean
}

/** Every cell of this database. */
export async function readCells(db: Db): Promise<readonly CellFacts[]> {
  const { rows } = await db.query<CellRow>(
    `select n.nspname as schema, to_regclass(quote_ident(n.nspname) || '.migrations') is not null
         as has_migrations,
       coalesce((select sum(pg_total_relation_size(c.oid)) from pg_class c
         where c.relnamespace = n.oid and c.relkind = 'r'), 0)::float8 as bytes
     from pg_namespace n where n.nspname ~ '^paybell(_[1-9][0-9]{0,3})?$'`,
  )
  const nodes = await readNodesOfCells(db)
  return rows
    .map(({ schema, bytes, has_migrations: isMigrated }) => ({
      cell: Number(/\d+$/.exec(schema)?.[0] ?? 0),
      bytes: nodes.get(schema)?.bytes ?? bytes,
      node: nodes.get(schema)?.node ?? null,
      isMigrated,
    }))
    .filter(({ cell }) => cell <= CELL_MAX)
    .sort((one, other) => one.cell - other.cell)
}

/** Schemas that are distributed, with the node that has each. A node that is away shows no size. */
async function readNodesOfCells(
  db: Db,
): Promise<ReadonlyMap<string, { node: string; bytes: number }>> {
  if (!(await hasCitus(db))) return new Map()
  const { rows } = await db.query<{ schema: string; node: string; bytes: number }>(
    `select n.nspname as schema, min(w.nodename || ':' || w.nodeport) as node,
       coalesce(sum(z.size), 0)::float8 as bytes
     from pg_dist_schema d
     join pg_namespace n on n.oid = d.schemaid
     join pg_dist_partition t on t.colocationid = d.colocationid
     join pg_dist_shard s on s.logicalrelid = t.logicalrelid
     join pg_dist_placement p on p.shardid = s.shardid
     join pg_dist_node w on w.groupid = p.groupid and w.noderole = 'primary'
     left join citus_shard_sizes() z on z.shard_id = s.shardid
     group by n.nspname`,
  )
  return new Map(rows.map(({ schema, node, bytes }) => [schema, { node, bytes }]))
}

async function hasCitus(db: Db): Promise<boolean> {
  const { rows } = await db.query<{ has: boolean }>(
    `select exists (select from pg_extension where extname = 'citus') as has`,
  )
  return rows[0]?.has === true
}

/**
 * What a session that changes the schema is set to, where Citus is. A cell is made whole before it is distributed:
 * until then nothing of it is for the other nodes, and afterwards a function is when a table needs it. Returns whether
 * the session's own cell has been distributed.
 */
export async function prepareForMigration(db: Db): Promise<boolean> {
  if (!(await hasCitus(db))) return false
  const { rows } = await db.query<{ is: boolean }>(
    `select exists (select from pg_dist_schema where schemaid = to_regnamespace($1)) as is`,
    [schemaOfCell(await readCell(db))],
  )
  const isDistributed = rows[0]?.is === true
  await db.query(`set citus.enable_ddl_propagation = ${isDistributed ? 'on' : 'off'}`)
  await db.query('set citus.create_object_propagation = deferred')
  await db.query('set citus.enable_unsafe_triggers = on')
  return isDistributed
}

async function readCell(db: Db): Promise<number> {
  const { rows } = await db.query<{ cell: number }>(
    `select current_setting('paybell.cell')::int as cell`,
  )
  return rows[0]?.cell as number
}

/**
 * Hands the session's own cell to the cluster; false where there is none, and the schema stays where it is. In a
 * transaction: what cannot be distributed is as it was before.
 */
export async function distributeCell(db: Db): Promise<boolean> {
  if (!(await hasCitus(db))) return false
  if ((await readNodeOfCell(db)) !== null) return true
  for (const statement of BEFORE_DISTRIBUTION) await db.query(statement)
  await db.query('select citus_schema_distribute(current_schema()::text::regnamespace)')
  // What statements call beside tables runs where the tables are. Tables take along what they call themselves.
  await db.query(
    `select create_distributed_function(p.oid::regprocedure) from pg_proc p
     where p.pronamespace = current_schema()::text::regnamespace and p.provolatile = 'i'
       and p.prolang = (select oid from pg_language where lanname = 'sql')
       and p.proname like 'search%'`,
  )
  await db.query(HORIZON_OF_A_CLUSTER)
  return true
}

/**
 * Citus ends a transaction that was prepared on a node after it has ended here: for a moment its rows are not there,
 * although its id is settled. It keeps the lock of its id until then, so whatever is still locked is not settled.
 */
const HORIZON_OF_A_CLUSTER = `create or replace function feed_horizon(shift bigint, since integer)
  returns bigint language sql stable as $$
    select place_of(s.oldest - coalesce((
        select max((s.oldest - l.transactionid::text::bigint) & 4294967295) from pg_locks l
        where l.locktype = 'transactionid' and l.mode = 'ExclusiveLock' and l.granted
          -- Those that are newer lie half the circle of ids away.
          and ((s.oldest - l.transactionid::text::bigint) & 4294967295) < 2147483648), 0),
      feed_timeline(), shift, since)
    from (select pg_snapshot_xmin(pg_current_snapshot())::text::bigint as oldest) s
  $$`

const BEFORE_DISTRIBUTION = [
  // Those of the audit refuse, and those of final deliveries count within the cell: both are safe on a node.
  'set local citus.enable_unsafe_triggers = on',
  // Only what is logged can be replicated to another node.
  'alter table changes_at_commit set logged',
  'alter table listener_offers set logged',
  // record_payment makes its events at the commit, in a trigger. On the node that would give places which another
  // node's readers have passed: so it is refused, whichever version of the function is called.
  'drop trigger if exists owe_changes_at_commit on changes_at_commit',
  `alter table changes_at_commit add constraint record_payment_works_on_plain_postgresql_only
     check (false)`,
]

/** A node of a cluster that may have cells. */
export interface ClusterNode {
  host: string
  port: number
}

/** The nodes of the cluster; null where there is none. */
export async function readNodes(db: Db): Promise<readonly ClusterNode[] | null> {
  if (!(await hasCitus(db))) return null
  const { rows } = await db.query<ClusterNode>(
    `select nodename as host, nodeport as port from pg_dist_node
     where noderole = 'primary' and isactive and shouldhaveshards order by 1, 2`,
  )
  return rows
}

/** Where the session's own cell is; null where it is not distributed. */
export async function readNodeOfCell(db: Db): Promise<string | null> {
  return (await readNodesOfCells(db)).get(schemaOfCell(await readCell(db)))?.node ?? null
}

/** The cluster's own online move of the session's own cell: writers wait for a moment at its end. */
export async function moveCell(db: Db, { host, port }: ClusterNode): Promise<void> {
  // The triggers go along.
  await db.query('set citus.enable_unsafe_triggers = on')
  await db.query(
    `select citus_schema_move(current_schema()::text::regnamespace, $1::text, $2::int, 'auto')`,
    [host, port],
  )
}

/** Tokens that one cell signs are then good in the other. Both have the same master key. */
export async function copySigningKeys(from: Db, to: Db): Promise<number> {
  const { rows } = await from.query<{ keys: string }>(
    `select coalesce(json_agg(k), '[]')::text as keys from signing_keys k`,
  )
  const { rowCount } = await to.query(
    `insert into signing_keys select * from json_populate_recordset(null::signing_keys, $1::json)
     on conflict do nothing`,
    [rows[0]?.keys],
  )
  return rowCount ?? 0
}
