// The client_keys table: public keys with which clients prove who they are, and the jti of what they have signed with
// them. Which rows are to be trusted is not known here: operations/access/trusted-keys judges them.

import type { Db } from '../connection/db.ts'
import { column } from '../sql/columns.ts'
import type { ClientStatus } from './clients.ts'

/** Enough to rotate, and for machines that have one each. */
export const CLIENT_KEYS_MAX = 5

export interface StoredClientKey {
  kid: string
  publicJwk: Readonly<Record<string, unknown>>
  createdAt: Date
  authentication: Buffer
}

interface ClientKeyRow {
  kid: string
  public_jwk: Record<string, unknown>
  created_at: Date
  authentication: Buffer
}

/** Oldest first. */
export async function listClientKeys(
  db: Db,
  clientKey: number,
): Promise<readonly StoredClientKey[]> {
  const { rows } = await db.query<ClientKeyRow>({
    name: 'list-client-keys',
    text: `select kid, public_jwk, created_at, authentication from client_keys
           where client_key = $1 order by created_at, kid`,
    values: [clientKey],
  })
  return rows.map(toKey)
}

/** The client of this id with its keys; for an unknown one, a disabled client without any. */
export async function readKeysOfClient(
  db: Db,
  clientId: string,
): Promise<{ clientKey: number; status: ClientStatus; keys: readonly StoredClientKey[] }> {
  const { rows } = await db.query<
    { client_key: number; status: ClientStatus } & Partial<ClientKeyRow>
  >({
    name: 'read-keys-of-client',
    text: `select c.client_key, c.status, k.kid, k.public_jwk, k.created_at, k.authentication
           from clients c left join client_keys k on k.client_key = c.client_key
           where c.id = $1 and not c.is_internal order by k.created_at, k.kid`,
    values: [clientId],
  })
  const [first] = rows
  const keys = rows.filter((row): row is typeof row & ClientKeyRow => row.kid != null).map(toKey)
  return { clientKey: first?.client_key ?? -1, status: first?.status ?? 'DISABLED', keys }
}

export async function insertClientKey(
  db: Db,
  clientKey: number,
  key: StoredClientKey,
): Promise<void> {
  await db.query({
    text: `insert into client_keys (client_key, kid, public_jwk, created_at, authentication)
           values ($1, $2, $3, $4, $5)`,
    values: [clientKey, key.kid, JSON.stringify(key.publicJwk), key.createdAt, key.authentication],
  })
}

/** False when the client has none of this id. */
export async function deleteClientKey(db: Db, clientKey: number, kid: string): Promise<boolean> {
  const { rowCount } = await db.query({
    text: 'delete from client_keys where client_key = $1 and kid = $2',
    values: [clientKey, kid],
  })
  return rowCount === 1
}

/** False when it was used before, in any process. */
export async function useAssertion(
  db: Db,
  clientKey: number,
  jtiDigest: Buffer,
  expiresAt: Date,
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'use-assertion',
    text: `insert into used_assertions (client_key, jti_digest, expires_at) values ($1, $2, $3)
           on conflict do nothing`,
    values: [clientKey, jtiDigest, expiresAt],
  })
  return rowCount === 1
}

/** Those that are over can no longer be sent again. */
export async function deleteOldAssertions(db: Db, now: Date): Promise<number> {
  const { rowCount } = await db.query('delete from used_assertions where expires_at < $1', [now])
  return rowCount ?? 0
}

function toKey(row: ClientKeyRow): StoredClientKey {
  return {
    kid: row.kid,
    publicJwk: row.public_jwk,
    createdAt: row.created_at,
    authentication: row.authentication,
  }
}

/** A key with its client, whose id its authentication is bound to. */
export interface OwnedClientKey extends StoredClientKey {
  clientKey: number
  clientId: string
}

/** The first or the next of all keys that are authenticated under another master key than this one. */
export async function readForeignClientKeys(
  db: Db,
  masterKeyId: string,
  after: { clientKey: number; kid: string },
  limit: number,
): Promise<readonly OwnedClientKey[]> {
  const { rows } = await db.query<ClientKeyRow & { client_key: number; client_id: string }>({
    text: `select k.client_key, c.id as client_id, k.kid, k.public_jwk, k.created_at, k.authentication
           from client_keys k join clients c using (client_key)
           where (k.client_key, k.kid) > ($2, $3)
             and substring(k.authentication from 1 for 4) <> decode($1, 'hex')
           order by k.client_key, k.kid limit $4`,
    values: [masterKeyId, after.clientKey, after.kid, limit],
  })
  return rows.map((row) => ({ ...toKey(row), clientKey: row.client_key, clientId: row.client_id }))
}

/** `keys` come with what they were; returns how many were replaced. */
export async function replaceClientKeyAuthentications(
  db: Db,
  keys: readonly {
    before: Pick<OwnedClientKey, 'clientKey' | 'kid' | 'authentication'>
    after: Buffer
  }[],
): Promise<number> {
  if (keys.length === 0) return 0
  const { rowCount } = await db.query({
    text: `update client_keys k set authentication = g.authentication
           from unnest($1::int[], $2::text[], $3::bytea[], $4::bytea[])
             as g (client_key, kid, authentication, old_authentication)
           where k.client_key = g.client_key and k.kid = g.kid
             and k.authentication = g.old_authentication`,
    values: [
      column('int', keys, ({ before }) => before.clientKey),
      column('text', keys, ({ before }) => before.kid),
      column('bytea', keys, ({ after }) => after),
      column('bytea', keys, ({ before }) => before.authentication),
    ],
  })
  return rowCount ?? 0
}
