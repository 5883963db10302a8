// The cursor of the event feed: the place of the last event seen, and the time up to which the reader
// has seen everything. It survives restarts, restores and months. Its checksum tells a damaged one, or
// another client's, from ours; there is nothing to gain by forging it, since a client reads only its own.

import { createHash } from 'node:crypto'
import { parseCursor, refuseCursor, toCursor } from './cursor.ts'
import { CANONICAL_UUID, NIL_UUID } from './uuid.ts'

/** Where an event stands; places are decimal text, because they outgrow a double one day. */
export interface FeedPlace {
  place: string
  sequence: number
  id: string
}

export interface FeedCursor extends FeedPlace {
  /** What was written before this has been seen. */
  seenUntilMs: number
}

/** Before the first event there can be. */
export const FEED_START: FeedPlace = { place: '0', sequence: 0, id: NIL_UUID }

const PLACE = /^\d{1,18}$/
const SEQUENCE = /^\d{1,9}$/
const MILLISECONDS = /^\d{1,15}$/
const CHECKSUM = /^[\w-]{8}$/

export function toFeedCursor(clientId: string, cursor: FeedCursor): string {
  const { place, sequence, id, seenUntilMs } = cursor
  return toCursor(place, sequence, id, seenUntilMs, checksum(clientId, cursor))
}

/** Throws `invalid-query` for what we did not make for this client. */
export function parseFeedCursor(clientId: string, text: string): FeedCursor {
  const parts = parseCursor(text, PLACE, SEQUENCE, CANONICAL_UUID, MILLISECONDS, CHECKSUM)
  const [place, sequence, id, seenUntilMs, sum] = parts as [string, string, string, string, string]
  const cursor = { place, sequence: Number(sequence), id, seenUntilMs: Number(seenUntilMs) }
  if (sum !== checksum(clientId, cursor)) throw refuseCursor()
  return cursor
}

function checksum(clientId: string, { place, sequence, id, seenUntilMs }: FeedCursor): string {
  const text = [clientId, place, sequence, id, seenUntilMs].join('\n')
  return createHash('sha256').update(text).digest('base64url').slice(0, 8)
}
