// Recomputes a sealed audit, row by row and segment by segment as they come, and names the first thing that is not
// as it was sealed. Pure: rows come from a file, a service or the database.

import {
  DROP_ACTION,
  digestRow,
  digestSegment,
  type ListedSegment,
  NO_DIGEST,
  readDropObject,
  type SealedRow,
  splitDigests,
  toClaims,
} from './audit-seal.ts'
import { toCanonicalJson } from './canonical-json.ts'
import { readSeal, type SealKeys } from './seal-signature.ts'

export type FindingCode =
  | 'row-changed'
  | 'row-added'
  | 'row-removed'
  | 'row-moved'
  | 'rows-cut-off'
  | 'segment-changed'
  | 'segment-removed'
  | 'signature-invalid'
  | 'key-unknown'
  | 'head-missing'

/** The first thing that is wrong. */
export interface Finding {
  code: FindingCode
  segment: number
  /** The row, or the last one before the gap; null where no row can be named. */
  row: string | null
  detail: string
}

export interface CheckedAudit {
  rows: number
  segments: number
  first: number | null
  last: number | null
  /** The digest of the last segment. */
  head: string | null
  /** Segments whose rows were dropped, the last of them; 0: none. */
  droppedThrough: number
  /** Up to which segment a sealed row says that they were dropped. */
  declaredThrough: number
}

/** A head that was seen before: it must be in the chain. */
export type KnownHead = Pick<ListedSegment, 'segment' | 'digest'>

export class AuditChecker {
  readonly #keys: SealKeys
  #pending: SealedRow[] = []
  #last: ListedSegment | null = null
  readonly #known: Map<number, string>
  readonly #checked: CheckedAudit = {
    rows: 0,
    segments: 0,
    first: null,
    last: null,
    head: null,
    droppedThrough: 0,
    declaredThrough: 0,
  }

  constructor(keys: SealKeys, known: readonly KnownHead[] = []) {
    this.#keys = keys
    this.#known = new Map(known.map(({ segment, digest }) => [segment, digest]))
  }

  get checked(): CheckedAudit {
    return this.#checked
  }

  /** The next row; those of a segment come before it. */
  row(row: SealedRow): void {
    this.#pending.push(row)
  }

  segment(segment: ListedSegment): Finding | null {
    const rows = this.#pending
    this.#pending = []
    const finding =
      this.#checkChain(segment) ?? this.#checkSignature(segment) ?? this.#checkRows(segment, rows)
    this.#last = segment
    const checked = this.#checked
    checked.first ??= segment.segment
    checked.last = segment.segment
    checked.head = segment.digest
    checked.segments++
    return finding
  }

  /** Nothing more comes. */
  end(): Finding | null {
    const lastSegment = this.#last?.segment ?? 0
    for (const segment of [...this.#known.keys()].toSorted((one, other) => one - other)) {
      if (segment <= lastSegment) continue
      return {
        code: 'head-missing',
        segment,
        row: null,
        detail: `The chain ends at segment ${lastSegment}, but segment ${segment} was seen before: the end was cut off.`,
      }
    }
    return null
  }

  /** Only where the chain was read from its beginning: retention keeps the heads of what it drops. */
  checkBeginning(): Finding | null {
    const { first } = this.#checked
    if (first === null || first === 1) return null
    const detail = `The chain begins with segment ${first}: those before it are missing.`
    return { code: 'segment-removed', segment: 1, row: null, detail }
  }

  /** Only where the chain was read to its head: a later row may say that the rows were dropped. */
  checkDropped(): Finding | null {
    return findUndeclared(this.#checked)
  }

  #checkChain(segment: ListedSegment): Finding | null {
    const last = this.#last
    const number = segment.segment
    const find = (code: FindingCode, detail: string): Finding => ({
      code,
      segment: number,
      row: null,
      detail,
    })
    if (last !== null && number !== last.segment + 1) {
      const detail = `Segment ${number} follows segment ${last.segment}: what was between them is missing.`
      return { code: 'segment-removed', segment: last.segment + 1, row: null, detail }
    }
    const previous = last?.digest ?? (number === 1 ? NO_DIGEST : segment.previous)
    if (segment.previous !== previous || (last !== null && segment.from !== last.to)) {
      return find('segment-changed', `Segment ${number} does not continue the one before it.`)
    }
    const known = this.#known.get(number)
    if (known !== undefined && known !== segment.digest) {
      return find('segment-changed', `Segment ${number} is another than the one seen before.`)
    }
    return null
  }

  #checkSignature(segment: ListedSegment): Finding | null {
    const { segment: number } = segment
    const seal = readSeal(segment.jws, this.#keys)
    const found = { segment: number, row: null }
    if (seal.kind === 'unknown-key') {
      const detail = `Segment ${number} is signed by the key ${seal.keyId}, which is not among the keys given.`
      return { ...found, code: 'key-unknown', detail }
    }
    if (seal.kind === 'invalid') {
      const detail = `The signature of segment ${number} is not valid.`
      return { ...found, code: 'signature-invalid', detail }
    }
    if (toCanonicalJson(seal.claims) !== toCanonicalJson(toClaims(segment))) {
      const detail = `Segment ${number} differs from what was signed.`
      return { ...found, code: 'segment-changed', detail }
    }
    return null
  }

  #checkRows(segment: ListedSegment, rows: readonly SealedRow[]): Finding | null {
    const { segment: number } = segment
    const checked = this.#checked
    for (const { action, object } of rows) {
      if (action !== DROP_ACTION) continue
      checked.declaredThrough = Math.max(checked.declaredThrough, readDropObject(object))
    }
    checked.rows += rows.length
    if (segment.rows === undefined) {
      // Rows that retention has left of a segment it has dropped prove nothing, and are not looked at.
      if (checked.droppedThrough === number - 1 || checked.first === null) {
        checked.droppedThrough = number
        return null
      }
      const detail = `The rows of segment ${number} are gone, although those before it are there.`
      return { code: 'rows-cut-off', segment: number, row: null, detail }
    }
    const listed = Buffer.from(segment.rows, 'base64url')
    const digests = rows.map(digestRow)
    if (digestSegment(Buffer.concat(digests), segment) === segment.digest) return null
    if (digestSegment(listed, segment) !== segment.digest) {
      const detail = `The list of rows of segment ${number} was altered, so the row cannot be named; the segment's first row is ${rows[0]?.id ?? 'gone'}.`
      return { code: 'segment-changed', segment: number, row: rows[0]?.id ?? null, detail }
    }
    const actual = digests.map((digest) => digest.toString('hex'))
    return compareRows(number, rows, actual, splitDigests(listed))
  }
}

