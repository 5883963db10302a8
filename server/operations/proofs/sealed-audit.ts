// The sealed audit as it is read: segments in order, each with what lies in the table between its bounds now.

import type { ListedSegment, SealedRow } from '../../core/proofs/audit-seal.ts'
import { readPlacedRows, readSegments } from '../../store/proofs/audit-segments.ts'
import { readLastDrop } from '../../store/removal/audit-segment-retention.ts'
import type { Deps } from '../shared/deps.ts'

const SEGMENTS_AT_ONCE = 20
const ROWS_AT_ONCE = 10_000
/** So many more than were sealed are read; where there are more, the first of them is named anyway. */
const ADDED_ROWS_MAX = 1_000

export interface SegmentWithRows {
  segment: ListedSegment
  rows: readonly SealedRow[]
}

/** A signed drop comes before the segments that it excuses. */
export type SealedItem = { drop: string; through: number } | SegmentWithRows

/** Segments after this number, until the end or until the caller has enough. */
export async function* readSealedAudit(
  deps: Pick<Deps, 'pool'>,
  after: number,
): AsyncGenerator<SealedItem> {
  let last = after
  let shown = ''
  while (true) {
    const segments = await readSegments(deps.pool, last, SEGMENTS_AT_ONCE)
    if (segments.length === 0) return
    for (const portion of toPortions(segments)) {
      const read = await readPortion(deps, portion)
      // After the rows: a drop is committed before they go, so what was not found is covered by one that is.
      const drop = await readLastDrop(deps.pool)
      if (drop !== null && drop.jws !== shown && drop.through >= (portion[0]?.segment ?? 0)) {
        shown = drop.jws
        yield { drop: drop.jws, through: drop.through }
      }
      yield* read
    }
    last = segments.at(-1)?.segment as number
  }
}

/** With all rows that lie there, whether or not their list is. */
async function readPortion(
  deps: Pick<Deps, 'pool'>,
  segments: readonly ListedSegment[],
): Promise<readonly SegmentWithRows[]> {
  const count = segments.reduce((sum, segment) => sum + segment.count, 0)
  const { from } = segments[0] as ListedSegment
  const { to } = segments.at(-1) as ListedSegment
  const rows = await readPlacedRows(deps.pool, from, to, count + ADDED_ROWS_MAX)
  let at = 0
  return segments.map((segment) => {
    const begin = at
    const end = BigInt(segment.to)
    while (at < rows.length && BigInt(rows[at]?.position as string) < end) at++
    return { segment, rows: rows.slice(begin, at) }
  })
}

function toPortions(segments: readonly ListedSegment[]): ListedSegment[][] {
  const portions: ListedSegment[][] = []
  let count = Number.POSITIVE_INFINITY
  for (const segment of segments) {
    count += segment.count
    if (count > ROWS_AT_ONCE) {
      portions.push([])
      count = segment.count
    }
    portions.at(-1)?.push(segment)
  }
  return portions
}
