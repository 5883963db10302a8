// Whether hours that are kept have got events since they were counted. An event is dated by the clock of its acceptance,
// which may have gone back into an hour that was over; its place in the feed only ever rises. So an event of the hour
// whose place is not below the line of the count was not there when it was made, and nothing has to be noted for it
// when it is accepted. Days whose newest event is older than the count, as nearly all are, cost one look in an index.

import type { Pool } from 'pg'
import { DAY_MS } from '../../core/delivery/backoff.ts'
import { HOUR_MS } from '../../core/proofs/statement.ts'
import { type Db, isOverTime } from '../connection/db.ts'
import { inSnapshot } from '../connection/snapshot.ts'
import { column } from '../sql/columns.ts'
import { idFloor, idsWithin, readStretchesSince } from '../sql/stretches.ts'
import { placeOf, readFeedOrigin, readSettledLine } from './feed-line.ts'

/** The beginning of an hour, and the place of the feed up to which it was counted. */
export interface CountedUpTo {
  fromMs: number
  place: string
}

export interface LateEvents {
  /** The beginnings of the hours that have got events. */
  hours: ReadonlySet<number>
  /** The days in which many events had to be looked at, by their beginning. */
  busyDays: ReadonlySet<number>
  /** What was seen is all that stands below this. */
  place: string
  /** False: there was no time for some days, of whose hours nothing is known. */
  isWhole: boolean
}

/** As many take some milliseconds. */
const BUSY_EVENTS = 1_000

/** Looks through one day at least, as long as there is time. */
export function findLateEvents(
  pool: Pool,
  clientKey: number,
  counted: readonly CountedUpTo[],
  hasTime: () => boolean,
): Promise<LateEvents> {
  return inSnapshot(pool, async (db) => {
    const line = await readSettledLine(db)
    const place = String(placeOf(line, await readFeedOrigin(db)))
    const [hours, busyDays] = [new Set<number>(), new Set<number>()]
    const days = [...Map.groupBy(counted, ({ fromMs }) => dayOf(fromMs))].toSorted(
      ([one], [other]) => one - other,
    )
    const left = new Map(await withNewer(db, clientKey, days))
    for (const [dayMs, ofDay] of left) {
      const { late, looked } = await lookOrGiveUp(db, clientKey, dayMs, ofDay)
      for (const fromMs of late) hours.add(fromMs)
      if (looked >= BUSY_EVENTS) busyDays.add(dayMs)
      left.delete(dayMs)
      if (!hasTime()) break
    }
    return { hours, busyDays, place, isWhole: left.size === 0 }
  })
}

/** A day with more events than a statement has time for is counted again, a few hours at a time. */
async function lookOrGiveUp(
  db: Db,
  clientKey: number,
  dayMs: number,
  ofDay: Day[1],
): Promise<Look> {
  try {
    return await lookThrough(db, clientKey, dayMs, ofDay)
  } catch (error) {
    if (!isOverTime(error)) throw error
    return { late: ofDay.map(({ fromMs }) => fromMs), looked: 0 }
  }
}

export function dayOf(ms: number): number {
  return Math.floor(ms / DAY_MS) * DAY_MS
}

interface Look {
  late: readonly number[]
  /** How many events. */
  looked: number
}

type Day = readonly [dayMs: number, counted: readonly CountedUpTo[]]

/** The days that have an event which is younger than some count of them. */
async function withNewer(db: Db, clientKey: number, days: readonly Day[]): Promise<readonly Day[]> {
  const found: Day[] = []
  const [first] = days
  if (first === undefined) return found
  const lastMs = (days.at(-1) as Day)[0] + DAY_MS
  for (const stretch of await readStretchesSince(db, 'events', first[0])) {
    // Whole days, each in one stretch: partitions are days, too. The last one is open at its end.
    const within = { ...stretch, toMs: Math.min(stretch.toMs, lastMs) }
    const ofStretch = days.filter(([ms]) => ms >= within.fromMs && ms < within.toMs)
    if (ofStretch.length === 0) continue
    // By place downwards, as the index stands, so that one row of each day is read.
    const { rows } = await db.query<{ number: number }>({
      text: `select g.number::int
             from unnest($2::uuid[], $3::uuid[], $4::bigint[]) with ordinality
               as g (low, high, place, number)
             cross join lateral (
               select e.place from events e
               where e.client_key = $1 and e.id >= g.low and e.id < g.high
                 and ${idsWithin(within, 'e.id')}
               order by e.place desc, e.sequence desc, e.id desc limit 1) as newest
             where newest.place >= g.place`,
      values: [
        clientKey,
        column('uuid', ofStretch, ([ms]) => idFloor(ms)),
        column('uuid', ofStretch, ([ms]) => idFloor(ms + DAY_MS)),
        column('bigint', ofStretch, ([, counted]) => leastPlace(counted)),
      ],
    })
    for (const { number } of rows) found.push(ofStretch[number - 1] as Day)
  }
  return found
}

function leastPlace(counted: readonly CountedUpTo[]): string {
  const places = counted.map(({ place }) => BigInt(place))
  return String(places.reduce((least, place) => (place < least ? place : least)))
}

async function lookThrough(
  db: Db,
  clientKey: number,
  dayMs: number,
  counted: readonly CountedUpTo[],
): Promise<Look> {
  const starts = Array.from({ length: DAY_MS / HOUR_MS }, (_, at) => dayMs + at * HOUR_MS)
  const places = new Map(counted.map(({ fromMs, place }) => [fromMs, place]))
  const { rows } = await db.query<{ hour: number; looked: number; is_late: boolean }>({
    // An hour that is not kept has no place, and nothing is late in it.
    text: `select hour, count(*) as looked,
             coalesce(bool_or(place >= ($3::bigint[])[hour]), false) as is_late
           from (select e.place, width_bucket(e.id, $4::uuid[]) as hour from events e
                 where e.client_key = $1 and e.place >= $2
                   and ${idsWithin({ fromMs: dayMs, toMs: dayMs + DAY_MS }, 'e.id')}) as newer
           group by 1`,
    values: [
      clientKey,
      leastPlace(counted),
      column('bigint', starts, (ms) => places.get(ms) ?? null),
      column('uuid', starts, (ms) => idFloor(ms)),
    ],
  })
  return {
    late: rows.flatMap(({ hour, is_late }) => (is_late ? [starts[hour - 1] as number] : [])),
    looked: rows.reduce((sum, { looked }) => sum + looked, 0),
  }
}
