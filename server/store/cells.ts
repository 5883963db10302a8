// Cells as their database shows them: which there are, how large, and where they live. A cluster of Citus places
// and moves whole schemas; all that is asked of it is to take one, and to say where it is.

import { CELL_MAX } from '../core/cell.ts'
import type { Db } from './db.ts'

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
  const placed = await readPlaces(db)
  return rows
    .map(({ schema, bytes, has_migrations: isMigrated }) => ({
      cell: Number(/\d+$/.exec(schema)?.[0] ?? 0),
      bytes: placed.get(schema)?.bytes ?? bytes,
      node: placed.get(schema)?.node ?? null,
      isMigrated,
    }))
    .filter(({ cell }) => cell <= CELL_MAX)
    .sort((one, other) => one.cell - other.cell)
}

/** Schemas that are distributed, with the node that has each. */
async function readPlaces(db: Db): Promise<ReadonlyMap<string, { node: string; bytes: number }>> {
  if (!(await hasCitus(db))) return new Map()
  const { rows } = await db.query<{ schema: string; node: string; bytes: number }>(
    `select s.schema_name::text as schema, min(h.nodename || ':' || h.nodeport) as node,
       coalesce(sum(h.shard_size), 0)::float8 as bytes
     from citus_schemas s join citus_shards h on h.colocation_id = s.colocation_id
     group by s.schema_name`,
  )
  return new Map(rows.map(({ schema, node, bytes }) => [schema, { node, bytes }]))
}

async function hasCitus(db: Db): Promise<boolean> {
  const { rows } = await db.query<{ has: boolean }>(
    `select exists (select from pg_extension where extname = 'citus') as has`,
  )
  return rows[0]?.has === true
}

/** Hands the session's own cell to the cluster; false where there is none, and the schema stays where it is. */
export async function distributeCell(db: Db): Promise<boolean> {
  if (!(await hasCitus(db))) return false
  await db.query(
    `select citus_schema_distribute(current_schema()::text::regnamespace) where not exists (
       select from citus_schemas where schema_name = current_schema()::text::regnamespace)`,
  )
  return true
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
