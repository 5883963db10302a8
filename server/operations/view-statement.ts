// A statement of completeness for an endpoint and some hours: what is kept is read, the rest is counted a few hours
// at a time and kept where it is final. So a long period that is asked for the first time may take several calls,
// each of which goes on where the one before stopped.

import { ServiceError } from '../core/errors.ts'
import { type Fates, HOUR_MS, type StatementHour, sumHours } from '../core/statement.ts'
import { isOverTime } from '../store/db.ts'
import { findAnyEndpoint } from '../store/endpoint-lists.ts'
import { type EndpointScope, findEndpoint } from '../store/endpoints.ts'
import { markFeed } from '../store/feed-marks.ts'
import { type CountedHours, countHours, type HourSpan } from '../store/statement-counts.ts'
import {
  type EndpointKey,
  type KeptHour,
  keepHours,
  readKeptHours,
} from '../store/statement-hours.ts'
import type { Deps } from './parts/deps.ts'
import { notFound } from './parts/failures.ts'

type StatementDeps = Pick<Deps, 'pool' | 'clock'>

export interface Statement extends Fates {
  endpointId: string
  fromMs: number
  toMs: number
  isFinal: boolean
  idsDigest: string
  hours: readonly StatementHour[]
}

/** Callers wait for an answer, and proxies for 30 s as a rule. */
const BUDGET_MS = 20_000
/** Hours counted at once: one at first, then fewer after a slow count and more after a quick one. */
const SPAN_HOURS_MAX = 48
const SLOW_MS = 1_000
const QUICK_MS = 150
/** What a span shrinks by when its count was broken off. */
const BROKEN_OFF_SHARE = 4

export async function viewStatement(
  deps: StatementDeps,
  scope: EndpointScope,
  endpointId: string,
  period: HourSpan,
): Promise<Statement> {
  // A subscription covers all accounts: its statement is about all that it was owed.
  const of = scope.kind === 'subscription' ? { ...scope, accountId: null } : scope
  const endpoint = await findEndpoint(deps.pool, of, endpointId)
  if (endpoint === null) throw notFound()
  return makeStatement(deps, { clientKey: scope.clientKey, id: endpoint.id }, period)
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
  endpoint: EndpointKey,
  period: HourSpan,
): Promise<Statement> {
  const kept = await readKeptHours(deps.pool, endpoint, period)
  const hours = new Map<number, StatementHour>()
  for (const [fromMs, { hour }] of kept) if (hour !== null) hours.set(fromMs, hour)
  await countMissing(deps, endpoint, period, kept, hours)
  const inOrder = hoursOf(period).map((fromMs) => hours.get(fromMs) as StatementHour)
  return { endpointId: endpoint.id, ...period, ...sumHours(inOrder), hours: inOrder }
}

async function countMissing(
  { pool, clock }: StatementDeps,
  endpoint: EndpointKey,
  period: HourSpan,
  kept: ReadonlyMap<number, KeptHour>,
  hours: Map<number, StatementHour>,
): Promise<void> {
  if (hours.size === hoursOf(period).length) return
  await markFeed(pool, new Date(clock.nowMs()))
  const startedAtMs = clock.monotonicMs()
  let spanHours = 1
  for (;;) {
    const span = nextSpan(period, hours, spanHours)
    if (span === null) return
    const beganAtMs = clock.monotonicMs()
    if (beganAtMs - startedAtMs > BUDGET_MS) throw notCountedYet()
    const found = await countOrBreakOff(pool, endpoint, span)
    if (found === null) {
      spanHours = Math.max(1, Math.floor((span.toMs - span.fromMs) / HOUR_MS / BROKEN_OFF_SHARE))
      continue
    }
    const { hours: counted, endedSinceMs } = found
    if (counted === null) throw noLongerKept(endedSinceMs)
    for (const hour of counted) hours.set(hour.fromMs, hour)
    const final = counted.filter(({ isFinal }) => isFinal)
    await keepHours(
      pool,
      endpoint,
      final.map((hour) => ({ ...hour, reopened: kept.get(hour.fromMs)?.reopened ?? 0 })),
    )
    const tookMs = clock.monotonicMs() - beganAtMs
    if (tookMs > SLOW_MS) spanHours = Math.max(1, Math.floor(spanHours / 2))
    else if (tookMs < QUICK_MS) spanHours = Math.min(SPAN_HOURS_MAX, spanHours * 2)
  }
}

/** Null when several hours take longer than a statement may: fewer will not. */
async function countOrBreakOff(
  pool: StatementDeps['pool'],
  endpoint: EndpointKey,
  span: HourSpan,
): Promise<CountedHours | null> {
  try {
    return await countHours(pool, endpoint, span)
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
