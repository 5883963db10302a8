// A statement of completeness for an endpoint and some hours: what is kept is read, the rest is counted a few hours
// at a time and kept where it is final. So a long period that is asked for the first time may take several calls,
// each of which goes on where the one before stopped.

import { ServiceError } from '../../core/plain/errors.ts'
import {
  HOUR_MS,
  hourStartMs,
  nextSpanHours,
  owedIn,
  SPAN_HOURS_FIRST,
  type StateCounts,
  type StatementHour,
  sumHours,
} from '../../core/proofs/statement.ts'
import { isOverTime } from '../../store/connection/db.ts'
import { findAnyEndpoint } from '../../store/endpoints/endpoint-lists.ts'
import { type EndpointScope, findStatedEndpoint } from '../../store/endpoints/endpoints.ts'
import { markFeed } from '../../store/proofs/feed-marks.ts'
import {
  type CountedHours,
  countHours,
  type HourSpan,
} from '../../store/proofs/statement-counts.ts'
import type { EndpointKey } from '../../store/proofs/statement-hours.ts'
import { notFound } from '../shared/service-errors.ts'
import { type KeepingDeps, keep, readKept } from './kept-hours.ts'

type StatementDeps = KeepingDeps

interface StatedEndpoint extends EndpointKey {
  createdAt: Date
}

export interface Statement extends StateCounts {
  endpointId: string
  fromMs: number
  toMs: number
  isFinal: boolean
  idsDigest: string
  hours: readonly StatementHour[]
}

/** Callers wait for an answer, and proxies for 30 s as a rule. */
const BUDGET_MS = 20_000
/** What a span shrinks by when its count was broken off. */
const BROKEN_OFF_SHARE = 4

/** Deleted ones have one, too: what they got stays readable. */
export async function viewStatement(
  deps: StatementDeps,
  scope: EndpointScope,
  endpointId: string,
  period: HourSpan,
): Promise<Statement> {
  const endpoint = await findStatedEndpoint(deps.pool, scope, endpointId)
  if (endpoint === null) throw notFound()
  return makeStatement(deps, { clientKey: scope.clientKey, ...endpoint }, period)
}

/** Of any client, deleted ones too. */
export async function viewAnyStatement(
  deps: StatementDeps,
  endpointId: string,
  period: HourSpan,
): Promise<Statement> {
  const endpoint = await findAnyEndpoint(deps.pool, endpointId)
  if (endpoint === null) throw notFound()
  return makeStatement(deps, endpoint, period)
}

async function makeStatement(
  deps: StatementDeps,
  endpoint: StatedEndpoint,
  period: HourSpan,
): Promise<Statement> {
  const kept = await readKept(deps, endpoint, period)
  if (!kept.isWhole) throw notCountedYet()
  const hours = new Map(kept.hours)
  await countMissing(deps, endpoint, period, kept.reopened, hours)
  const inOrder = hoursOf(period).map((fromMs) => hours.get(fromMs) as StatementHour)
  return { endpointId: endpoint.id, ...period, ...sumHours(inOrder), hours: inOrder }
}

async function countMissing(
  deps: StatementDeps,
  endpoint: StatedEndpoint,
  period: HourSpan,
  reopened: ReadonlyMap<number, number>,
  hours: Map<number, StatementHour>,
): Promise<void> {
  if (hours.size === hoursOf(period).length) return
  const { pool, clock } = deps
  // By a clock that has just jumped ahead nothing is final: hours that are open would be over.
  const now = clock.hasJumped ? null : new Date(clock.nowMs())
  if (now !== null) await markFeed(pool, now)
  const startedAtMs = clock.monotonicMs()
  let spanHours = firstSpanHours(hours)
  for (;;) {
    const span = nextSpan(period, hours, spanHours)
    if (span === null) return
    if (clock.monotonicMs() - startedAtMs > BUDGET_MS) throw notCountedYet()
    const found = await countOrBreakOff(pool, endpoint, span, now)
    spanHours = (span.toMs - span.fromMs) / HOUR_MS
    if (found === null) {
      spanHours = Math.max(1, Math.floor(spanHours / BROKEN_OFF_SHARE))
      continue
    }
    const { hours: counted, endedSinceMs, place } = found
    if (counted === null) throw noLongerKept(endedSinceMs)
    for (const hour of counted) hours.set(hour.fromMs, hour)
    await keep(deps, endpoint, { hours: counted.filter(isToKeep(endpoint)), place }, reopened)
    spanHours = nextSpanHours(spanHours, rowsIn(counted))
  }
}

/** What is kept tells how many deliveries an hour has. */
function firstSpanHours(kept: ReadonlyMap<number, StatementHour>): number {
  return kept.size === 0 ? SPAN_HOURS_FIRST : nextSpanHours(kept.size, rowsIn([...kept.values()]))
}

function rowsIn(hours: readonly StatementHour[]): number {
  return hours.reduce((sum, hour) => sum + owedIn(hour), 0)
}

/** Before an endpoint existed it was owed nothing, unless it has asked for events of that time since. */
function isToKeep({ createdAt }: StatedEndpoint): (hour: StatementHour) => boolean {
  const firstMs = hourStartMs(createdAt.getTime())
  return (hour) => hour.isFinal && (hour.fromMs >= firstMs || owedIn(hour) > 0)
}

/** Null when several hours take longer than a statement may: fewer will not. */
async function countOrBreakOff(
  pool: StatementDeps['pool'],
  endpoint: EndpointKey,
  span: HourSpan,
  now: Date | null,
): Promise<CountedHours | null> {
  try {
    return await countHours(pool, endpoint, span, now)
  } catch (error) {
    if (isOverTime(error) && span.toMs - span.fromMs > HOUR_MS) return null
    throw error
  }
}

function hoursOf({ fromMs, toMs }: HourSpan): readonly number[] {
  return Array.from({ length: (toMs - fromMs) / HOUR_MS }, (_, at) => fromMs + at * HOUR_MS)
}

/** The first consecutive hours that are still missing. */
function nextSpan(
  period: HourSpan,
  hours: ReadonlyMap<number, unknown>,
  spanHours: number,
): HourSpan | null {
  const fromMs = hoursOf(period).find((ms) => !hours.has(ms))
  if (fromMs === undefined) return null
  let toMs = fromMs + HOUR_MS
  while (toMs < period.toMs && !hours.has(toMs) && toMs - fromMs < spanHours * HOUR_MS) {
    toMs += HOUR_MS
  }
  return { fromMs, toMs }
}

function notCountedYet(): ServiceError {
  return new ServiceError(
    'overloaded',
    'Counting all these deliveries takes longer than one call. Ask again: what was counted is kept.',
    { retryAfterSeconds: 1 },
  )
}

function noLongerKept(endedSinceMs: number): ServiceError {
  const since = new Date(endedSinceMs).toISOString()
  const detail = `Must be ${since} or later: what ended before is no longer kept.`
  return new ServiceError('invalid-query', 'The period begins before what is still kept.', {
    errors: [{ pointer: '/from', code: 'no-longer-kept', detail }],
  })
}
