// The audit: what was done with operators' keys, newest first.

import { type CursorPage, parseCursor, toCursor, toCursorPage } from '../core/cursor.ts'
import { CANONICAL_UUID } from '../core/uuid.ts'
import { type AuditFilter, type AuditRow, listAudit } from '../store/audit.ts'
import type { Audit } from './parts/audit.ts'
import type { Deps } from './parts/deps.ts'
import type { CursorRequest } from './view-payments.ts'

export type { AuditRow }

export async function viewAudit(
  deps: Deps,
  filter: AuditFilter,
  { limit, after }: CursorRequest,
): Promise<CursorPage<AuditRow>> {
  const [beforeId] = after === null ? [] : parseCursor(after, CANONICAL_UUID)
  const rows = await listAudit(deps.pool, filter, {
    limit: limit + 1,
    beforeId: beforeId ?? null,
  })
  return toCursorPage(rows, limit, (last) => toCursor(last.id))
}

/** Leaves the one row of an auditor's read. */
export async function viewAsAuditor(deps: Pick<Deps, 'pool'>, audit: Audit): Promise<void> {
  await audit(deps.pool, 'audit')
}
