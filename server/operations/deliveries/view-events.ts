// The event feed as its client reads it: the events that callbacks tell of, pulled. Oldest first, in one
// order for every reader, each exactly once.

import {
  FEED_START,
  type FeedCursor,
  type FeedPosition,
  parseFeedCursor,
  toFeedCursor,
} from '../../core/asking/feed-cursor.ts'
import { callbackBodyParts } from '../../core/delivery/callback.ts'
import { isErased } from '../../core/payments/erasure.ts'
import { ServiceError } from '../../core/plain/errors.ts'
import { uuidTimeMs } from '../../core/plain/uuid.ts'
import { type FeedEvent, findEvent, readFeed } from '../../store/history/feed.ts'
import { readDocument } from '../../store/payments/documents.ts'
import type { Caller } from '../access/verify-token.ts'
import type { CursorRequest } from '../payments/view-payments.ts'
import type { Deps } from '../shared/deps.ts'
import { notFound } from '../shared/service-errors.ts'

/** `next` is a cursor also at the end, for the next request. */
export interface FeedPage {
  items: readonly FeedEvent[]
  next: string
}

/** How long a request looks for events of one account, which may be few among the client's. */
const SEARCH_MS = 1_000
const SEARCH_ROWS = 2_000

export async function viewEvents(
  deps: Deps,
  caller: Caller,
  accountId: string | null,
  { limit, after }: CursorRequest,
): Promise<FeedPage> {
  let cursor: FeedCursor | null = after === null ? null : parseFeedCursor(caller.clientId, after)
  const items: FeedEvent[] = []
  const startedAtMs = deps.clock.monotonicMs()
  for (;;) {
    // Taken before the read: what is written during it counts as unseen.
    const lookedAtMs = deps.clock.nowMs()
    const wanted = accountId === null ? limit : SEARCH_ROWS
    const read = await readFeed(
      deps.pool,
      caller.clientKey,
      cursor ?? FEED_START,
      wanted,
      // After a clock was set back, new events may be earlier than what was seen before.
      Math.min(cursor?.seenUntilMs ?? 0, lookedAtMs),
    )
    if (cursor !== null) refuseGap(cursor, read.keptSince)
    for (const event of read.events) {
      if (accountId !== null && event.accountId !== accountId) continue
      items.push(event)
      // The rest is read again by the next request.
      if (items.length === limit) return toPage(caller, items, seen(event, cursor))
    }
    const last = read.events.at(-1)
    const isAtEnd = read.events.length < wanted
    // At the end everything until now has been seen, so a reader that keeps asking never meets an expired
    // cursor, however rarely its payments change. What an open transaction still holds back has not been
    // seen.
    const position = last ?? cursor ?? FEED_START
    const seenUntilMs = Math.floor(Math.min(lookedAtMs, read.heldSinceMs ?? lookedAtMs))
    cursor = isAtEnd ? { ...positionOf(position), seenUntilMs } : seen(position, cursor)
    if (isAtEnd || deps.clock.monotonicMs() - startedAtMs > SEARCH_MS) {
      return toPage(caller, items, cursor)
    }
  }
}

function toPage(caller: Caller, items: readonly FeedEvent[], cursor: FeedCursor): FeedPage {
  return { items, next: toFeedCursor(caller.clientId, cursor) }
}

function positionOf({ position, sequence, id }: FeedPosition): FeedPosition {
  return { position, sequence, id }
}

/** A cursor at this event, whose id says when it was written; one that came late is older than what was seen before. */
function seen(event: FeedPosition, before: FeedCursor | null): FeedCursor {
  const seenUntilMs = Math.max(uuidTimeMs(event.id), before?.seenUntilMs ?? 0)
  return { ...positionOf(event), seenUntilMs }
}

/** Continuing with the oldest event left would hide that some are missing. */
function refuseGap(cursor: FeedCursor, keptSince: Date | null): void {
  if (keptSince === null || cursor.seenUntilMs >= keptSince.getTime()) return
  throw new ServiceError(
    'cursor-expired',
    `This cursor stands at ${new Date(cursor.seenUntilMs).toISOString()}, and events from before ${keptSince.toISOString()} are no longer kept: some that you have not seen may be gone.`,
  )
}

export interface EventBody {
  kind: string
  sequence: number
  /** The bytes that callbacks carry, the file included. */
  body: readonly Uint8Array[]
}

export async function viewEventBody(
  deps: Deps,
  scope: { clientKey: number; accountId: string | null },
  eventId: string,
): Promise<EventBody> {
  const found = await findEventBody(deps, scope, eventId)
  if (found === null) throw notFound()
  return found
}

/** Null when it is not stored, or no longer whole. */
export async function findKeptBody(
  deps: Pick<Deps, 'pool'>,
  scope: { clientKey: number; accountId: string | null },
  eventId: string,
): Promise<readonly Uint8Array[] | null> {
  try {
    return (await findEventBody(deps, scope, eventId))?.body ?? null
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'payload-expired') return null
    throw error
  }
}

/** The text of an event without its file; null when it is not stored, or no longer whole. */
export async function findKeptText(
  { pool }: Pick<Deps, 'pool'>,
  scope: { clientKey: number; accountId: string | null },
  eventId: string,
): Promise<string | null> {
  const event = await findEvent(pool, scope, eventId)
  return event === null || isErased(event.text) ? null : event.text
}

/** Null when there is no such event, or it is no longer kept. */
async function findEventBody(
  deps: Pick<Deps, 'pool'>,
  scope: { clientKey: number; accountId: string | null },
  eventId: string,
): Promise<EventBody | null> {
  const event = await findEvent(deps.pool, scope, eventId)
  if (event === null) return null
  const { kind, sequence, text, documentHash } = event
  if (isErased(text)) throw new ServiceError('payload-expired', 'The payment was erased.')
  if (documentHash === null) return { kind, sequence, body: callbackBodyParts(text, null) }
  const file = await readDocument(deps.pool, scope.clientKey, documentHash)
  if (file === null) {
    throw new ServiceError('payload-expired', 'The file of this event is no longer kept.')
  }
  return { kind, sequence, body: callbackBodyParts(text, file) }
}
