// The certificates that a client's endpoints ask for, at both ends of a move. Their ids are each cell's own.

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
