// The sealed audit as it is read: segments in order, each with what lies in the table between its bounds now.

import type { ListedSegment, SealedRow } from '../../core/audit-seal.ts'
import { readPlacedRows, readSegments } from '../../store/audit-segments.ts'
import type { Deps } from './deps.ts'

const SEGMENTS_AT_ONCE = 20
const ROWS_AT_ONCE = 10_000
/** So many more than were sealed are read; where there are more, the first of them is named anyway. */
const ADDED_ROWS_MAX = 1_000

export interface SegmentWithRows {
  segment: ListedSegment
  rows: readonly SealedRow[]
}

/** Segments after this number, until the end or until the caller has enough. */
export async function* readSealedAudit(
  deps: Pick<Deps, 'pool'>,
  after: number,
): AsyncGenerator<SegmentWithRows> {
  let last = after
  while (true) {
    const segments = await readSegments(deps.pool, last, SEGMENTS_AT_ONCE)
    if (segments.length === 0) return
    for (const portion of toPortions(segments)) yield* readPortion(deps, portion)
    last = segments.at(-1)?.segment as number
  }
}

async function* readPortion(
  deps: Pick<Deps, 'pool'>,
  segments: readonly ListedSegment[],
): AsyncGenerator<SegmentWithRows> {
  const kept = segments.filter(({ rows }) => rows !== undefined)
  const count = kept.reduce((sum, segment) => sum + segment.count, 0)
  const [first, last] = [kept[0], kept.at(-1)]
  const rows =
    first && last
      ? await readPlacedRows(deps.pool, first.from, last.to, count + ADDED_ROWS_MAX)
      : []
  let at = 0
  for (const segment of segments) {
    const begin = at
    const to = BigInt(segment.to)
    if (segment.rows !== undefined) {
      while (at < rows.length && BigInt(rows[at]?.position as string) < to) at++
    }
    yield { segment, rows: rows.slice(begin, at) }
  }
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
