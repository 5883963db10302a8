// The certificates that a client's endpoints ask for, and those that are given to it, at both ends of a move. Their ids are
// each cell's own, and so are the keys of clients.

import type { Db } from '../connection/db.ts'
import { column } from '../sql/columns.ts'

/** Ids, and `default`. */
export async function readCertificateChoices(
  db: Db,
  clientKey: number,
): Promise<ReadonlySet<string>> {
  const { rows } = await db.query<{ choice: string }>(
    `select distinct client_certificate as choice from endpoints
     where client_key = $1 and client_certificate is not null and deleted_at is null`,
    [clientKey],
  )
  return new Set(rows.map(({ choice }) => choice))
}

/** In the other cell, where the client's endpoints still have the ids of this one. */
export async function renameCertificates(
  target: Db,
  clientKey: number,
  ids: ReadonlyMap<string, string>,
): Promise<void> {
  if (ids.size === 0) return
  const pairs = [...ids]
  // All at once: an id of the one cell may be another certificate's in the other.
  await target.query({
    text: `update endpoints e set client_certificate = g.there
           from unnest($2::text[], $3::text[]) as g (here, there)
           where e.client_key = $1 and e.client_certificate = g.here`,
    values: [
      clientKey,
      column('text', pairs, ([here]) => here),
      column('text', pairs, ([, id]) => id),
    ],
  })
}

/** In the other cell, to the client there. */
export async function giveCertificates(
  target: Db,
  clientKey: number,
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return
  await target.query({
    text: `update client_certificates set client_keys = array_append(client_keys, $1::int)
           where id = any($2::uuid[]) and not is_for_everyone and $1::int <> all(client_keys)`,
    values: [clientKey, column('uuid', ids, (id) => id)],
  })
}

/** Of a client that is here no more: should it come back, it brings what it is given by then. */
export async function takeCertificatesBack(source: Db, clientKey: number): Promise<void> {
  await source.query({
    text: `update client_certificates set client_keys = array_remove(client_keys, $1::int)
           where $1::int = any(client_keys)`,
    values: [clientKey],
  })
}
