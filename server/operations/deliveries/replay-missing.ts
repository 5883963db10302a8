// Makes deliveries of what an endpoint was never owed, for one that is new or that gets more kinds than before: events of
// its payments since a given time, oldest first. Asked for twice, it makes nothing twice. Nothing is looked at that
// is older than what is kept of ended deliveries: there, what was delivered looks like what was never owed.

import { ALL_EVENTS, type EventChoice } from '../../core/delivery/endpoint-settings.ts'
import { deliveryId } from '../../core/delivery/fan-out.ts'
import { NIL_UUID, uuidTimeMs } from '../../core/plain/uuid.ts'
import { type EndpointScope, findEndpoint } from '../../store/endpoints/endpoints.ts'
import { readDeliveriesOfEvents } from '../../store/history/delivery-details.ts'
import { noteRows } from '../../store/history/delivery-selections.ts'
import { type EventSelection, readEventIds } from '../../store/owed/missing-events.ts'
import { readEndedSinceMs } from '../../store/proofs/feed-marks.ts'
import { readStretchesSince, type Stretch } from '../../store/sql/stretches.ts'
import { NO_AUDIT } from '../shared/audit-trail.ts'
import { notFound } from '../shared/service-errors.ts'
import { LOOK_MS_MAX, SELECTION, tooWide, toTooWide } from './select-deliveries.ts'
import { beginJob, type JobDeps } from './start-job.ts'

export interface Missing {
  /** By the time of the event: `sinceMs` is included, `untilMs` is not. */
  sinceMs: number
  untilMs: number | null
  /** Null: all. */
  events: readonly EventChoice[] | null
}

const EVENTS_AT_ONCE = 1_000

/** How many deliveries would be made. */
export async function previewMissing(
  deps: JobDeps,
  scope: EndpointScope,
  endpointId: string,
  missing: Missing,
): Promise<number> {
  const search = await toSearch(deps, scope, endpointId, missing)
  return deps.jobs.oneAtATime(
    search.clientKey,
    async () => (await findMissing(deps, search)).length,
  )
}

export async function replayMissing(
  deps: JobDeps,
  scope: EndpointScope,
  endpointId: string,
  missing: Missing,
): Promise<number> {
  const search = await toSearch(deps, scope, endpointId, missing)
  const job = { kind: 'replay-missing', asker: search.clientKey } as const
  const { count } = await beginJob(deps, job, NO_AUDIT, async () => {
    const eventIds = await findMissing(deps, search)
    const rows = eventIds.map((eventId, position) => ({
      client_key: search.clientKey,
      id: deliveryId(eventId, search.endpointId),
      endpoint_id: search.endpointId,
      finished_at: null,
      position,
    }))
    return (db, jobId) => noteRows(db, jobId, rows)
  })
  return count
}

interface Search extends EventSelection {
  endpointId: string
  sinceMs: number
  untilMs: number
}

async function toSearch(
  deps: JobDeps,
  scope: EndpointScope,
  endpointId: string,
  { sinceMs, untilMs, events }: Missing,
): Promise<Search> {
  const endpoint = await findEndpoint(deps.pool, scope, endpointId)
  if (endpoint === null) throw notFound()
  return {
    clientKey: scope.clientKey,
    accountId: endpoint.accountId ?? scope.accountId,
    kinds: events === null || events.includes(ALL_EVENTS) ? null : events,
    endpointId: endpoint.id,
    sinceMs,
    untilMs: untilMs ?? Number.POSITIVE_INFINITY,
  }
}

/** Oldest first. An event and what it is owed to commit together: where one is seen, so are its deliveries. */
async function findMissing(deps: JobDeps, search: Search): Promise<readonly string[]> {
  const endsAtMs = deps.clock.monotonicMs() + LOOK_MS_MAX
  const missing: string[] = []
  const sinceMs = Math.max(search.sinceMs, await readEndedSinceMs(deps.pool))
  for (const stretch of await readStretchesSince(deps.pool, 'events', sinceMs)) {
    const within = { ...stretch, toMs: Math.min(stretch.toMs, search.untilMs) }
    if (within.toMs <= within.fromMs) continue
    for await (const eventIds of pagesOf(deps, search, within)) {
      missing.push(...(await notOwed(deps, search, eventIds)))
      const isLate = deps.clock.monotonicMs() > endsAtMs
      if (missing.length > SELECTION.deliveriesMax || isLate) throw tooWide()
    }
  }
  // Asked again: a day of ended deliveries may have been dropped before it was looked at.
  const keptSinceMs = await readEndedSinceMs(deps.pool)
  return missing.filter((id) => uuidTimeMs(id) >= keptSinceMs)
}

async function* pagesOf(
  deps: JobDeps,
  search: Search,
  within: Stretch,
): AsyncGenerator<readonly string[]> {
  let afterId = NIL_UUID
  for (;;) {
    const page = await readEventIds(deps.pool, search, within, afterId, EVENTS_AT_ONCE).catch(
      toTooWide,
    )
    if (page.length > 0) yield page
    if (page.length < EVENTS_AT_ONCE) return
    afterId = page.at(-1) as string
  }
}

async function notOwed(
  deps: JobDeps,
  { clientKey, endpointId }: Search,
  eventIds: readonly string[],
): Promise<readonly string[]> {
  const owed = await readDeliveriesOfEvents(deps.pool, clientKey, eventIds)
  return eventIds.filter(
    (id) => !owed.get(id)?.some((delivery) => delivery.endpointId === endpointId),
  )
}
