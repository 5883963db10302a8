// The fence: triggers that refuse what is written for a client whose rows are being copied to another cell, or that has
// left. It holds for every session, also for a process that knows of no move. Tables that no client's move concerns have
// none, and a write of any other client is only compared with the keys of those that it keeps out.

import { readMovesToFence } from './client-moves.ts'
import type { Db } from './db.ts'

interface Fenced {
  table: string
  events: 'insert' | 'insert or update' | 'delete'
  /**
   * Whether it stays for ever: where a client that has left could still be given something. The others stay until what
   * was copied is removed, because acts could still find it.
   */
  isLasting: boolean
}

/**
 * What every act on a client writes at least one of. In the order in which payments are accepted and logins are checked:
 * both would otherwise stand in the way of one that makes the fence, and it in theirs. Left out is what the service writes
 * by itself for many clients at once (health, hours, what is parked): one client's fence would fail it for all.
 */
const FENCED: readonly Fenced[] = [
  { table: 'payments', events: 'insert or update', isLasting: true },
  { table: 'endpoints', events: 'insert or update', isLasting: true },
  { table: 'pending_deliveries', events: 'insert', isLasting: false },
  { table: 'job_items', events: 'insert', isLasting: false },
  { table: 'clients', events: 'insert or update', isLasting: true },
  { table: 'accounts', events: 'insert or update', isLasting: true },
  { table: 'client_secrets', events: 'insert or update', isLasting: true },
  { table: 'client_secrets', events: 'delete', isLasting: false },
  { table: 'client_console_links', events: 'insert or update', isLasting: true },
]

function nameOf({ events }: Fenced): string {
  return events === 'delete' ? 'moving_clients_kept' : 'moving_clients'
}

/**
 * Makes the fence again, for all clients that are copied or have left. Making a trigger waits for every transaction that
 * is writing the table: once it is there, no write for these clients is under way. One that stands as it should is left
 * alone, because removing it waits for readers, too. In a transaction.
 */
export async function raiseFence(db: Db): Promise<void> {
  // Of two moves, the later one sees what the other has made.
  await db.query('lock table client_moves in share row exclusive mode')
  const moves = await readMovesToFence(db)
  const standing = await readStanding(db)
  for (const fenced of FENCED) {
    const { table, events, isLasting } = fenced
    const name = nameOf(fenced)
    const keys = moves
      .filter(({ isRemoved }) => isLasting || !isRemoved)
      .map(({ clientKey }) => clientKey)
      .join(',')
    const before = standing.get(`${table} ${name}`)
    if ((before ?? '') === keys) continue
    if (before !== undefined) await db.query(`drop trigger ${name} on ${table}`)
    if (keys === '') continue
    await db.query(
      `create trigger ${name} before ${events} on ${table} for each row
       when (${events === 'delete' ? 'old' : 'new'}.client_key = any('{${keys}}'::integer[]))
       execute function refuse_moving()`,
    )
  }
}

/** The keys of the clients that each trigger of the fence keeps out now. */
async function readStanding(db: Db): Promise<ReadonlyMap<string, string>> {
  const { rows } = await db.query<{ at: string; keys: string | null }>(
    `select c.relname || ' ' || t.tgname as at,
       substring(pg_get_triggerdef(t.oid) from '''\\{([0-9,]+)\\}''') as keys
     from pg_trigger t join pg_class c on c.oid = t.tgrelid
     where c.relnamespace = current_schema()::regnamespace
       and t.tgname in ('moving_clients', 'moving_clients_kept')`,
  )
  // One whose keys cannot be read is made again.
  return new Map(rows.map(({ at, keys }) => [at, keys ?? 'unknown']))
}

/**
 * This transaction writes, and removes, what all others may not. Only for a transaction: on a cluster it is known where
 * the tables are for so long (store/move-ends.ts).
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
