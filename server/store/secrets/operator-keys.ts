// The operator_keys table: digests only, each under the master key that it names. A revoked key stays in
// the list, so that the audit's names can still be looked up.

import { type Page, type PageRequest, pageOffset } from '../../core/asking/numbered-pages.ts'
import type { Role } from '../../core/plain/operator.ts'
import type { Db } from '../connection/db.ts'
import { LOCKS, takeLock } from '../connection/locks.ts'

export interface OperatorKey {
  id: string
  name: string
  role: Role
  createdAt: Date
  revokedAt: Date | null
  lastUsedAt: Date | null
}

export interface KeyDigest {
  digest: Buffer
  masterKeyId: string
}

export interface LiveKey extends KeyDigest {
  id: string
  name: string
  role: Role
}

/** All of them are in memory and compared at every call. */
export const LIVE_KEYS_MAX = 100

interface KeyRow {
  id: string
  name: string
  role: Role
  created_at: Date
  revoked_at: Date | null
  last_used_at: Date | null
}

const COLUMNS = 'id, name, role, created_at, revoked_at, last_used_at'

/** Until the transaction ends, no other one counts and adds keys. */
export async function lockKeys(db: Db): Promise<void> {
  await takeLock(db, LOCKS.operatorKeys)
}

export async function readLiveKeys(db: Db): Promise<readonly LiveKey[]> {
  // In the order of the partial index of the live ones; those that were revoked are never read.
  const { rows } = await db.query<{
    id: string
    name: string
    role: Role
    digest: Buffer
    master_key_id: string
  }>({
    name: 'read-live-keys',
    text: `select id, name, role, digest, master_key_id from operator_keys
           where revoked_at is null order by name limit ${LIVE_KEYS_MAX}`,
  })
  return rows.map(({ master_key_id: masterKeyId, ...row }) => ({ ...row, masterKeyId }))
}

export async function insertKey(
  db: Db,
  key: Pick<OperatorKey, 'id' | 'name' | 'role'> & KeyDigest,
  now: Date,
): Promise<void> {
  await db.query({
    text: `insert into operator_keys (id, name, role, digest, master_key_id, created_at)
           values ($1, $2, $3, $4, $5, $6)`,
    values: [key.id, key.name, key.role, key.digest, key.masterKeyId, now],
  })
}

/** False when no live key has this id. */
export async function revokeKey(db: Db, id: string, now: Date): Promise<boolean> {
  const { rowCount } = await db.query({
    text: 'update operator_keys set revoked_at = $2 where id = $1 and revoked_at is null',
    values: [id, now],
  })
  return rowCount === 1
}

/** The same key under a newer master key. */
export async function replaceKeyDigest(db: Db, id: string, stored: KeyDigest): Promise<void> {
  await db.query({
    text: 'update operator_keys set digest = $2, master_key_id = $3 where id = $1',
    values: [id, stored.digest, stored.masterKeyId],
  })
}

/** Several processes may see the same key used: the latest of them counts. */
export async function touchKey(db: Db, id: string, now: Date): Promise<void> {
  await db.query({
    name: 'touch-key',
    text: `update operator_keys set last_used_at = $2
           where id = $1 and (last_used_at is null or last_used_at < $2)`,
    values: [id, now],
  })
}

/** Oldest first, revoked ones among them. */
export async function listKeys(db: Db, page: PageRequest): Promise<Page<OperatorKey>> {
  // One statement, hence one snapshot. The outer join keeps the count when the page is empty.
  const { rows } = await db.query<{ total: number } & Partial<KeyRow>>({
    text: `select all_of_them.total, shown.*
           from (select count(*) as total from operator_keys) as all_of_them
           left join lateral (
             select ${COLUMNS} from operator_keys order by id limit $1 offset $2
           ) as shown on true
           order by shown.id`,
    values: [page.size, pageOffset(page)],
  })
  const items = rows.filter((row): row is { total: number } & KeyRow => row.id != null)
  return { ...page, items: items.map(toKey), total: rows[0]?.total ?? 0 }
}

function toKey(row: KeyRow): OperatorKey {
  return {
    id: row.id,
    name: row.name,
    role: row.role,
    createdAt: row.created_at,
    revokedAt: row.revoked_at,
    lastUsedAt: row.last_used_at,
  }
}
