// Who lives in this cell although the id says otherwise, for its entry of the directory. Clients that have left are
// here by name only, and not meant.

import type { Db } from '../connection/db.ts'

/** The migration from which on ids tell their cell. */
const STAMPING = '0031_cells'

/** Since when the ids that this cell makes tell it. Sessions are in UTC, and the column has no zone. */
export async function readStampedSince(db: Db): Promise<Date> {
  const { rows } = await db.query<{ since: Date }>(
    `select run_on at time zone 'UTC' as since from migrations where name = $1`,
    [STAMPING],
  )
  if (rows[0] === undefined) throw new Error('the schema is older than cells')
  return rows[0].since
}

export interface ResidentQuery {
  /** The three digits of this cell. */
  digits: string
  /** Ids below this one were made before they told their cell. */
  above: string
  /** Of each kind. */
  max: number
}

/** Digits 21 to 23 of an id's text are the cell that made it. */
export async function readCellResidents(
  db: Db,
  { digits, above, max }: ResidentQuery,
): Promise<{ clients: readonly string[]; accounts: readonly string[] }> {
  const { rows } = await db.query<{ kind: 'client' | 'account'; id: string }>({
    name: 'read-cell-residents',
    text: `with gone as materialized (select client_key from client_moves where state = 'MOVED')
       (select 'client' as kind, id from clients
         where id >= $2 and substr(id::text, 21, 3) <> $1
           and client_key not in (select client_key from gone)
         order by id limit $3)
       union all
       (select 'account', id from accounts
         where id >= $2 and substr(id::text, 21, 3) <> $1
           and client_key not in (select client_key from gone)
         order by id limit $3)`,
    values: [digits, above, max],
  })
  const idsOf = (wanted: string) => rows.filter(({ kind }) => kind === wanted).map(({ id }) => id)
  return { clients: idsOf('client'), accounts: idsOf('account') }
}
