// How long a key verifies. Its row says so, and whoever can write the row can write a later end; so a newer key of the
// same cell ends it as well: that one's time is authenticated. Keys copied from another cell are
// ended by that cell's keys alone.

import { cellOfId } from '../network/cell.ts'

export interface DatedKey {
  kid: string
  createdAt: Date
  /** What its row says; null: no end. */
  verifiesUntil: Date | null
}

const NEVER = Number.POSITIVE_INFINITY

/** Of a key among `keys`, all of which are trusted; null while it has no end. */
export function endOfKey(
  key: DatedKey,
  keys: readonly DatedKey[],
  overlapMsMax: number,
): Date | null {
  const cell = cellOfId(key.kid)
  const next = keys
    .filter((other) => cellOfId(other.kid) === cell && isNewer(other, key))
    .reduce((least, { createdAt }) => Math.min(least, createdAt.getTime()), NEVER)
  const end = Math.min(key.verifiesUntil?.getTime() ?? NEVER, next + overlapMsMax)
  return end === NEVER ? null : new Date(end)
}

/** Ids rise, also within a millisecond. */
function isNewer(one: DatedKey, other: DatedKey): boolean {
  const apartMs = one.createdAt.getTime() - other.createdAt.getTime()
  return apartMs > 0 || (apartMs === 0 && one.kid > other.kid)
}
