// What an auditor reads of the seals: the head, and an export with the segments in line. Everything that an export
// shows is sealed; what was audited in the last minute is in the next one.

import { toCanonicalJson } from '../../core/plain/canonical-json.ts'
import { ServiceError } from '../../core/plain/errors.ts'
import type { Segment } from '../../core/proofs/audit-seal.ts'
import { findSegmentSealedFrom, readSealHead } from '../../store/proofs/audit-segments.ts'
import { readSealProgress, type Verification } from '../../store/proofs/seal-progress.ts'
import type { Deps } from '../shared/deps.ts'
import { readSealedAudit } from './sealed-audit.ts'

export interface SealHead {
  head: Segment
  sealedThrough: Date | null
  verification: Verification | null
}

/** Throws where nothing is sealed yet. */
export async function viewSealHead(deps: Pick<Deps, 'pool'>): Promise<SealHead> {
  const [head, progress] = await Promise.all([readSealHead(deps.pool), readSealProgress(deps.pool)])
  if (head === null) {
    throw new ServiceError(
      'not-found',
      'Nothing is sealed yet. What was audited is sealed once a minute.',
    )
  }
  return {
    head,
    sealedThrough: progress.sealedThrough,
    verification: progress.verification,
  }
}

export interface ExportPeriod {
  from: Date | null
  to: Date | null
}

/**
 * Whole segments, a line for each row and then one for the segment. From the first that was sealed at `from` or
 * later, to the first that was sealed at `to` or later: so all that was audited in between is there. One that begins among
 * segments whose rows were dropped goes on to the last of them, against which the drop is held.
 */
export async function* exportAudit(
  deps: Pick<Deps, 'pool'>,
  { from, to }: ExportPeriod,
): AsyncGenerator<string> {
  const first = from === null ? 1 : await findSegmentSealedFrom(deps.pool, from)
  if (first === null) return
  let droppedThrough = 0
  for await (const item of readSealedAudit(deps, first - 1)) {
    if ('drop' in item) {
      droppedThrough = item.through
      yield toLines([{ drop: item.drop }])
      continue
    }
    const { segment, rows } = item
    yield toLines([...rows, segment])
    const isLast = to !== null && Date.parse(segment.sealedAt) >= to.getTime()
    if (isLast && segment.segment >= droppedThrough) return
  }
}

function toLines(items: readonly object[]): string {
  return items.map((item) => `${toCanonicalJson(item)}\n`).join('')
}
