// The hours of statements that are final, each counted once and kept. A replay opens its hour again, in its own
// transaction: the row counts how often that happened, so that what was counted before a replay is not kept after
// it, whichever of the two commits first. Whether a row may be believed is judged in operations/proofs/kept-hours.

import type { StatementHour } from '../../core/proofs/statement.ts'
import type { Db } from '../connection/db.ts'
import { column } from '../sql/columns.ts'
import { IN_CELL } from '../sql/planner.ts'

export interface EndpointKey {
  clientKey: number
  id: string
}

/** A final hour, and what it rests on. */
export interface HourToKeep extends StatementHour {
  /** How often it had been opened again when it was counted. */
  reopened: number
  /** All events with a place of the feed below this are counted. */
  place: string
  authentication: Buffer
}

export interface StoredHour {
  reopened: number
  /** Null while it is not final. The version before writes neither place nor authentication. */
  hour: (StatementHour & { place: string | null; authentication: Buffer | null }) | null
}

/** Longer than any statement reaches back, for those who keep statements of a year. */
const HOURS_KEPT_MS = 400 * 86_400_000

interface HourRow {
  hour: Date
  reopened: number
  /** Null, as the others are, while the hour is not final. */
  delivered: number | null
  superseded: number
  exhausted: number
  cancelled: number
  ids_digest: Buffer
  place: string | null
  authentication: Buffer | null
}

/** By their beginning. Hours that were never final, nor opened again, are left out. */
export async function readStoredHours(
  db: Db,
  { clientKey, id }: EndpointKey,
  { fromMs, toMs }: { fromMs: number; toMs: number },
): Promise<ReadonlyMap<number, StoredHour>> {
  const { rows } = await db.query<HourRow>({
    name: 'read-statement-hours',
    text: `select hour, reopened, delivered, superseded, exhausted, cancelled, ids_digest,
             place::text, authentication
           from statement_hours
           where client_key = $1 and endpoint_id = $2 and hour >= $3 and hour < $4`,
    values: [clientKey, id, new Date(fromMs), new Date(toMs)],
  })
  return new Map(rows.map((row) => [row.hour.getTime(), toStored(row)]))
}

function toStored({ hour, reopened, delivered, ids_digest, ...rest }: HourRow): StoredHour {
  if (delivered === null) return { reopened, hour: null }
  const idsDigest = ids_digest.toString('hex')
  const counts = { delivered, ...rest, pending: 0, idsDigest }
  return { reopened, hour: { fromMs: hour.getTime(), isFinal: true, ...counts } }
}

/** Only where the hour was opened again as often as when it was counted, and no more. In order, as replays write. */
export async function keepHours(
  db: Db,
  { clientKey, id }: EndpointKey,
  hours: readonly HourToKeep[],
): Promise<void> {
  if (hours.length === 0) return
  const inOrder = hours.toSorted((one, other) => one.fromMs - other.fromMs)
  await db.query({
    name: 'keep-statement-hours',
    text: `insert into statement_hours as s (client_key, endpoint_id, hour, reopened, delivered,
             superseded, exhausted, cancelled, ids_digest, place, authentication)
           select $1, $2, to_timestamp(ms / 1000), reopened, delivered, superseded, exhausted,
             cancelled, ids_digest, place, authentication
           from unnest($3::float8[], $4::int[], $5::int[], $6::int[], $7::int[], $8::int[],
             $9::bytea[], $10::bigint[], $11::bytea[])
             as g (ms, reopened, delivered, superseded, exhausted, cancelled, ids_digest, place,
               authentication)
           on conflict (client_key, endpoint_id, hour) do update set
             delivered = excluded.delivered, superseded = excluded.superseded,
             exhausted = excluded.exhausted, cancelled = excluded.cancelled,
             ids_digest = excluded.ids_digest, place = excluded.place,
             authentication = excluded.authentication
           where s.reopened = excluded.reopened`,
    values: [
      clientKey,
      id,
      column('float8', inOrder, (hour) => hour.fromMs),
      column('int', inOrder, (hour) => hour.reopened),
      column('int', inOrder, (hour) => hour.delivered),
      column('int', inOrder, (hour) => hour.superseded),
      column('int', inOrder, (hour) => hour.exhausted),
      column('int', inOrder, (hour) => hour.cancelled),
      column('bytea', inOrder, (hour) => Buffer.from(hour.idsDigest, 'hex')),
      column('bigint', inOrder, (hour) => hour.place),
      column('bytea', inOrder, (hour) => hour.authentication),
    ],
  })
}

/**
 * Part of a statement that makes final deliveries pending, or adds deliveries of old events: opens their hours again.
 * `source` has client_key, endpoint_id and id; a delivery's id has the time of its event. What was delivered stays
 * delivered, whatever a replay brings, so its hour stays kept: `condition` leaves it out.
 */
export function reopenHoursOf(source: string, condition = 'true'): string {
  return `insert into statement_hours as s (client_key, endpoint_id, hour, reopened)
    select distinct client_key, endpoint_id,
      to_timestamp(('x' || translate(left(id::text, 13), '-', ''))::bit(48)::bigint / 3600000 * 3600), 1
    from ${source} where ${condition} and ${IN_CELL}
    order by 1, 2, 3
    on conflict (client_key, endpoint_id, hour) do update set reopened = s.reopened + 1,
      delivered = null, superseded = null, exhausted = null, cancelled = null, ids_digest = null,
      place = null, authentication = null`
}

export async function deleteOldStatementHours(db: Db, now: Date): Promise<void> {
  await db.query('delete from statement_hours where hour < $1', [
    new Date(now.getTime() - HOURS_KEPT_MS),
  ])
}
