// History in stretches of days, for statements that read it. A statement that does not say on which days to
// look locks every partition and every index of it, even those that it never opens: with a year of days,
// sixteen lists at once filled the lock table of a PostgreSQL as it comes. So what looks through history
// does so a stretch at a time, and writes its bounds into the statement: a plan that is made once for any
// parameters would lock everything again.

import { DAY_MS } from '../../core/delivery/backoff.ts'
import { uuidFloor } from '../../core/plain/uuid.ts'
import type { Db } from '../connection/db.ts'

/** From an instant on, and before another; infinite at both ends of history. */
export interface Stretch {
  fromMs: number
  toMs: number
}

export type DividedTable = 'events' | 'final_deliveries' | 'earlier_attempts' | 'audit'

/** With its indexes, a day of deliveries is eight relations: some hundred locks for each statement. */
const PARTITIONS_AT_ONCE = 12
/** What lies in days of its own, given ahead of time, is looked for in stretches of the calendar. */
export const STRETCH_MS = PARTITIONS_AT_ONCE * DAY_MS

/**
 * By how much the clocks that rows take their times from may differ, and how long a row may take from its
 * id to its commit: seconds in truth, since all processes use the database's clock.
 */
export const CLOCKS_APART_MS = DAY_MS

/** Newest first. Together they hold all instants, so that rows outside all days are found, too. */
export async function readStretches(db: Db, table: DividedTable): Promise<readonly Stretch[]> {
  const { rows } = await db.query<{ name: string }>({
    name: 'read-partitions-of',
    text: `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
           where i.inhparent = $1::text::regclass`,
    values: [table],
  })
  const starts = rows
    .flatMap(({ name }) => startOf(name) ?? [])
    .toSorted((one, other) => other - one)
  const stretches: Stretch[] = []
  let toMs = Number.POSITIVE_INFINITY
  for (let at = PARTITIONS_AT_ONCE - 1; at < starts.length - 1; at += PARTITIONS_AT_ONCE) {
    const fromMs = starts[at] as number
    stretches.push({ fromMs, toMs })
    toMs = fromMs
  }
  return [...stretches, { fromMs: Number.NEGATIVE_INFINITY, toMs }]
}

/** Oldest first, and only from an instant on: a look-up by id begins on the id's own day. */
export async function readStretchesSince(
  db: Db,
  table: DividedTable,
  sinceMs: number,
): Promise<readonly Stretch[]> {
  const stretches = await readStretches(db, table)
  return stretches
    .filter(({ toMs }) => toMs > sinceMs)
    .map(({ fromMs, toMs }) => ({ fromMs: Math.max(fromMs, sinceMs), toMs }))
    .toReversed()
}

function startOf(partition: string): number | null {
  const day = /_(\d{4})_(\d{2})_(\d{2})$/.exec(partition)
  return day === null ? null : Date.UTC(Number(day[1]), Number(day[2]) - 1, Number(day[3]))
}

/** A condition for tables that are divided by an instant. */
export function timesWithin({ fromMs, toMs }: Stretch, column: string): string {
  return bounds(column, fromMs, toMs, (ms) => `timestamptz '${new Date(ms).toISOString()}'`)
}

/** A condition for tables that are divided by an id. */
export function idsWithin({ fromMs, toMs }: Stretch, column: string): string {
  return bounds(column, fromMs, toMs, (ms) => `uuid '${idFloor(ms)}'`)
}

function bounds(
  column: string,
  fromMs: number,
  toMs: number,
  write: (ms: number) => string,
): string {
  const conditions: string[] = []
  if (fromMs > LOWEST_MS) conditions.push(`${column} >= ${write(Math.min(fromMs, HIGHEST_MS))}`)
  if (toMs < HIGHEST_MS) conditions.push(`${column} < ${write(toMs)}`)
  return conditions.length === 0 ? 'true' : conditions.join(' and ')
}

/** Instants that ids have; what lies outside is the end of history. */
const LOWEST_MS = 0
const HIGHEST_MS = Date.UTC(9999, 0)

/** The smallest id of an instant, for any instant. */
export function idFloor(ms: number): string {
  return uuidFloor(Math.min(Math.max(ms, 0), 2 ** 48 - 1))
}

/** Whatever has ended within the stretch has an id below this one. */
export function idCeiling({ toMs }: Stretch): string {
  return idFloor(toMs + CLOCKS_APART_MS)
}

/** Rows in portions of which each lies within a few days, by every one of the instants given. */
export function byStretch<T>(rows: readonly T[], ...instants: ((row: T) => number)[]): T[][] {
  const keyOf = (row: T) => instants.map((ms) => Math.floor(ms(row) / STRETCH_MS)).join('/')
  return [...Map.groupBy(rows, keyOf).values()]
}

/** From the earliest of these instants to the latest, and as far apart as clocks may be. */
export function stretchAround(instantsMs: readonly number[], slackMs = CLOCKS_APART_MS): Stretch {
  let [fromMs, toMs] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const ms of instantsMs) {
    fromMs = Math.min(fromMs, ms)
    toMs = Math.max(toMs, ms)
  }
  return { fromMs: fromMs - slackMs, toMs: toMs + slackMs + 1 }
}
