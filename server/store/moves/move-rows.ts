// A client's rows, from one cell to another, which may be on another server. Which tables there are is asked of the
// catalogue, so that none is forgotten; rows travel as JSON, a bounded number at a time. Ids stay what they are;
// client_key, which each cell counts for itself, is replaced.

import type pg from 'pg'
import { DAY_MS } from '../../core/delivery/backoff.ts'
import { hasLeft } from '../../core/network/client-move.ts'
import type { Db } from '../connection/db.ts'
import { readFeedOrigin, takePlace } from '../proofs/feed-line.ts'
import { ensurePartitions } from '../schema/partitions.ts'
import { findClientMove, forgetMove, lockClientMove } from './client-moves.ts'
import type { End } from './move-ends.ts'
import { passFence } from './move-fence.ts'

/** What belongs to a process, a session or a move, and does not go along. */
const LEFT_BEHIND = [
  'changes_at_commit',
  'client_console_links',
  'client_moves',
  'console_sessions',
  'job_deliveries',
  'job_items',
  'listener_offers',
  'receiver_checks',
]

/** Others refer to these. */
const FIRST = ['clients', 'accounts', 'endpoints']

/** Files are up to 14 MB each. */
const ROWS_AT_ONCE: Readonly<Record<string, number>> = { documents: 4 }
const ROWS_USUALLY = 2_000
const DELETED_AT_ONCE = 5_000
/** Room for what the old cell still writes: four thousand million transactions. */
const FEED_MARGIN = 2n ** 32n

interface MovedTable {
  name: string
  /** Without those that PostgreSQL fills by itself. */
  columns: readonly string[]
}

/** Tables with a client's rows, those first that others refer to. */
async function readClientTables(db: Db): Promise<readonly MovedTable[]> {
  const { rows } = await db.query<MovedTable>(
    `select c.relname as name, array_agg(quote_ident(a.attname) order by a.attnum) as columns
     from pg_class c join pg_attribute a on a.attrelid = c.oid
     where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p')
       and not c.relispartition and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
       and c.relname <> all($1)
     group by c.relname having bool_or(a.attname = 'client_key')`,
    [LEFT_BEHIND],
  )
  const place = ({ name }: MovedTable) =>
    FIRST.includes(name) ? FIRST.indexOf(name) : FIRST.length
  return rows.toSorted(
    (one, other) => place(one) - place(other) || (one.name < other.name ? -1 : 1),
  )
}

/**
 * Copies everything of a client, and returns its key in the other cell. Both in a transaction: that of the
 * source reads one snapshot, and nothing of it is seen in the target before it commits.
 */
export async function copyClient(
  source: pg.Client,
  target: pg.Client,
  clientKey: number,
): Promise<{ clientKey: number; rows: number }> {
  // One that a copy before this one has left open: it was broken off for a lock, and is made again in the same snapshot.
  await source.query('close all')
  const [client, ...tables] = await readClientTables(source)
  if (client?.name !== 'clients') throw new Error('the cell has no table of clients')
  const newKey = await copyClientRow(source, target, clientKey, tables)
  await copyLateDays(source, target)
  await passFence(target, newKey)
  let total = 1
  for (const table of tables) total += await copyTable(source, target, table, clientKey, newKey)
  return { clientKey: newKey, rows: total }
}

/** Some of the days' events may be this client's, and a reader of its feed may not have seen them yet. */
async function copyLateDays(source: Db, target: Db): Promise<void> {
  const { rows } = await source.query<{ day: string }>('select day::text from late_days')
  await target.query(
    'insert into late_days (day) select unnest($1::date[]) on conflict do nothing',
    [rows.map(({ day }) => day)],
  )
}

async function copyClientRow(
  source: Db,
  target: Db,
  clientKey: number,
  tables: readonly MovedTable[],
): Promise<number> {
  const { rows } = await source.query(
    'select id, name, status, credentials, created_at from clients where client_key = $1',
    [clientKey],
  )
  const [row] = rows
  const { rows: existing } = await target.query<{ client_key: number }>(
    'select client_key from clients where id = $1',
    [row?.id],
  )
  if (existing[0] !== undefined) {
    const { client_key: newKey } = existing[0]
    const left = await lockClientMove(target, row?.id)
    if (left === null || !hasLeft(left.state)) throw alreadyThere()
    await forgetMove(target, newKey)
    await takeBack(target, newKey, tables)
    await target.query(
      'update clients set name = $2, status = $3, credentials = $4 where client_key = $1',
      [newKey, row?.name, row?.status, row?.credentials],
    )
    return newKey
  }
  const { rows: made } = await target.query<{ client_key: number }>(
    `insert into clients (id, name, status, credentials, created_at) values ($1, $2, $3, $4, $5)
     returning client_key`,
    [row?.id, row?.name, row?.status, row?.credentials, row?.created_at],
  )
  return made[0]?.client_key as number
}

export function alreadyThere(): Error {
  return new Error('the other cell has a client with this id already')
}

/**
 * One that has been here before has left its row, and its accounts, to tell where it went. The fence still keeps its rows
 * out. Whatever else there is of it was left by a removal that broke off, or written after it, as health is: it goes.
 */
async function takeBack(target: Db, key: number, tables: readonly MovedTable[]): Promise<void> {
  await passFence(target, key)
  for (const { name } of tables.toReversed()) {
    if (name !== 'accounts') await target.query(`delete from ${name} where client_key = $1`, [key])
  }
}

