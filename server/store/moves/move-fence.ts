// The fence: triggers that refuse what is written for a client whose rows are being copied to another cell, or that has
// left. They look the client up (migrations/0047), so they hold for every session, also for a process that knows of no
// move. They are enabled only while there is a client to keep out, and cost 4 µs a row then.

import type { Db } from '../connection/db.ts'

interface Fenced {
  table: string
  /**
   * Whether it stays for as long as a client is away: where one that has left could still be given something. The others
   * are for acts on what was copied, until it is removed.
   */
  isLasting: boolean
}

/**
 * What every act on a client writes at least one of. In the order in which payments are accepted and logins are checked:
 * both would otherwise stand in the way of one that raises the fence, and it in theirs. Left out is what the service writes
 * by itself for many clients at once (health, hours, what is parked): one client's fence would fail it for all.
 */
const FENCED: readonly Fenced[] = [
  { table: 'payments', isLasting: true },
  { table: 'endpoints', isLasting: true },
  { table: 'pending_deliveries', isLasting: false },
  { table: 'job_items', isLasting: false },
  { table: 'clients', isLasting: true },
  { table: 'accounts', isLasting: true },
  { table: 'client_secrets', isLasting: true },
  { table: 'client_keys', isLasting: true },
  { table: 'client_console_links', isLasting: true },
]

/**
 * Waits until no transaction is under way that may have written for the client, and keeps all out that come after it. In the
 * transaction that notes the state COPYING, before it does.
 */
export async function raiseFence(db: Db, clientKey: number): Promise<void> {
  await lockMoves(db)
  const tables = FENCED.map(({ table }) => table)
  await db.query(`lock table ${tables.join(', ')} in share row exclusive mode`)
  for (const table of await readFences(db, false)) {
    await db.query(`alter table ${table} enable trigger moving_clients`)
  }
  // Found by transactions that began before, and see no newer state (migrations/0047).
  await db.query('update clients set status = status where client_key = $1', [clientKey])
}

/** Disables what has no client to keep out any more. In a transaction. */
export async function lowerFence(db: Db): Promise<void> {
  await lockMoves(db)
  const { rows } = await db.query<{ is_copied: boolean; is_away: boolean }>(
    `select coalesce(bool_or(step in ('COPYING', 'MOVED')), false) as is_copied,
       coalesce(bool_or(step in ('COPYING', 'MOVED', 'REMOVED')), false) as is_away
     from client_moves`,
  )
  const standing = await readFences(db, true)
  for (const { table, isLasting } of FENCED) {
    const isNeeded = isLasting ? rows[0]?.is_away : rows[0]?.is_copied
    if (isNeeded || !standing.includes(table)) continue
    await db.query(`alter table ${table} disable trigger moving_clients`)
  }
}

/** Of two moves, the later one sees what the other has done. */
async function lockMoves(db: Db): Promise<void> {
  await db.query('lock table client_moves in share row exclusive mode')
}

/** Tables whose trigger is enabled, or is not, in the order of the list. */
async function readFences(db: Db, isEnabled: boolean): Promise<readonly string[]> {
  const { rows } = await db.query<{ name: string }>(
    `select c.relname as name from pg_trigger t join pg_class c on c.oid = t.tgrelid
     where c.relnamespace = current_schema()::regnamespace
       and t.tgname = 'moving_clients' and (t.tgenabled <> 'D') = $1`,
    [isEnabled],
  )
  const found = new Set(rows.map(({ name }) => name))
  return FENCED.map(({ table }) => table).filter((table) => found.has(table))
}

/**
 * This transaction writes, and removes, what all others may not. Only for a transaction: on a cluster it is known where
 * the tables are for so long (store/moves/move-ends.ts).
 */
export async function passFence(db: Db, clientKey: number): Promise<void> {
  await db.query(`set local moves.carried_client = '${clientKey}'`)
}

/** The key of the client for which the fence has refused a write; null for any other error. */
export function findRefusedClient(error: unknown): number | null {
  const { code, message, detail } = (error ?? {}) as Record<string, unknown>
  if (code !== '55P03' || message !== 'the client is moved to another cell') return null
  const key = /^client_key (\d+)$/.exec(String(detail))?.[1]
  return key === undefined ? null : Number(key)
}
