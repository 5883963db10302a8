// Makes everything due now that an endpoint is owed: after its receiver has been mended. What is owed goes out in
// order, and to an endpoint that was down with the ramp of one that recovers: one probe first.

import { inTransaction } from '../../store/connection/db.ts'
import { findAnyEndpoint } from '../../store/endpoints/endpoint-lists.ts'
import { type EndpointScope, findEndpoint } from '../../store/endpoints/endpoints.ts'
import type { LaneKey } from '../../store/owed/parked.ts'
import {
  isFailing,
  markRetried,
  type RetriedLane,
  retryDeliveriesOf,
} from '../../store/owed/retries.ts'
import { type Audit, NO_AUDIT } from '../shared/audit-trail.ts'
import type { Deps } from '../shared/deps.ts'
import { notFound } from '../shared/service-errors.ts'
import { endpointNotActive, type RetryLimits } from './retry-limits.ts'

/** Rows whose outcome is being written are passed over, and looked for again: not for ever. */
const PASSES_MAX = 3
const PASS_AGAIN_AFTER_MS = 50

interface RetriedDeliveries {
  clientKey: number
  endpointId: string
  /** Narrows what is owed, where it is given. */
  accountId: string | null
}

interface MadeDue {
  lane: LaneKey
  done: RetriedLane
  atMs: number
}

/** Returns how many deliveries the endpoint is owed. */
export async function retryEndpoint(
  deps: Deps,
  scope: EndpointScope,
  endpointId: string,
  limits: RetryLimits,
): Promise<number> {
  const endpoint = await findEndpoint(deps.pool, scope, endpointId)
  if (endpoint === null) throw notFound()
  limits.admit(endpoint.id)
  const { clientKey, accountId } = scope
  const owed = await makeDue(deps, { clientKey, endpointId: endpoint.id, accountId }, NO_AUDIT)
  if (owed === null) throw endpointNotActive()
  return owed
}

export async function retryAnyEndpoint(
  deps: Deps,
  endpointId: string,
  audit: Audit,
): Promise<number> {
  const found = await findAnyEndpoint(deps.pool, endpointId)
  if (found === null || found.deletedAt !== null) throw notFound()
  const { clientKey, id } = found
  const owed = await makeDue(deps, { clientKey, endpointId: id, accountId: null }, audit)
  if (owed === null) throw endpointNotActive()
  return owed
}

/** A test was answered 200: if the endpoint has failed until now, what it is owed need not wait any longer. */
export async function retryMended(
  deps: Deps,
  clientKey: number,
  endpointId: string,
): Promise<void> {
  if (!(await isFailing(deps.pool, clientKey, endpointId))) return
  await makeDue(deps, { clientKey, endpointId, accountId: null }, NO_AUDIT)
}

/** Null when the endpoint is not active. */
async function makeDue(
  deps: Deps,
  retried: RetriedDeliveries,
  audit: Audit,
): Promise<number | null> {
  const first = await makeDueOnce(deps, retried, audit)
  let last = first
  for (let passes = 1; last !== null && last.passedOver > 0 && passes < PASSES_MAX; passes++) {
    await new Promise((resolve) => setTimeout(resolve, PASS_AGAIN_AFTER_MS))
    last = await makeDueOnce(deps, retried, NO_AUDIT)
  }
  return first?.owed ?? null
}

async function makeDueOnce(
  deps: Deps,
  { clientKey, endpointId, accountId }: RetriedDeliveries,
  audit: Audit,
): Promise<RetriedLane | null> {
  const transact = (now: Date) =>
    inTransaction(deps.pool, async (db): Promise<MadeDue | null> => {
      const [lane] = await markRetried(db, [{ clientKey, endpointId }], now)
      if (lane === undefined) return null
      await audit(db, `endpoint:${endpointId}`)
      const done = await retryDeliveriesOf(db, clientKey, endpointId, accountId, now)
      return { lane, done, atMs: now.getTime() }
    })
  // It locks the endpoint's row, as any change does, and waits for it in the same line.
  const made = await deps.endpointChanges.run(clientKey, () =>
    transact(new Date(deps.clock.nowMs())),
  )
  if (made === null) return null
  deps.engine.endpointRetried(clientKey, endpointId, made.lane.shard, made.atMs)
  return made.done
}
