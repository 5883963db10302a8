// The endpoints of Paybell's own client: where notices to the operator go, and those to clients about their endpoints.

import type { EndpointStatus } from '../../core/delivery/endpoint.ts'
import { NIL_UUID } from '../../core/plain/uuid.ts'
import type { Db } from '../connection/db.ts'

export interface NoticeEndpoint {
  /** Of Paybell's own client. */
  clientKey: number
  /** The client that it is for; null: the operator. */
  clientId: string | null
  id: string
  shard: number
  url: string
  status: EndpointStatus
  inactiveSince: Date | null
  sealedKey: Buffer
}

export interface StoredNoticeEndpoint extends NoticeEndpoint {
  /** Null where none is kept. */
  sealedPreviousKey: Buffer | null
  previousKeyUntil: Date | null
}

/** Makes the client that notices belong to, if it is not there yet; returns its key. */
export async function ensureInternalClient(
  db: Db,
  client: { id: string; name: string },
  now: Date,
): Promise<number> {
  const stored = await findInternalClient(db)
  if (stored !== null) return stored
  const { rows } = await db.query<{ client_key: number }>({
    text: `insert into clients (id, name, is_internal, created_at) values ($1, $2, true, $3)
           returning client_key`,
    values: [client.id, client.name, now],
  })
  return rows[0]?.client_key as number
}

/** Null when no notices were ever set up. */
export async function findInternalClient(db: Db): Promise<number | null> {
  const { rows } = await db.query<{ client_key: number }>({
    name: 'find-internal-client',
    text: 'select client_key from clients where is_internal',
  })
  return rows[0]?.client_key ?? null
}

export async function findNoticeEndpoint(
  db: Db,
  clientKey: number,
  clientId: string | null = null,
): Promise<StoredNoticeEndpoint | null> {
  const { rows } = await db.query<{
    id: string
    shard: number
    url: string
    status: EndpointStatus
    inactive_since: Date | null
    shared_key: Buffer
    previous_key: Buffer | null
    previous_key_until: Date | null
  }>({
    name: 'find-notice-endpoint',
    text: `select id, shard, url, status, inactive_since, shared_key, previous_key,
             previous_key_until
           from endpoints
           where client_key = $1 and kind = $2 and scope = $3 and deleted_at is null`,
    values: [clientKey, kindFor(clientId), clientId ?? NIL_UUID],
  })
  const [row] = rows
  if (row === undefined) return null
  return {
    clientKey,
    clientId,
    id: row.id,
    shard: row.shard,
    url: row.url,
    status: row.status,
    inactiveSince: row.inactive_since,
    sealedKey: row.shared_key,
    sealedPreviousKey: row.previous_key,
    previousKeyUntil: row.previous_key_until,
  }
}

export async function insertNoticeEndpoint(
  db: Db,
  endpoint: Omit<NoticeEndpoint, 'status' | 'inactiveSince'> & { hrefHash: Buffer },
  now: Date,
): Promise<void> {
  await db.query({
    text: `insert into endpoints
             (client_key, id, kind, account_id, shard, url, href_hash, shared_key, created_at,
              changed_at)
           values ($1, $2, $8, $9, $3, $4, $5, $6, $7, $7)`,
    values: [
      endpoint.clientKey,
      endpoint.id,
      endpoint.shard,
      endpoint.url,
      endpoint.hrefHash,
      endpoint.sealedKey,
      now,
      kindFor(endpoint.clientId),
      endpoint.clientId,
    ],
  })
}

/** One that was deleted comes back from another cell under the same id, by which its key is sealed. */
export async function forgetNoticeEndpoint(db: Db, clientKey: number, id: string): Promise<void> {
  await db.query({
    text: 'delete from endpoints where client_key = $1 and id = $2 and deleted_at is not null',
    values: [clientKey, id],
  })
}

function kindFor(clientId: string | null): string {
  return clientId === null ? 'notice' : 'client-notice'
}

/** All those for clients, by the ids of the clients. */
export async function readClientNoticeEndpoints(
  db: Db,
  clientKey: number,
): Promise<ReadonlyMap<string, { id: string; shard: number }>> {
  const { rows } = await db.query<{ id: string; shard: number; client_id: string }>({
    name: 'read-client-notice-endpoints',
    text: `select id, shard, account_id as client_id from endpoints
           where client_key = $1 and kind = 'client-notice' and deleted_at is null`,
    values: [clientKey],
  })
  return new Map(rows.map(({ client_id, ...endpoint }) => [client_id, endpoint]))
}
