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
import { sendableUpdate } from '../../core/delivery/strand.ts'
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

/** With the names that people know it by. */
export type NamedDelivery = DeliveryItem & DeliveryNames

/** Whose deliveries: a client's own, optionally of one account; the operator sees those of all clients. */
export type DeliveryReader =
  | { kind: 'client'; clientKey: number; accountId: string | null }
  | { kind: 'operator' }

/** How many of a payment's updates are read: enough to tell which one goes next. */
const STRAND_MAX = 100

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
  const items = page.items.map((item) => withAttemptTime(item, nowMs))
  return { ...page, items: await withNames(deps, items) }
}

async function withNames<T extends DeliveryItem>(
  deps: Deps,
  deliveries: readonly T[],
): Promise<readonly (T & DeliveryNames)[]> {
  const names = await readDeliveryNames(deps.pool, deliveries)
  return deliveries.map((delivery, at) => ({ ...delivery, ...(names[at] as DeliveryNames) }))
}

/** Its next attempt as it can be made: not before an endpoint that is down is probed. */
function withAttemptTime<T extends DeliveryItem>(item: T, nowMs: number): T {
  if (item.state !== 'PENDING') return item
  const { endpointStatus: status, circuit, nextProbeAt } = item
  const endpoint = { status, circuit, nextProbeAtMs: nextProbeAt?.getTime() ?? null }
  const atMs = attemptTimeMs(item.nextAttemptAt?.getTime() ?? null, endpoint, nowMs)
  return { ...item, nextAttemptAt: atMs === null ? null : new Date(atMs) }
}

export interface ExplainedDetail {
  delivery: DeliveryDetail & DeliveryNames
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
  const isOwed = delivery.state === 'PENDING' && !delivery.isReplay
  const owed = isOwed ? await readStrands(deps.pool, [delivery], STRAND_MAX) : []
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
      ...holderOf(delivery, owed, context),
      supersededBy: delivery.state === 'SUPERSEDED' ? await findSuperseding(deps, delivery) : null,
    },
    context,
  )
  const [named] = await withNames(deps, [withAttemptTime(delivery, context.nowMs)])
  if (named === undefined) throw notFound()
  return { delivery: named, attempts, explanation }
}

/** The policies that deliveries follow; the sandbox may speed up their clock. */
function explanationContext(deps: Deps, reader: DeliveryReader): ExplanationContext {
  const { retry, circuit, patienceMs } = deps.policies
  return { nowMs: deps.clock.nowMs(), retry, circuit, patienceMs, reader: reader.kind }
}

/** The update of the payment that goes next (core/delivery/strand), if it is another one. */
function holderOf(
  { sequence, deliver }: DeliveryDetail,
  owed: readonly QueuedDelivery[],
  { nowMs, patienceMs }: ExplanationContext,
): { elder: QueuedDelivery | null; newer: QueuedDelivery | null } {
  const front = owed.length === 0 ? null : sendableUpdate(owed, patienceMs, nowMs, deliver)
  return {
    elder: front !== null && front.sequence < sequence ? front : null,
    newer: front !== null && front.sequence > sequence ? front : null,
  }
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
