// A listener asks for its next callback, and reports the outcome of each. Asking makes it listen: a
// paused listener is active from then on.

import { type EndpointScope, findEndpoint } from '../../store/endpoints/endpoints.ts'
import type { Offer, OfferAnswer } from '../../store/endpoints/listener-offers.ts'
import { type ListenerKey, touchListener } from '../../store/endpoints/listeners.ts'
import { findKeptBody } from '../deliveries/view-events.ts'
import type { Deps } from '../shared/deps.ts'
import { notFound } from '../shared/service-errors.ts'
import { changeEndpoint } from './change-endpoint.ts'
import type { ListenerRelay } from './listener-relay.ts'

export interface ListenerDeps extends Deps {
  relay: ListenerRelay
}

export type { OfferAnswer }

export interface OfferedCallback {
  offer: Offer
  /** The exact bytes, in this order. */
  body: readonly Uint8Array[]
  /** What is left of the attempt's time. */
  timeoutMs: number
}

/** How often a listener's last request is written down while it asks. */
const NOTED_EVERY_MS = 5_000

/** Null when none came in time, or the caller is gone. */
export async function takeNextCallback(
  deps: ListenerDeps,
  scope: EndpointScope,
  listenerId: string,
  wait: { waitMs: number; signal: AbortSignal },
): Promise<OfferedCallback | null> {
  const key = { clientKey: scope.clientKey, listenerId }
  // Note the request first: from then on upkeep does not pause the listener as silent, so that the status
  // read below stays true.
  await note(deps, key)
  const listener = await findEndpoint(deps.pool, scope, listenerId)
  if (listener === null) throw notFound()
  if (listener.status !== 'ACTIVE') {
    await changeEndpoint(deps, scope, listenerId, { status: 'ACTIVE', settings: {} })
  }
  const offer = await deps.relay.take(key, wait.waitMs, {
    signal: wait.signal,
    onWait: () => note(deps, key),
    everyMs: NOTED_EVERY_MS,
  })
  if (offer === null) return null
  const body = await bodyOf(deps, offer)
  if (body === null || wait.signal.aborted) {
    await deps.relay.giveBack(offer)
    return null
  }
  const timeoutMs = Math.max(0, offer.deadlineAt.getTime() - deps.clock.nowMs())
  return { offer, body, timeoutMs: Math.round(timeoutMs) }
}

/** False when the attempt no longer waits for an answer. */
export async function answerCallback(
  deps: ListenerDeps,
  scope: EndpointScope,
  listenerId: string,
  given: { offerId: string; answer: OfferAnswer },
): Promise<boolean> {
  const listener = await findEndpoint(deps.pool, scope, listenerId)
  if (listener === null) throw notFound()
  const key = { clientKey: scope.clientKey, listenerId, id: given.offerId }
  return deps.relay.answer(key, given.answer)
}

function note(deps: Deps, key: ListenerKey): Promise<void> {
  const nowMs = deps.clock.nowMs()
  return touchListener(deps.pool, key, {
    now: new Date(nowMs),
    noted: new Date(nowMs - NOTED_EVERY_MS),
  })
}

/** Null when the event is no longer kept; the attempt then ends at its deadline. */
async function bodyOf(deps: Deps, offer: Offer): Promise<readonly Uint8Array[] | null> {
  if (offer.body !== null) return [offer.body]
  const scope = { clientKey: offer.clientKey, accountId: null }
  return findKeptBody(deps, scope, offer.eventId)
}
