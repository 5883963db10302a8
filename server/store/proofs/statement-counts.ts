// What became of everything that an endpoint was owed in some hours of its events' time, counted in one snapshot:
// a delivery is in exactly one of the two tables, and the line below which nothing is added any more is drawn by
// the same snapshot. A delivery's id has the time of its event's id, so an hour is a range of the endpoint's index.

import type { Pool } from 'pg'
import { addDigests, digestOfByteSums, NO_IDS } from '../../core/proofs/ids-digest.ts'
import {
  type CountedHour,
  HOUR_MS,
  hourOfId,
  isHourFinal,
  type OnceDelivered,
  type StatementHour,
  withOnceDelivered,
} from '../../core/proofs/statement.ts'
import type { Db } from '../connection/db.ts'
import { inSnapshot } from '../connection/snapshot.ts'
import { column } from '../sql/columns.ts'
import { idFloor, readStretches, type Stretch, timesWithin } from '../sql/stretches.ts'
import { readSettled, type Settled } from './feed-marks.ts'
import type { EndpointKey } from './statement-hours.ts'

/** Consecutive hours: from the first until before the second. */
export interface HourSpan {
  fromMs: number
  toMs: number
}

export interface CountedHours {
  /** In order; null when some of what ended in them is no longer kept. */
  hours: readonly StatementHour[] | null
  endedSinceMs: number
  /** All events with a place of the feed below this are counted. */
  place: string
}

/** Without `now`, because the clock is in doubt, no hour is final. */
export function countHours(
  pool: Pool,
  endpoint: EndpointKey,
  span: HourSpan,
  now: Date | null,
): Promise<CountedHours> {
  return inSnapshot(pool, async (db) => {
    const settled = await readSettled(db, now)
    const { endedSinceMs, place } = settled
    if (span.fromMs < endedSinceMs) return { hours: null, endedSinceMs, place }
    const counted = await countAll(db, endpoint, span)
    const once = await readOnceDelivered(db, endpoint, span, counted)
    const hours = counted.map((hour) => {
      const ofHour = once.filter(({ id }) => hourOfId(id) === hour.fromMs)
      return toHour(hour, ofHour, settled)
    })
    return { hours, endedSinceMs, place }
  })
}

function toHour(
  counted: CountedHour,
  once: readonly OnceDelivered[],
  { settledAtMs }: Settled,
): StatementHour {
  const { lastUndeliveredEndAtMs, ...hour } = { ...counted, ...withOnceDelivered(counted, once) }
  return { ...hour, isFinal: isHourFinal(hour, lastUndeliveredEndAtMs, settledAtMs) }
}

async function countAll(db: Db, endpoint: EndpointKey, span: HourSpan): Promise<CountedHour[]> {
  const hours: CountedHour[] = []
  for (let fromMs = span.fromMs; fromMs < span.toMs; fromMs += HOUR_MS) {
    const counts = { delivered: 0, superseded: 0, exhausted: 0, cancelled: 0, pending: 0 }
    hours.push({ fromMs, ...counts, idsDigest: NO_IDS, lastUndeliveredEndAtMs: null })
  }
  const values = [endpoint.clientKey, endpoint.id, idFloor(span.fromMs), idFloor(span.toMs)]
  const bounds = column('uuid', hours, ({ fromMs }) => idFloor(fromMs))
  await countPending(db, hours, [...values, bounds])
  // All that are kept: an event that a clock dated days ahead has ended before its own time.
  for (const stretch of await readStretches(db, 'final_deliveries')) {
    await countDelivered(db, hours, [...values, bounds], stretch)
    await countUndelivered(db, hours, [...values, bounds], stretch)
  }
  return hours
}

const OF_ENDPOINT = 'd.client_key = $1 and d.endpoint_id = $2 and d.id >= $3 and d.id < $4'
/** The number of the hour, from 1. */
const HOUR = 'width_bucket(d.id, $5::uuid[])'

async function countPending(db: Db, hours: CountedHour[], values: unknown[]): Promise<void> {
  const { rows } = await db.query<{ hour: number; count: number }>({
    text: `select ${HOUR} as hour, count(*) as count from pending_deliveries d
           where ${OF_ENDPOINT} group by 1`,
    values,
  })
  for (const { hour, count } of rows) (hours[hour - 1] as CountedHour).pending += count
}

/**
 * The database hashes, and adds up the first bytes of all hashes, the second ones, and so on: so no id has to
 * travel, and no process that sends callbacks computes. core/proofs/ids-digest makes the digest of them.
 */
const BYTE_SUMS = `array[${Array.from({ length: 32 }, (_, at) => `sum(get_byte(hash, ${at}))`).join(', ')}]`

