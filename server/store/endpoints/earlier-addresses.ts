// The earlier_addresses table: where an endpoint was before its address was changed. A trigger writes it, so that no
// statement can forget to.

import type { Db } from '../connection/db.ts'

/** The one at an instant before the last change; null: it has not changed since, and is the endpoint's own. */
export async function findEarlierAddress(
  db: Db,
  { clientKey, endpointId }: { clientKey: number; endpointId: string },
  at: Date,
): Promise<string | null> {
  const { rows } = await db.query<{ url: string }>({
    name: 'find-earlier-address',
    text: `select url from earlier_addresses
           where client_key = $1 and endpoint_id = $2 and until > $3 order by until limit 1`,
    values: [clientKey, endpointId, at],
  })
  return rows[0]?.url ?? null
}
