// The document_links table: the link that the callback of an event to an endpoint carries in place of its file, kept so
// that the body has the same bytes whenever it is made again.

import { uuidFloor } from '../../core/plain/uuid.ts'
import type { Db } from '../connection/db.ts'
import { column } from '../sql/columns.ts'
import { IN_CELL } from '../sql/planner.ts'

export interface LinkKey {
  clientKey: number
  eventId: string
  endpointId: string
}

export interface KeptLink extends LinkKey {
  url: string
}

/**
 * What is kept already stays. Returns what is kept, in the order of `links`, of which no two are of one key; null where
 * another has been kept while this ran.
 */
export async function keepLinks(
  db: Db,
  links: readonly KeptLink[],
): Promise<readonly (string | null)[]> {
  const { rows } = await db.query<{ url: string | null }>({
    name: 'keep-links',
    text: `with given as (
             select * from unnest($1::int[], $2::uuid[], $3::uuid[], $4::text[]) with ordinality
               as g (client_key, event_id, endpoint_id, url, place)
           ), made as (
             insert into document_links (client_key, event_id, endpoint_id, url)
             select client_key, event_id, endpoint_id, url from given where ${IN_CELL}
             on conflict do nothing
             returning client_key, event_id, endpoint_id, url
           )
           select coalesce(m.url, kept.url) as url from given g
           left join made m using (client_key, event_id, endpoint_id)
           left join lateral (
             select k.url from document_links k
             where k.client_key = g.client_key and k.event_id = g.event_id
               and k.endpoint_id = g.endpoint_id
             limit 1) as kept on true
           order by g.place`,
    values: [
      column('int', links, ({ clientKey }) => clientKey),
      column('uuid', links, ({ eventId }) => eventId),
      column('uuid', links, ({ endpointId }) => endpointId),
      column('text', links, ({ url }) => url),
    ],
  })
  return rows.map(({ url }) => url)
}

export async function findKeptLink(
  db: Db,
  { clientKey, eventId, endpointId }: LinkKey,
): Promise<string | null> {
  const { rows } = await db.query<{ url: string }>({
    name: 'find-kept-link',
    text: `select url from document_links
           where client_key = $1 and event_id = $2 and endpoint_id = $3`,
    values: [clientKey, eventId, endpointId],
  })
  return rows[0]?.url ?? null
}

/** Those of events from before; at most `limit` at a time. Returns how many went. */
export async function deleteOldDocumentLinks(db: Db, before: Date, limit: number): Promise<number> {
  const { rowCount } = await db.query({
    text: `delete from document_links where (client_key, event_id, endpoint_id) in (
             select client_key, event_id, endpoint_id from document_links
             where event_id < $1 order by event_id limit $2)`,
    values: [uuidFloor(before.getTime()), limit],
  })
  return rowCount ?? 0
}
