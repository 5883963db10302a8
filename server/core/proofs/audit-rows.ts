// Which row of a segment is not as it was sealed. The list of digests that was kept beside the segment names it; that list
// has been held against the segment's signed digest before.

import type { Finding } from './audit-finding.ts'
import type { SealedRow } from './audit-seal.ts'

/** The rows that are left of a segment, after others were dropped: each as it was sealed, and in that order. */
export function findStrangerAmong(
  segment: number,
  rows: readonly SealedRow[],
  actual: readonly string[],
  sealed: readonly string[],
): Finding | null {
  let at = -1
  for (const [index, digest] of actual.entries()) {
    at = sealed.indexOf(digest, at + 1)
    if (at >= 0) continue
    const row = (rows[index] as SealedRow).id
    const detail = `Row ${row} stands among what retention has left of segment ${segment}, and is not as any of its rows was sealed.`
    return { code: 'row-changed', segment, row, detail }
  }
  return null
}

/** Names the first row that is not as it was sealed. `sealed` and `actual` differ. */
export function compareRows(
  segment: number,
  rows: readonly SealedRow[],
  actual: readonly string[],
  sealed: readonly string[],
): Finding {
  const at = sealed.findIndex((digest, index) => actual[index] !== digest)
  const index = at < 0 ? sealed.length : at
  const row = rows[index]
  const before = rows[index - 1]?.id ?? null
  const which = `row ${index + 1} of ${sealed.length} in segment ${segment}`
  const after = before === null ? 'at the beginning of it' : `after row ${before}`
  // From here on: a row that stands twice was sealed once.
  const isSealed = row !== undefined && sealed.includes(actual[index] as string, index)
  const isStillThere = at >= 0 && actual.includes(sealed[index] as string, index)
  if (row === undefined) {
    const count = sealed.length - actual.length
    const detail = `${count} rows were cut off from the end of segment ${segment}, ${after}.`
    return { code: 'rows-cut-off', segment, row: before, detail }
  }
  if (isSealed && isStillThere) {
    const detail = `Row ${row.id} stands where ${which} was: rows were put into another order.`
    return { code: 'row-moved', segment, row: row.id, detail }
  }
  if (isSealed) {
    const detail = `What was ${which}, ${after}, was removed.`
    return { code: 'row-removed', segment, row: before, detail }
  }
  if (isStillThere || at < 0) {
    const detail = `Row ${row.id} was added to segment ${segment}, ${after}: it was not there when it was sealed.`
    return { code: 'row-added', segment, row: row.id, detail }
  }
  const detail = `Row ${row.id}, ${which}, is not as it was sealed.`
  return { code: 'row-changed', segment, row: row.id, detail }
}
