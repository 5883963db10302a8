// Recomputes a sealed audit, row by row and segment by segment as they come, and names the first thing that is not
// as it was sealed. Nothing rests on anything but signed digests. Pure: rows come from a file, a service or the database.

import { toCanonicalJson } from '../plain/canonical-json.ts'
import { DropChecker, TIMES_APART_MS } from './audit-drop.ts'
import type { CheckedAudit, DroppedSpan, Finding, FindingCode } from './audit-finding.ts'
import { compareRows, findStrangerAmong } from './audit-rows.ts'
import {
  digestRow,
  digestSegment,
  type ListedSegment,
  NO_DIGEST,
  SEAL_TYPE,
  type SealedRow,
  splitDigests,
  toClaims,
} from './audit-seal.ts'
import { readSeal, type SealKeys } from './seal-signature.ts'
import { type RevokedSeal, UnprovenSegments } from './unproven-segments.ts'

/** A head that was seen before: it must be in the chain. */
export type KnownHead = Pick<ListedSegment, 'segment' | 'digest'>

/** Months that go, one after another, are one span; only an adversary makes more than these. */
const SPANS_MAX = 1_000
/** Far more than one segment has. */
const PENDING_ROWS_MAX = 1_000_000

export class AuditChecker {
  readonly #keys: SealKeys
  readonly #heads: Map<number, string>
  readonly #drops: DropChecker
  #pending: SealedRow[] = []
  #last: ListedSegment | null = null
  readonly #counted = { rows: 0, segments: 0, first: null as number | null }
  readonly #dropped: DroppedSpan[] = []
  readonly #remarks: string[] = []
  #timesApart = { count: 0, first: '' }
  readonly #unproven = new UnprovenSegments()
  /** Of the segment that is being checked. */
  #revoked: RevokedSeal | null = null

  constructor(keys: SealKeys, heads: readonly KnownHead[] = []) {
    this.#keys = keys
    this.#heads = new Map(heads.map(({ segment, digest }) => [segment, digest]))
    this.#drops = new DropChecker(keys)
  }

  get checked(): CheckedAudit {
    const { count, first } = this.#timesApart
    return {
      ...this.#counted,
      last: this.#last?.segment ?? null,
      head: this.#last?.digest ?? null,
      dropped: this.#dropped,
      remarks: [
        ...this.#unproven.remarks,
        ...this.#remarks,
        ...(count === 0 ? [] : [`${first} (${count} such ${count === 1 ? 'row' : 'rows'}.)`]),
      ],
    }
  }

  /** What a reader should know, and what proves nothing by itself. */
  remark(text: string): void {
    this.#remarks.push(text)
  }

  /** A signed drop; it comes before the segments that it excuses. */
  drop(jws: string): Finding | null {
    return this.#drops.add(jws, (this.#last?.segment ?? 0) + 1)
  }