async function countDelivered(
  db: Db,
  hours: CountedHour[],
  values: unknown[],
  stretch: Stretch,
): Promise<void> {
  const { rows } = await db.query<{ hour: number; count: number; sums: number[] }>({
    text: `select hour, count(*) as count, ${BYTE_SUMS}::float8[] as sums
           from (select ${HOUR} as hour, sha256(convert_to(d.event_id::text, 'UTF8')) as hash
                 from final_deliveries d
                 where ${OF_ENDPOINT} and d.state = 'DELIVERED' and ${timesWithin(stretch, 'd.finished_at')}
                 offset 0) as delivered
           group by 1`,
    values,
  })
  for (const { hour, count, sums } of rows) {
    const counted = hours[hour - 1] as CountedHour
    counted.delivered += count
    counted.idsDigest = addDigests([counted.idsDigest, digestOfByteSums(sums)])
  }
}

async function countUndelivered(
  db: Db,
  hours: CountedHour[],
  values: unknown[],
  stretch: Stretch,
): Promise<void> {
  const { rows } = await db.query<{ hour: number; state: string; count: number; last: Date }>({
    text: `select ${HOUR} as hour, d.state, count(*) as count, max(d.finished_at) as last
           from final_deliveries d
           where ${OF_ENDPOINT} and d.state <> 'DELIVERED' and ${timesWithin(stretch, 'd.finished_at')}
           group by 1, 2`,
    values,
  })
  for (const { hour, state, count, last } of rows) {
    const counted = hours[hour - 1] as CountedHour
    counted[toStateName(state)] += count
    counted.lastUndeliveredEndAtMs = Math.max(counted.lastUndeliveredEndAtMs ?? 0, last.getTime())
  }
}

/** States are written in capitals, their counts are not. */
function toStateName(state: string): OnceDelivered['state'] {
  return state.toLowerCase() as OnceDelivered['state']
}

/** Few, and often none: what was delivered and then replayed, or was answered when it had been cancelled. */
async function readOnceDelivered(
  db: Db,
  endpoint: EndpointKey,
  span: HourSpan,
  counted: readonly CountedHour[],
): Promise<readonly OnceDelivered[]> {
  const isOwed = counted.some(({ pending }) => pending > 0)
  const hasUndelivered = counted.some(
    ({ lastUndeliveredEndAtMs }) => lastUndeliveredEndAtMs !== null,
  )
  if (!isOwed && !hasUndelivered) return []
  const values = [endpoint.clientKey, endpoint.id, idFloor(span.fromMs), idFloor(span.toMs)]
  // By id, because one may have been answered on days of several stretches.
  const found = new Map<string, OnceRow>()
  for (const attempted of await readStretches(db, 'earlier_attempts')) {
    const rows = isOwed ? await readReplayed(db, values, attempted) : []
    for (const row of rows) found.set(row.id, row)
    for (const ended of hasUndelivered ? await readStretches(db, 'final_deliveries') : []) {
      for (const row of await readUndelivered(db, values, ended, attempted)) found.set(row.id, row)
    }
  }
  return [...found.values()].map(({ id, event_id: eventId, state }) => ({
    id,
    eventId,
    state: toStateName(state),
  }))
}

interface OnceRow {
  id: string
  event_id: string
  state: string
}

async function readReplayed(db: Db, values: unknown[], attempted: Stretch): Promise<OnceRow[]> {
  const { rows } = await db.query<OnceRow>({
    text: `select d.id, d.event_id, 'PENDING' as state from pending_deliveries d
           cross join lateral ${answeredWithin(attempted)}
           where ${OF_ENDPOINT} and d.is_replay`,
    values,
  })
  return rows
}

async function readUndelivered(
  db: Db,
  values: unknown[],
  ended: Stretch,
  attempted: Stretch,
): Promise<OnceRow[]> {
  const { rows } = await db.query<OnceRow>({
    text: `select d.id, d.event_id, d.state from final_deliveries d
           cross join lateral ${answeredWithin(attempted)}
           where ${OF_ENDPOINT} and d.state <> 'DELIVERED'
             and ${timesWithin(ended, 'd.finished_at')}`,
    values,
  })
  return rows
}

/** One look by the delivery's key for each, whatever statistics say (store/sql/planner.ts). */
function answeredWithin(stretch: Stretch): string {
  return `(select from earlier_attempts a
    where a.client_key = d.client_key and a.delivery_id = d.id and a.outcome = 'answered'
      and a.status = 200 and ${timesWithin(stretch, 'a.at')} limit 1) as answered`
}
