// The audit: what was done with operators' keys, newest first.

import {
  type CursorPage,
  parseCursor,
  toCursor,
  toCursorPage,
} from '../../core/asking/opaque-cursors.ts'
import { CANONICAL_UUID } from '../../core/plain/uuid.ts'
import { readSealedRange } from '../../store/proofs/audit-segments.ts'
import { type AuditFilter, type AuditRow, listAudit } from '../../store/proofs/audit-table.ts'
import type { CursorRequest } from '../payments/view-payments.ts'
import type { Audit } from '../shared/audit-trail.ts'
import type { Deps } from '../shared/deps.ts'

/** `isSealed`: it stands where segments are; whether it was there when they were sealed, a check says. */
export interface ListedAuditRow extends AuditRow {
  isSealed: boolean
}

export async function viewAudit(
  deps: Deps,
  filter: AuditFilter,
  { limit, after }: CursorRequest,
): Promise<CursorPage<ListedAuditRow>> {
  const [beforeId] = after === null ? [] : parseCursor(after, CANONICAL_UUID)
  const rows = await listAudit(deps.pool, filter, {
    limit: limit + 1,
    beforeId: beforeId ?? null,
  })
  const sealed = await readSealedRange(deps.pool)
  const isSealed = ({ place }: AuditRow) =>
    sealed !== null && BigInt(place) >= BigInt(sealed.from) && BigInt(place) < BigInt(sealed.to)
  const listed = rows.map((row) => ({ ...row, isSealed: isSealed(row) }))
  return toCursorPage(listed, limit, (last) => toCursor(last.id))
}

/** Leaves the one row of an auditor's read. */
export async function viewAsAuditor(deps: Pick<Deps, 'pool'>, audit: Audit): Promise<void> {
  await audit(deps.pool, 'audit')
}
