// The cursor of the event feed: the position of the last event seen, and the time up to which the reader
// has seen everything. It survives restarts, restores and months. Its checksum tells a damaged one, or
// another client's, from ours; there is nothing to gain by forging it, since a client reads only its own.

import { createHash } from 'node:crypto'
import { CANONICAL_UUID, NIL_UUID } from '../plain/uuid.ts'
import { parseCursor, refuseCursor, toCursor } from './opaque-cursors.ts'

/** Where in the feed an event is; `position` is decimal text, because it outgrows a double one day. */
export interface FeedPosition {
  position: string
  sequence: number
  id: string
}

export interface FeedCursor extends FeedPosition {
  /** What was written before this has been seen. */
  seenUntilMs: number
}

/** Before the first event there can be. */
export const FEED_START: FeedPosition = { position: '0', sequence: 0, id: NIL_UUID }

const POSITION = /^\d{1,18}$/
const SEQUENCE = /^\d{1,9}$/
const MILLISECONDS = /^\d{1,15}$/
const CHECKSUM = /^[\w-]{8}$/

export function toFeedCursor(clientId: string, cursor: FeedCursor): string {
  const { position, sequence, id, seenUntilMs } = cursor
  return toCursor(position, sequence, id, seenUntilMs, checksum(clientId, cursor))
}

/** Throws `invalid-query` for what we did not make for this client. */
export function parseFeedCursor(clientId: string, text: string): FeedCursor {
  const all = parseCursor(text, POSITION, SEQUENCE, CANONICAL_UUID, MILLISECONDS, CHECKSUM)
  const [position, sequence, id, seenUntilMs, sum] = all as [string, string, string, string, string]
  const cursor = { position, sequence: Number(sequence), id, seenUntilMs: Number(seenUntilMs) }
  if (sum !== checksum(clientId, cursor)) throw refuseCursor()
  return cursor
}

function checksum(clientId: string, { position, sequence, id, seenUntilMs }: FeedCursor): string {
  const text = [clientId, position, sequence, id, seenUntilMs].join('\n')
  return createHash('sha256').update(text).digest('base64url').slice(0, 8)
}
