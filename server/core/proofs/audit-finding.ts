// What a check of the audit can say: the first thing that is wrong, what was looked at, and the verdict.

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
  | 'key-revoked'
  | 'head-missing'
  | 'drop-invalid'
  | 'line-changed'
  | 'nothing-sealed'

/** The first thing that is wrong. */
export interface Finding {
  code: FindingCode
  segment: number
  /** The row, or the last one before the gap; null where no row can be named. */
  row: string | null
  detail: string
}

/** Segments, the first and the last of them, of which rows were dropped under a signed drop. */
export interface DroppedSpan {
  from: number
  to: number
}

export interface CheckedAudit {
  /** Those that were held against a signed digest, and no others. */
  rows: number
  segments: number
  first: number | null
  last: number | null
  /** The digest of the last segment. */
  head: string | null
  dropped: readonly DroppedSpan[]
  /** What no honest clock can be blamed for, and a reader should know. */
  remarks: readonly string[]
}

export const VERDICTS = ['valid', 'partial', 'invalid'] as const

/**
 * `valid`: every row of every segment is as it was sealed. `partial`: all that is there is, and the rest was dropped by
 * the service. `invalid`: there is a finding.
 */
export type Verdict = (typeof VERDICTS)[number]

export interface AuditResult {
  finding: Finding | null
  checked: CheckedAudit
}

export function verdictOf({ finding, checked }: AuditResult): Verdict {
  if (finding !== null) return 'invalid'
  return checked.dropped.length > 0 ? 'partial' : 'valid'
}
