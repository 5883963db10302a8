// The listeners table: when each listener last asked for its next callback.

import type { Db } from '../connection/db.ts'

export interface ListenerKey {
  clientKey: number
  listenerId: string
}

/** It has not asked yet; the time of making counts, so that one that is never used is forgotten too. */
export async function insertListener(
  db: Db,
  { clientKey, listenerId }: ListenerKey,
  now: Date,
): Promise<void> {
  await db.query({
    text: 'insert into listeners (client_key, endpoint_id, last_polled_at) values ($1, $2, $3)',
    values: [clientKey, listenerId, now],
  })
}

/** It asks. Written only when the last note is older than `noted`. */
export async function touchListener(
  db: Db,
  { clientKey, listenerId }: ListenerKey,
  at: { now: Date; noted: Date },
): Promise<void> {
  await db.query({
    name: 'touch-listener',
    text: `update listeners set last_polled_at = $3, is_listening = true
           where client_key = $1 and endpoint_id = $2 and (not is_listening or last_polled_at <= $4)`,
    values: [clientKey, listenerId, at.now, at.noted],
  })
}

/** Those that have not asked since then, though they count as listening; the longest silent first. */
export async function readSilentListeners(
  db: Db,
  since: Date,
  limit: number,
): Promise<readonly ListenerKey[]> {
  const { rows } = await db.query<{ client_key: number; endpoint_id: string }>({
    name: 'read-silent-listeners',
    text: `select client_key, endpoint_id from listeners
           where last_polled_at <= $1 and is_listening order by last_polled_at limit $2`,
    values: [since, limit],
  })
  return rows.map(toKey)
}

/** False when it has asked after all: then it goes on listening. */
export async function markSilent(
  db: Db,
  { clientKey, listenerId }: ListenerKey,
  since: Date,
): Promise<boolean> {
  const { rowCount } = await db.query({
    text: `update listeners set is_listening = false
           where client_key = $1 and endpoint_id = $2 and is_listening and last_polled_at <= $3`,
    values: [clientKey, listenerId, since],
  })
  return rowCount === 1
}

/** Those that have not asked since then. */
export async function readForgottenListeners(
  db: Db,
  since: Date,
  limit: number,
): Promise<readonly ListenerKey[]> {
  const { rows } = await db.query<{ client_key: number; endpoint_id: string }>({
    text: `select l.client_key, l.endpoint_id from listeners l
           join endpoints e on e.client_key = l.client_key and e.id = l.endpoint_id
           where l.last_polled_at <= $1 and e.deleted_at is null
           order by l.last_polled_at limit $2`,
    values: [since, limit],
  })
  return rows.map(toKey)
}

/** A deleted endpoint stays for the history; when it last asked does not. */
export async function dropDeletedListeners(db: Db): Promise<void> {
  await db.query(
    `delete from listeners l using endpoints e
     where l.last_polled_at > '-infinity' and e.client_key = l.client_key and e.id = l.endpoint_id
       and e.deleted_at is not null`,
  )
}

function toKey(row: { client_key: number; endpoint_id: string }): ListenerKey {
  return { clientKey: row.client_key, listenerId: row.endpoint_id }
}