  /** The next row; those of a segment come before it. */
  row(row: SealedRow): Finding | null {
    if (this.#pending.push(row) <= PENDING_ROWS_MAX) return null
    return this.#findOutside(row)
  }

  segment(segment: ListedSegment): Finding | null {
    const rows = this.#pending
    this.#pending = []
    this.#revoked = null
    const finding =
      this.#checkChain(segment) ??
      this.#checkSignature(segment) ??
      this.#drops.segment(segment) ??
      this.#checkRows(segment, rows) ??
      this.#checkProof(segment, rows)
    if (finding === null) this.#compareTimes(segment, rows)
    this.#last = segment
    this.#counted.first ??= segment.segment
    this.#counted.segments++
    return finding
  }

  /** Nothing more comes. */
  end(): Finding | null {
    const [row] = this.#pending
    if (row !== undefined) return this.#findOutside(row)
    this.#remarks.push(...this.#drops.remarks)
    return this.#findHeadOutside() ?? this.#drops.end() ?? this.#unproven.find()
  }

  /** Only where the chain was read from its beginning: retention keeps the heads of what it drops. */
  checkBeginning(): Finding | null {
    const { first } = this.#counted
    if (first === null || first === 1) return null
    const detail = `The chain begins with segment ${first}: those before it are missing.`
    return { code: 'segment-removed', segment: 1, row: null, detail }
  }

  #findOutside({ id }: SealedRow): Finding {
    const detail = `Row ${id} stands after the last segment, and in none.`
    return { code: 'row-added', segment: this.#last?.segment ?? 0, row: id, detail }
  }

  #findHeadOutside(): Finding | null {
    const [first, last] = [this.#counted.first ?? 1, this.#last?.segment ?? 0]
    const found = { code: 'head-missing' as const, row: null }
    for (const segment of [...this.#heads.keys()].toSorted((one, other) => one - other)) {
      if (segment < first - 1) {
        const detail = `The chain begins with segment ${first}: it cannot be held against segment ${segment}, which was seen before. Export from an earlier time.`
        return { ...found, segment, detail }
      }
      if (segment > last) {
        const detail = `The chain ends at segment ${last}, but segment ${segment} was seen before: the end was cut off.`
        return { ...found, segment, detail }
      }
    }
    return null
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
    const before = last?.digest ?? (number === 1 ? NO_DIGEST : this.#heads.get(number - 1))
    if (
      (before !== undefined && segment.previous !== before) ||
      (last !== null && segment.from !== last.to)
    ) {
      return find('segment-changed', `Segment ${number} does not continue the one before it.`)
    }
    const digest = this.#heads.get(number)
    if (digest !== undefined && digest !== segment.digest) {
      return find('segment-changed', `Segment ${number} is another than the one seen before.`)
    }
    return null
  }

  /** What proves a segment: its signature, a later one that continues the chain, or a head that was seen before. */
  #checkProof(segment: ListedSegment, rows: readonly SealedRow[]): Finding | null {
    const { segment: number } = segment
    const finding =
      this.#revoked === null
        ? null
        : this.#unproven.add(number, this.#revoked, {
            hasRows: rows.length > 0,
            isRecomputed: isRecomputed(segment, rows),
          })
    if (finding !== null) return finding
    if (this.#revoked === null || this.#heads.has(number)) this.#unproven.proveUpTo(number)
    return null
  }

  #checkSignature(segment: ListedSegment): Finding | null {
    const { segment: number } = segment
    const seal = readSeal(segment.jws, SEAL_TYPE, this.#keys)
    const found = { segment: number, row: null }
    if (seal.kind === 'unknown-key') {
      const detail = `Segment ${number} is signed by the key ${seal.keyId}, which is not among the public keys it was checked with.`
      return { ...found, code: 'key-unknown', detail }
    }
    if (seal.kind === 'revoked-key') {
      this.#revoked = seal
      return null
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

  /** Rows that are there are held against the signed digest, whatever else is said of them. */
  #checkRows(segment: ListedSegment, rows: readonly SealedRow[]): Finding | null {
    const { segment: number } = segment
    const digests = rows.map(digestRow)
    const isWhole = digestSegment(Buffer.concat(digests), segment) === segment.digest
    const sealed = readList(segment)
    if (sealed === 'altered') {
      const detail = `The list of rows of segment ${number} was altered${isWhole ? '' : `, so the row cannot be named; the segment's first row is ${rows[0]?.id ?? 'gone'}`}.`
      return { code: 'segment-changed', segment: number, row: rows[0]?.id ?? null, detail }
    }
    const actual = digests.map((digest) => digest.toString('hex'))
    const finding = isWhole ? null : this.#judgeRest(number, rows, actual, sealed)
    if (finding === null) this.#counted.rows += rows.length
    return finding
  }

  /** Not all rows are there, or not as they were: all that excuses it is a drop, and only what is gone. */
  #judgeRest(
    number: number,
    rows: readonly SealedRow[],
    actual: readonly string[],
    sealed: readonly string[] | null,
  ): Finding | null {
    const [row] = rows
    const find = (code: FindingCode, detail: string): Finding => ({
      ...{ code, segment: number, row: row?.id ?? null, detail },
    })
    if (!this.#drops.covers(number)) {
      if (row === undefined) {
        const detail = `The rows of segment ${number} are gone, and no drop that the service has signed covers them.`
        return find('rows-cut-off', detail)
      }
      if (sealed !== null) return compareRows(number, rows, actual, sealed)
      const detail = `The rows of segment ${number}, from row ${row.id} on, are not as they were sealed. Its list of rows is gone, so the first of them cannot be named.`
      return find('segment-changed', detail)
    }
    if (sealed === null && row !== undefined) {
      const detail = `Row ${row.id} stands in segment ${number}, whose rows were dropped: nothing proves it.`
      return find('row-added', detail)
    }
    const finding = sealed === null ? null : findStrangerAmong(number, rows, actual, sealed)
    if (finding === null) this.#addDropped(number)
    return finding
  }

  #addDropped(number: number): void {
    const last = this.#dropped.at(-1)
    if (last?.to === number - 1) last.to = number
    else if (this.#dropped.length < SPANS_MAX) this.#dropped.push({ from: number, to: number })
  }

  /**
   * A row is made after the segment before it was sealed, and before its own, as far as clocks are right. Where they were
   * not, an honest row lies outside: so this is told, and is no finding.
   */
  #compareTimes(segment: ListedSegment, rows: readonly SealedRow[]): void {
    const fromMs = Date.parse(this.#last?.sealedAt ?? '') - TIMES_APART_MS
    const toMs = Date.parse(segment.sealedAt) + TIMES_APART_MS
    for (const { id, at } of rows) {
      const atMs = Date.parse(at)
      if (!(atMs < fromMs || atMs > toMs)) continue
      const { count, first } = this.#timesApart
      const text = `Row ${id} says ${at}, but it was sealed in segment ${segment.segment}, at ${segment.sealedAt}: a clock was wrong, or the row was backdated before it was sealed.`
      this.#timesApart = { count: count + 1, first: first || text }
    }
  }
}

/** Whether its digest is seen to be that of its rows and of what it says, the segment before it included. */
function isRecomputed(segment: ListedSegment, rows: readonly SealedRow[]): boolean {
  const digests = Buffer.concat(rows.map(digestRow))
  return digestSegment(digests, segment) === segment.digest || Array.isArray(readList(segment))
}

/** The digests of the rows as they were sealed; null where they were not kept. */
function readList(segment: ListedSegment): readonly string[] | 'altered' | null {
  if (segment.rows === undefined) return null
  const bytes = Buffer.from(segment.rows, 'base64url')
  // One list has one spelling.
  const isAsSealed =
    bytes.toString('base64url') === segment.rows && digestSegment(bytes, segment) === segment.digest
  return isAsSealed ? splitDigests(bytes) : 'altered'
}
