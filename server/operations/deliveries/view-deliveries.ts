// Deliveries as a client or the operator sees them: lists by cursor, newest first, and one with its
// attempts and an explanation of its state. Never a payload.

import type { DeliveryFilter } from '../../core/asking/delivery-filter.ts'
import { type CursorPage, parseCursor, toCursor } from '../../core/asking/opaque-cursors.ts'
import { fillPage, SCAN_DEFAULTS } from '../../core/asking/paged-scan.ts'
import { attemptTimeMs, probeTimeMs } from '../../core/delivery/due.ts'
import {
  type ExplainedDelivery,
  type Explanation,
  type ExplanationContext,
  explain,
} from '../../core/delivery/explanation.ts'
import type { QueuedDelivery } from '../../core/delivery/queued-delivery.ts'
import { type Hold, holdOf } from '../../core/delivery/strand.ts'
import { CANONICAL_UUID } from '../../core/plain/uuid.ts'
import {
  type AttemptItem,
  type DeliveryDetail,
  readAttempts,
  readDeliveryDetail,
} from '../../store/history/delivery-details.ts'
import {
  type DeliveryItem,
  mustLeaf,
  readDeliverySlice,
} from '../../store/history/delivery-lists.ts'
import { type DeliveryNames, readDeliveryNames } from '../../store/history/delivery-names.ts'
import { resolveDeliveryFilter } from '../../store/history/delivery-search.ts'
import { readStrands } from '../../store/owed/deliveries.ts'
import { EVERY_DELIVERY } from '../../store/sql/delivery-query.ts'
import type { CursorRequest } from '../payments/view-payments.ts'
import type { Deps } from '../shared/deps.ts'
import { notFound } from '../shared/service-errors.ts'

export type { AttemptItem }

/** A delivery as it is shown: `nextAttemptAt` is when an attempt can start, not what is written down. */
export interface TimedDelivery extends DeliveryItem {
  /** The sequence of the update of its payment that goes first; null where none does, or the endpoint is not active. */
  waitsFor: number | null
}

/** With the names that people know it by. */
export type NamedDelivery = TimedDelivery & DeliveryNames

/** Whose deliveries: a client's own, optionally of one account; the operator sees those of all clients. */
export type DeliveryReader =
  | { kind: 'client'; clientKey: number; accountId: string | null }
  | { kind: 'operator' }

/** How many of a payment's updates are read: enough to tell which one goes next (store/owed/deliveries). */
const STRAND_MAX = 2

export async function viewDeliveries(
  deps: Deps,
  reader: DeliveryReader,
  filter: DeliveryFilter,
  { limit, after }: CursorRequest,
): Promise<CursorPage<NamedDelivery>> {
  const [afterId] = after === null ? [] : parseCursor(after, CANONICAL_UUID)
  const own = reader.kind === 'client' ? reader : null
  const narrowed = own === null ? filter : { ...filter, clientId: null, accountId: own.accountId }
  const query = await resolveDeliveryFilter(deps.pool, narrowed, own?.clientKey ?? null)
  if (query === null) return { items: [], next: null }
  const nowMs = deps.clock.nowMs()
  const page = await fillPage<DeliveryItem, string>(
    afterId ?? null,
    {
      ...SCAN_DEFAULTS,
      limit,
      chunkFirst: mustLeaf(query) ? SCAN_DEFAULTS.chunkFirst : limit + 1,
      monotonicMs: () => deps.clock.monotonicMs(),
    },
    (beforeId, few, chunk) => readDeliverySlice(deps.pool, query, { beforeId, limit: few, chunk }),
    { ofItem: (item) => toCursor(item.id), ofPosition: (id) => toCursor(id) },
  )
  const holds = await readHolds(deps, page.items, nowMs)
  const items = page.items.map((item, at) => withAttemptTime(item, holds[at] ?? null, nowMs))
  return { ...page, items: await withNames(deps, items) }
}

async function withNames<T extends DeliveryItem>(
  deps: Deps,
  deliveries: readonly T[],
): Promise<readonly (T & DeliveryNames)[]> {
  const names = await readDeliveryNames(deps.pool, deliveries)
  return deliveries.map((delivery, at) => ({ ...delivery, ...(names[at] as DeliveryNames) }))
}

/** What each of them waits for, among the updates of its payment that its endpoint is owed. A replay keeps no order. */
async function readHolds(
  { pool, policies }: Deps,
  items: readonly DeliveryItem[],
  nowMs: number,
): Promise<readonly (Hold<QueuedDelivery> | null)[]> {
  const isOrdered = ({ state, isReplay }: DeliveryItem) => state === 'PENDING' && !isReplay
  const strands = Map.groupBy(items.filter(isOrdered), strandOf)
  const keys = [...strands.values()].flatMap(([first]) => first ?? [])
  const owed = keys.length === 0 ? [] : await readStrands(pool, keys, STRAND_MAX)
  const owedByStrand = Map.groupBy(owed, strandOf)
  return items.map((item) => {
    if (!isOrdered(item)) return null
    const { sequence, deliver } = item
    const ofStrand = owedByStrand.get(strandOf(item)) ?? []
    return holdOf(sequence, ofStrand, policies.patienceMs, nowMs, deliver)
  })
}

