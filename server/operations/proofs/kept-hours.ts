// The hours of statements that are kept, and when a kept one is believed: if a holder of the master key wrote it, if the
// clock says that it is over, and if no event has come into it since it was counted. One that is not is counted again,
// as are those of a version that authenticated nothing, or under a master key that is no longer configured.

import { isHourOver, type StatementHour } from '../../core/proofs/statement.ts'
import { dayOf, findLateEvents } from '../../store/proofs/late-events.ts'
import type { HourSpan } from '../../store/proofs/statement-counts.ts'
import {
  type EndpointKey,
  keepHours,
  readStoredHours,
  type StoredHour,
} from '../../store/proofs/statement-hours.ts'
import type { SealedField, Sealer } from '../../store/secrets/sealing.ts'
import type { Deps } from '../shared/deps.ts'

export type KeepingDeps = Pick<Deps, 'pool' | 'clock' | 'sealer' | 'onForgedHours'>

export interface KeptHours {
  /** Those that are believed, by their beginning. */
  hours: ReadonlyMap<number, StatementHour>
  /** How often each was opened again, where it was. */
  reopened: ReadonlyMap<number, number>
  /** False: there was no time to judge all of them. The next call goes on from here. */
  isWhole: boolean
}

/** For looking through the days in which events have come since. */
const LOOK_MS_MAX = 10_000

export async function readKept(
  deps: KeepingDeps,
  endpoint: EndpointKey,
  period: HourSpan,
): Promise<KeptHours> {
  const stored = await readStoredHours(deps.pool, endpoint, period)
  const reopened = new Map([...stored].map(([fromMs, one]) => [fromMs, one.reopened]))
  const nowMs = deps.clock.nowMs()
  const over = findAuthentic(deps, endpoint, stored).filter(({ hour }) =>
    isHourOver(hour.fromMs, nowMs),
  )
  const hours = new Map(over.map(({ hour }) => [hour.fromMs, hour]))
  if (over.length === 0) return { hours, reopened, isWhole: true }
  const counted = over.map(({ hour: { fromMs }, place }) => ({ fromMs, place }))
  const untilMs = deps.clock.monotonicMs() + LOOK_MS_MAX
  const hasTime = () => deps.clock.monotonicMs() < untilMs
  const late = await findLateEvents(deps.pool, endpoint.clientKey, counted, hasTime)
  for (const fromMs of late.hours) hours.delete(fromMs)
  // So that the next look begins where this one has ended.
  const looked = [...hours.values()].filter(({ fromMs }) => late.busyDays.has(dayOf(fromMs)))
  await keep(deps, endpoint, { hours: looked, place: late.place }, reopened)
  return { hours, reopened, isWhole: late.isWhole }
}

/** `place`: that of the feed up to which they were counted. */
export async function keep(
  { pool, sealer }: Pick<KeepingDeps, 'pool' | 'sealer'>,
  endpoint: EndpointKey,
  { hours, place }: { hours: readonly StatementHour[]; place: string },
  reopened: ReadonlyMap<number, number>,
): Promise<void> {
  const toKeep = hours.map((hour) => {
    const times = reopened.get(hour.fromMs) ?? 0
    const authentication = sealer.authenticate(textOf(hour, times, place), fieldOf(endpoint, hour))
    return { ...hour, reopened: times, place, authentication }
  })
  await keepHours(pool, endpoint, toKeep)
}

interface Authentic {
  hour: StatementHour
  place: string
}

function findAuthentic(
  { sealer, onForgedHours }: Pick<KeepingDeps, 'sealer' | 'onForgedHours'>,
  endpoint: EndpointKey,
  stored: ReadonlyMap<number, StoredHour>,
): readonly Authentic[] {
  const authentic: Authentic[] = []
  let forged = 0
  for (const { hour: row, reopened } of stored.values()) {
    if (row === null || row.authentication === null || row.place === null) continue
    const { authentication, place, ...hour } = row
    const text = textOf(hour, reopened, place)
    if (sealer.isAuthentic(authentication, text, fieldOf(endpoint, hour))) {
      authentic.push({ hour, place })
    } else if (isOfKnownKey(sealer, authentication)) forged++
  }
  if (forged > 0) onForgedHours?.(endpoint.id, forged)
  return authentic
}

/** What a key made that is gone cannot be judged: nobody is accused. */
function isOfKnownKey(sealer: Sealer, authentication: Buffer): boolean {
  return sealer.hasKey(authentication.toString('hex', 0, 4))
}

/** One spelling of all that is believed. */
function textOf(hour: StatementHour, reopened: number, place: string): string {
  const { delivered, superseded, exhausted, cancelled, idsDigest } = hour
  return JSON.stringify([reopened, delivered, superseded, exhausted, cancelled, idsDigest, place])
}

/** Without the client's key, which is another one in another cell. */
function fieldOf({ id }: EndpointKey, { fromMs }: StatementHour): SealedField {
  return { column: 'statement_hours', row: `${id} ${new Date(fromMs).toISOString()}` }
}
