// Which receivers are being checked now, so that no two checks of one run at once.

import type { Db } from '../connection/db.ts'

export interface CheckedEndpoint {
  clientKey: number
  endpointId: string
}

/**
 * False when another check is running. One that began `givenUpAfterMs` ago counts no more; nor does one that will begin in
 * more than that: its process had a clock that was ahead, and may be dead.
 */
export async function beginCheck(
  db: Db,
  { clientKey, endpointId }: CheckedEndpoint,
  startedAt: Date,
  givenUpAfterMs: number,
): Promise<boolean> {
  const [earliest, latest] = [-givenUpAfterMs, givenUpAfterMs].map(
    (ms) => new Date(startedAt.getTime() + ms),
  )
  const { rowCount } = await db.query({
    name: 'begin-check',
    text: `insert into receiver_checks as running (client_key, endpoint_id, started_at)
           values ($1, $2, $3)
           on conflict (client_key, endpoint_id) do update set started_at = excluded.started_at
             where running.started_at < $4 or running.started_at > $5`,
    values: [clientKey, endpointId, startedAt, earliest, latest],
  })
  return rowCount === 1
}

/** Ends the check that began then, and not one that has taken its place. */
export async function endCheck(
  db: Db,
  { clientKey, endpointId }: CheckedEndpoint,
  startedAt: Date,
): Promise<void> {
  await db.query({
    name: 'end-check',
    text: `delete from receiver_checks
           where client_key = $1 and endpoint_id = $2 and started_at = $3`,
    values: [clientKey, endpointId, startedAt],
  })
}