/** Rows that are gone, and of which no row says that retention has dropped them. */
export function findUndeclared({
  droppedThrough,
  declaredThrough,
}: Pick<CheckedAudit, 'droppedThrough' | 'declaredThrough'>): Finding | null {
  if (droppedThrough <= declaredThrough) return null
  const segment = declaredThrough + 1
  const detail = `The rows of segments ${segment} to ${droppedThrough} are gone, and no sealed row says that retention has dropped them.`
  return { code: 'rows-cut-off', segment, row: null, detail }
}

/** Names the first row that is not as it was sealed. `sealed` and `actual` differ. */
function compareRows(
  segment: number,
  rows: readonly SealedRow[],
  actual: readonly string[],
  sealed: readonly string[],
): Finding {
  const at = sealed.findIndex((digest, index) => actual[index] !== digest)
  const index = at < 0 ? sealed.length : at
  const row = rows[index]
  const before = rows[index - 1]?.id ?? null
  const place = `row ${index + 1} of ${sealed.length} in segment ${segment}`
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
    const detail = `Row ${row.id} stands where ${place} was: rows were put into another order.`
    return { code: 'row-moved', segment, row: row.id, detail }
  }
  if (isSealed) {
    const detail = `What was ${place}, ${after}, was removed.`
    return { code: 'row-removed', segment, row: before, detail }
  }
  if (isStillThere || at < 0) {
    const detail = `Row ${row.id} was added to segment ${segment}, ${after}: it was not there when it was sealed.`
    return { code: 'row-added', segment, row: row.id, detail }
  }
  const detail = `Row ${row.id}, ${place}, is not as it was sealed.`
  return { code: 'row-changed', segment, row: row.id, detail }
}
