// How the audit is sealed. Rows in the order of commit are gathered into segments; a segment's digest covers its
// rows and the digest of the segment before, and is signed. docs/audit.md says it for those who recompute it.

import { hash } from 'node:crypto'
import { toCanonicalJson } from '../plain/canonical-json.ts'

/** The `typ` of the signature of a segment, and of a drop. */
export const SEAL_TYPE = 'paybell-audit-seal+jws'
export const DROP_TYPE = 'paybell-audit-drop+jws'

/** What stands in `previous` of the first segment. */
export const NO_DIGEST = '0'.repeat(64)

const DIGEST_BYTES = 32

/** No retention of the audit is shorter (config/settings.ts), so nothing younger is ever dropped. */
export const RETENTION_DAYS_MIN = 30

/** A row of the audit as it is sealed and exported. */
export interface SealedRow {
  id: string
  at: string
  actor: string
  action: string
  object: string
  requestId: string
  /** Where it stands in the order of commit: rows are sealed in the order of position, then id. */
  position: string
  changes?: unknown
}

/** What a segment says of its rows. */
export interface SegmentHeader {
  /** 1, 2, 3 … */
  segment: number
  /** Its rows have positions from this one on, up to and without `to`. */
  from: string
  to: string
  count: number
  /** The digest of the segment before it. */
  previous: string
  sealedAt: string
}

/** What is signed. */
export interface SegmentClaims extends SegmentHeader {
  digest: string
}

export interface Segment extends SegmentClaims {
  jws: string
}

/** A segment in an export: with the digests of its rows, unless retention has dropped them all. */
export interface ListedSegment extends Segment {
  /** Base64url, 32 bytes for each row. With it a row can be named; whether all are as sealed, the digest says. */
  rows?: string
}

/**
 * What the service signs before retention drops rows: those of all segments up to this one may be gone. Only who holds
 * the master key can make one.
 */
export interface DropClaims {
  /** The last segment that has a row that goes, with its digest, so that the drop is one of this chain, and its time. */
  through: number
  digest: string
  sealedAt: string
  /** The newest segment at that time: later ones were sealed after the drop. */
  head: number
  retentionDays: number
  droppedAt: string
}

export function digestRow(row: SealedRow): Buffer {
  return hash('sha256', `${toRowText(row)}\n`, 'buffer')
}

/** One after the other. */
export function digestRows(rows: readonly SealedRow[]): Buffer {
  return Buffer.concat(rows.map(digestRow))
}

const MEMBERS = 7

/**
 * Its canonical JSON. The members are known, and so is their order: to sort them took longer than to hash them. A line
 * of an export may have others, which count.
 */
export function toRowText(row: SealedRow): string {
  const { action, actor, at, changes, id, object, position, requestId } = row
  const members = changes === undefined ? MEMBERS : MEMBERS + 1
  if (Object.keys(row).length !== members) return toCanonicalJson(row)
  const text = JSON.stringify
  const changed = changes === undefined ? '' : `"changes":${toCanonicalJson(changes)},`
  return `{"action":${text(action)},"actor":${text(actor)},"at":${text(at)},${changed}"id":${text(id)},"object":${text(object)},"position":${text(position)},"requestId":${text(requestId)}}`
}

/** `rowDigests` one after the other. In hex. */
export function digestSegment(rowDigests: Uint8Array, header: SegmentHeader): string {
  const { segment, from, to, count, previous, sealedAt } = header
  const last = `${toCanonicalJson({ segment, from, to, count, previous, sealedAt })}\n`
  return hash('sha256', Buffer.concat([rowDigests, Buffer.from(last)]), 'hex')
}

export function toClaims(segment: SegmentClaims): SegmentClaims {
  const { segment: number, from, to, count, digest, previous, sealedAt } = segment
  return { segment: number, from, to, count, digest, previous, sealedAt }
}

/** A list of digests, one for each row. */
export function splitDigests(digests: Uint8Array): string[] {
  const bytes = Buffer.from(digests)
  return Array.from({ length: Math.floor(bytes.length / DIGEST_BYTES) }, (_, at) =>
    bytes.toString('hex', at * DIGEST_BYTES, (at + 1) * DIGEST_BYTES),
  )
}