async function copyTable(
  source: Db,
  target: Db,
  { name, columns }: MovedTable,
  clientKey: number,
  newKey: number,
): Promise<number> {
  const others = columns.filter((column) => column !== 'client_key')
  const into = `insert into ${name} (client_key, ${others.join(', ')})
    select $2, ${others.join(', ')} from json_populate_recordset(null::${name}, $1::json)
    ${name === 'accounts' ? 'on conflict do nothing' : ''}`
  const size = ROWS_AT_ONCE[name] ?? ROWS_USUALLY
  await source.query(
    `declare moved no scroll cursor for select row_to_json(t)::text as row from ${name} t
     where client_key = ${clientKey}`,
  )
  let total = 0
  for (;;) {
    const { rows } = await source.query<{ row: string }>(`fetch ${size} from moved`)
    if (rows.length === 0) break
    const { rowCount } = await target.query(into, [
      `[${rows.map(({ row }) => row).join(',')}]`,
      newKey,
    ])
    if (rowCount !== rows.length && name !== 'accounts') {
      throw new Error(`the other cell took ${rowCount} of ${rows.length} rows of ${name}`)
    }
    total += rows.length
  }
  await source.query('close moved')
  return total
}

/** A client that has left the target again is not there. */
export async function hasArrived(target: Db, clientId: string): Promise<boolean> {
  const { rowCount } = await target.query('select from clients where id = $1::uuid', [clientId])
  if (rowCount === 0) return false
  const left = await findClientMove(target, clientId)
  return left === null || !hasLeft(left.state)
}

/** The ids of the master keys that secrets of a client are under, those of its notices among them (store/secrets/master-keys). */
export async function readMasterKeysOf(
  db: Db,
  clientKey: number,
  clientId: string,
): Promise<readonly string[]> {
  const { rows } = await db.query<{ id: string }>(
    `select distinct id from (
       select split_part(master_key_id, '/', 1) as id from client_secrets where client_key = $1
       union all
       select encode(substring(authentication from 1 for 4), 'hex') from client_keys where client_key = $1
       union all
       select encode(substring(sealed from 2 for 4), 'hex')
       from endpoints, unnest(array[shared_key, previous_key, header_value, oauth2_secret]) as sealed
       where (client_key = $1 or (kind = 'client-notice' and account_id = $2::uuid)) and sealed is not null
         and deleted_at is null) as needed order by id`,
    [clientKey, clientId],
  )
  return rows.map(({ id }) => id)
}

/** Days of history for which the other cell has to have partitions, too. */
export async function makePartitionsSince(
  source: Db,
  target: pg.Client,
  clientKey: number,
  now: Date,
): Promise<void> {
  const { rows } = await source.query<{ since: Date | null }>(
    `select min(created_at) as since from events where client_key = $1`,
    [clientKey],
  )
  const sinceMs = rows[0]?.since?.getTime() ?? now.getTime()
  // Each makes a week.
  for (let ms = sinceMs; ms < now.getTime(); ms += 7 * DAY_MS) {
    await ensurePartitions(target, new Date(ms))
  }
}

/** Where the feed of a cell is now. Gives the transaction an id, of the node that gives places. */
export async function readFeedPlace(db: Db): Promise<bigint> {
  return BigInt(await takePlace(db, await readFeedOrigin(db)))
}

/**
 * Positions of a feed only rise, also for a reader that comes along from another cell: what is written here from now
 * on stands above everything that was written there. In a transaction.
 */
export async function raiseFeed(db: Db, above: bigint): Promise<boolean> {
  const missing = above + FEED_MARGIN - (await readFeedPlace(db))
  if (missing <= 0n) return false
  await db.query('lock table events in access exclusive mode')
  const { rows } = await db.query<{ shift: string; timeline: number }>(
    `update feed_origin set shift = shift + $1 returning shift::text, timeline`,
    [String(missing)],
  )
  const [origin] = rows
  await db.query(
    `alter table events alter column place set default feed_place(${origin?.shift}, ${origin?.timeline})`,
  )
  // The audit's places are the same numbers: with the old ones, all that is audited from now on would stand below
  // what is sealed.
  await db.query('select carry_audit_over($1, $2)', [origin?.shift, origin?.timeline])
  return true
}

/** Nothing is owed here any more. */
export async function dropOwed(db: Db, clientKey: number): Promise<void> {
  await db.query('delete from pending_deliveries where client_key = $1', [clientKey])
}

/** Removes what was copied, but for the client and its accounts, by which callers are sent on. A step at a time. */
export async function removeMoved(end: End, clientKey: number): Promise<number> {
  const tables = (await readClientTables(end.db)).filter(
    ({ name }) => name !== 'clients' && name !== 'accounts',
  )
  let total = 0
  for (const { name } of tables.toReversed()) {
    const { rows: leaves } = await end.db.query<{ name: string }>(
      `select c.oid::regclass::text as name from pg_class c
       where c.relkind = 'r' and (c.oid = $1::regclass or c.oid in (
         select relid from pg_partition_tree($1::regclass) where isleaf))`,
      [name],
    )
    for (const leaf of leaves) total += await removeFrom(end, leaf.name, clientKey)
  }
  return total
}

async function removeFrom(end: End, table: string, clientKey: number): Promise<number> {
  let total = 0
  for (let removed = DELETED_AT_ONCE; removed === DELETED_AT_ONCE; total += removed) {
    const { rowCount } = await end.change(async (db) => {
      await passFence(db, clientKey)
      return db.query(
        `delete from ${table} where ctid = any(array(
           select ctid from ${table} where client_key = $1 limit ${DELETED_AT_ONCE}))`,
        [clientKey],
      )
    })
    removed = rowCount ?? 0
  }
  return total
}
