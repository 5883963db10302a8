// The one endpoint of Paybell's own client: where notices to the operator go.

import type { EndpointStatus } from '../core/endpoint.ts'
import type { Db } from './db.ts'

export interface NoticeEndpoint {
  clientKey: number
  id: string
  shard: number
  url: string
  status: EndpointStatus
  inactiveSince: Date | null
  sealedKey: Buffer
}

/** Makes the client that notices belong to, if it is not there yet; returns its key. */
export async function ensureInternalClient(
  db: Db,
  client: { id: string; name: string },
  now: Date,
): Promise<number> {
  const known = await findInternalClient(db)
  if (known !== null) return known
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
): Promise<NoticeEndpoint | null> {
  const { rows } = await db.query<{
    id: string
    shard: number
    url: string
    status: EndpointStatus
    inactive_since: Date | null
    shared_key: Buffer
  }>({
    name: 'find-notice-endpoint',
    text: `select id, shard, url, status, inactive_since, shared_key from endpoints
           where client_key = $1 and kind = 'notice' and deleted_at is null`,
    values: [clientKey],
  })
  const [row] = rows
  if (row === undefined) return null
  return {
    clientKey,
    id: row.id,
    shard: row.shard,
    url: row.url,
    status: row.status,
    inactiveSince: row.inactive_since,
    sealedKey: row.shared_key,
  }
}

export async function insertNoticeEndpoint(
  db: Db,
  endpoint: Omit<NoticeEndpoint, 'status' | 'inactiveSince'> & { hrefHash: Buffer },
  now: Date,
): Promise<void> {
  await db.query({
    text: `insert into endpoints
             (client_key, id, kind, shard, url, href_hash, shared_key, created_at, changed_at)
           values ($1, $2, 'notice', $3, $4, $5, $6, $7, $7)`,
    values: [
      endpoint.clientKey,
      endpoint.id,
      endpoint.shard,
      endpoint.url,
      endpoint.hrefHash,
      endpoint.sealedKey,
      now,
    ],
  })
}

/** What is still on its way goes to the new address. */
export async function moveNoticeEndpoint(
  db: Db,
  endpoint: { clientKey: number; id: string; url: string; hrefHash: Buffer },
  now: Date,
): Promise<void> {
  await db.query({
    text: `update endpoints set url = $3, href_hash = $4, changed_at = $5
           where client_key = $1 and id = $2`,
    values: [endpoint.clientKey, endpoint.id, endpoint.url, endpoint.hrefHash, now],
  })
}
