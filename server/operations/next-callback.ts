// What a listener asks for, again and again: its next callback, and to note what came of it. Asking is
// what makes it listen: a listener that was paused is active from then on.

import { type EndpointScope, findEndpoint } from '../store/endpoints.ts'
import type { Offer, OfferAnswer } from '../store/listener-offers.ts'
import { type ListenerKey, touchListener } from '../store/listeners.ts'
import { changeEndpoint } from './change-endpoint.ts'
import type { Deps } from './parts/deps.ts'
import { notFound } from './parts/failures.ts'
import type { ListenerRelay } from './parts/listener-relay.ts'
import { findKeptBody } from './view-events.ts'

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

/** How often it is noted that somebody asks. */
const NOTED_EVERY_MS = 5_000

/** Null when none came in time, or the caller is gone. */
export async function takeNextCallback(
  deps: ListenerDeps,
  scope: EndpointScope,
  listenerId: string,
  asked: { waitMs: number; signal: AbortSignal },
): Promise<OfferedCallback | null> {
  const key = { clientKey: scope.clientKey, listenerId }
  // First of all: from then on nobody takes it for silent, and its status is what it will stay.
  await note(deps, key)
  const listener = await findEndpoint(deps.pool, scope, listenerId)
  if (listener === null) throw notFound()
  if (listener.status !== 'ACTIVE') await changeEndpoint(deps, scope, listenerId, 'ACTIVE')
  const offer = await deps.relay.take(key, asked.waitMs, {
    signal: asked.signal,
    onWait: () => note(deps, key),
    everyMs: NOTED_EVERY_MS,
  })
  if (offer === null) return null
  const body = await bodyOf(deps, offer)
  if (body === null || asked.signal.aborted) {
    await deps.relay.giveBack(offer)
    return null
  }
  const timeoutMs = Math.max(0, offer.deadlineAt.getTime() - deps.clock.nowMs())
  return { offer, body, timeoutMs: Math.round(timeoutMs) }
}

/** False when nobody waits for it any more. */
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

/** Null when the event is no longer kept; its attempt then ends by itself. */
async function bodyOf(deps: Deps, offer: Offer): Promise<readonly Uint8Array[] | null> {
  if (offer.body !== null) return [offer.body]
  const scope = { clientKey: offer.clientKey, accountId: null }
  return findKeptBody(deps, scope, offer.eventId)
}
