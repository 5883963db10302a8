// Revokes a key: at once in this process, within 5 seconds in every other. The key of
// PAYBELL_OPERATOR_KEY has no id and ends only with its setting.

import { inTransaction } from '../../store/connection/db.ts'
import { revokeKey } from '../../store/secrets/operator-keys.ts'
import { type Audit, NO_AUDIT } from '../shared/audit-trail.ts'
import type { Deps } from '../shared/deps.ts'
import { notFound } from '../shared/service-errors.ts'

export async function revokeOperatorKey(
  deps: Deps,
  keyId: string,
  audit: Audit = NO_AUDIT,
): Promise<void> {
  await inTransaction(deps.pool, async (db) => {
    const isRevoked = await revokeKey(db, keyId, new Date(deps.clock.nowMs()))
    if (!isRevoked) throw notFound()
    await audit(db, `key:${keyId}`)
  })
}