function strandOf(of: { clientKey: number; endpointId: string; paymentId: string }): string {
  return `${of.clientKey} ${of.endpointId} ${of.paymentId}`
}

/** Its next attempt as it can be made: not before what goes first, nor before an endpoint that is down is probed. */
function withAttemptTime<T extends DeliveryItem>(
  item: T,
  hold: Hold<QueuedDelivery> | null,
  nowMs: number,
): T & TimedDelivery {
  if (item.state !== 'PENDING') return { ...item, waitsFor: null }
  const { endpointStatus: status, circuit, nextProbeAt } = item
  const endpoint = { status, circuit, nextProbeAtMs: nextProbeAt?.getTime() ?? null }
  const writtenMs = item.nextAttemptAt?.getTime() ?? null
  const ownMs = hold === null ? writtenMs : Math.max(writtenMs ?? 0, hold.untilMs)
  const atMs = attemptTimeMs(ownMs, endpoint, nowMs)
  return {
    ...item,
    nextAttemptAt: atMs === null || atMs === Number.POSITIVE_INFINITY ? null : new Date(atMs),
    waitsFor: hold === null || status !== 'ACTIVE' ? null : hold.by.sequence,
  }
}

export interface ExplainedDetail {
  delivery: DeliveryDetail & NamedDelivery
  attempts: readonly AttemptItem[]
  explanation: Explanation
}

export async function viewDelivery(
  deps: Deps,
  reader: DeliveryReader,
  deliveryId: string,
): Promise<ExplainedDetail> {
  const of = reader.kind === 'client' ? reader : { clientKey: null, accountId: null }
  const delivery = await readDeliveryDetail(deps.pool, deliveryId, of)
  if (delivery === null) throw notFound()
  const attempts = await readAttempts(deps.pool, delivery)
  const context = explanationContext(deps, reader)
  const [hold = null] = await readHolds(deps, [delivery], context.nowMs)
  const isBehind = hold !== null && hold.by.sequence < delivery.sequence
  const last = attempts.at(-1)
  const explanation = explain(
    {
      state: delivery.state,
      attempts: delivery.attempts,
      runAttempts: delivery.runAttempts,
      isReplay: delivery.isReplay,
      nextAttemptAtMs: delivery.nextAttemptAt?.getTime() ?? null,
      deadlineAtMs: delivery.deadlineAt?.getTime() ?? null,
      finishedAtMs: delivery.finishedAt?.getTime() ?? null,
      lastAttempt: last ? { ...last, atMs: last.at.getTime() } : null,
      endpoint: {
        status: delivery.endpointStatus,
        isDeleted: delivery.isEndpointDeleted,
        inactiveSinceMs: delivery.endpointInactiveSince?.getTime() ?? null,
        circuit: delivery.circuit,
        nextProbeAtMs: probeTimeMs(
          delivery.circuit,
          delivery.nextProbeAt?.getTime() ?? null,
          context.nowMs,
        ),
        isListener: delivery.isListener,
        isLatestOnly: delivery.deliver === 'latest',
      },
      elder: isBehind ? hold.by : null,
      newer: isBehind ? null : (hold?.by ?? null),
      supersededBy: delivery.state === 'SUPERSEDED' ? await findSuperseding(deps, delivery) : null,
    },
    context,
  )
  const [named] = await withNames(deps, [withAttemptTime(delivery, hold, context.nowMs)])
  if (named === undefined) throw notFound()
  return { delivery: named, attempts, explanation }
}

/** The policies that deliveries follow; the sandbox may speed up their clock. */
function explanationContext(deps: Deps, reader: DeliveryReader): ExplanationContext {
  const { retry, circuit, patienceMs } = deps.policies
  return { nowMs: deps.clock.nowMs(), retry, circuit, patienceMs, reader: reader.kind }
}

/** Under `latest` the newer one ended it with its first attempt, whatever came of that. */
async function findSuperseding(
  deps: Deps,
  { clientKey, paymentId, endpointId, sequence, finishedAt, deliver }: DeliveryDetail,
): Promise<ExplainedDelivery['supersededBy']> {
  const ofStrand = { clientKey, endpointId, payments: [{ clientKey, paymentId }] }
  const states = deliver === 'latest' ? EVERY_DELIVERY.states : (['DELIVERED'] as const)
  const { items } = await readDeliverySlice(
    deps.pool,
    { ...EVERY_DELIVERY, ...ofStrand, states },
    { beforeId: null, limit: 1_000, chunk: 1_000 },
  )
  const newer = items.filter((item) => item.sequence > sequence && item.attempts > 0)
  const byThen = finishedAt?.getTime() ?? Number.POSITIVE_INFINITY
  const accepted = newer.filter(
    (item) =>
      item.state === 'DELIVERED' &&
      (deliver === 'every' || (item.finishedAt?.getTime() ?? Number.POSITIVE_INFINITY) <= byThen),
  )
  const wasAccepted = accepted.length > 0
  const found = wasAccepted ? accepted : newer
  if (found.length === 0) return null
  return { sequence: Math.min(...found.map((item) => item.sequence)), wasAccepted }
}
