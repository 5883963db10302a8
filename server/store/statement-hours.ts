// The hours of statements that are final, each counted once and kept. A replay opens its hour again, in its own
// transaction: the row counts how often that happened, so that what was counted before a replay is not kept after
// it, whichever of the two commits first.

import type { StatementHour } from '../core/statement.ts'
import { bytesColumn, plainColumn } from './columns.ts'
import type { Db } from './db.ts'
import { IN_CELL } from './planner.ts'

export interface EndpointKey {
  clientKey: number
  id: string
}

export interface KeptHour {
  /** How often it was opened again: to be handed back when it is kept. */
  reopened: number
  /** Null while it is not final. */
  hour: StatementHour | null
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
}

/** By their beginning. Hours that were never final, nor opened again, are left out. */
export async function readKeptHours(
  db: Db,
  { clientKey, id }: EndpointKey,
  { fromMs, toMs }: { fromMs: number; toMs: number },
): Promise<ReadonlyMap<number, KeptHour>> {
  const { rows } = await db.query<HourRow>({
    name: 'read-statement-hours',
    text: `select hour, reopened, delivered, superseded, exhausted, cancelled, ids_digest
           from statement_hours
           where client_key = $1 and endpoint_id = $2 and hour >= $3 and hour < $4`,
    values: [clientKey, id, new Date(fromMs), new Date(toMs)],
  })
  return new Map(rows.map((row) => [row.hour.getTime(), toKept(row)]))
}

function toKept({ hour, reopened, delivered, ids_digest: idsDigest, ...lost }: HourRow): KeptHour {
  if (delivered === null) return { reopened, hour: null }
  const fates = { delivered, ...lost, pending: 0 }
  const text = idsDigest.toString('hex')
  return { reopened, hour: { fromMs: hour.getTime(), isFinal: true, ...fates, idsDigest: text } }
}

/** Only where the hour was opened again as often as when it was counted, and no more. In order, as replays write. */
export async function keepHours(
  db: Db,
  { clientKey, id }: EndpointKey,
  hours: readonly (StatementHour & { reopened: number })[],
): Promise<void> {
  if (hours.length === 0) return
  const inOrder = hours.toSorted((one, other) => one.fromMs - other.fromMs)
  await db.query({
    name: 'keep-statement-hours',
    text: `insert into statement_hours as s (client_key, endpoint_id, hour, reopened, delivered,
             superseded, exhausted, cancelled, ids_digest)
           select $1, $2, to_timestamp(ms / 1000), reopened, delivered, superseded, exhausted,
             cancelled, ids_digest
           from unnest($3::float8[], $4::int[], $5::int[], $6::int[], $7::int[], $8::int[],
             $9::bytea[])
             as g (ms, reopened, delivered, superseded, exhausted, cancelled, ids_digest)
           on conflict (client_key, endpoint_id, hour) do update set
             delivered = excluded.delivered, superseded = excluded.superseded,
             exhausted = excluded.exhausted, cancelled = excluded.cancelled,
             ids_digest = excluded.ids_digest
           where s.reopened = excluded.reopened`,
    values: [
      clientKey,
      id,
      plainColumn(inOrder, (hour) => hour.fromMs),
      plainColumn(inOrder, (hour) => hour.reopened),
      plainColumn(inOrder, (hour) => hour.delivered),
      plainColumn(inOrder, (hour) => hour.superseded),
      plainColumn(inOrder, (hour) => hour.exhausted),
      plainColumn(inOrder, (hour) => hour.cancelled),
      bytesColumn(inOrder, (hour) => Buffer.from(hour.idsDigest, 'hex')),
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
      delivered = null, superseded = null, exhausted = null, cancelled = null, ids_digest = null`
}

export async function deleteOldStatementHours(db: Db, now: Date): Promise<void> {
  await db.query('delete from statement_hours where hour < $1', [
    new Date(now.getTime() - HOURS_KEPT_MS),
  ])
}
