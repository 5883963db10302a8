// Removes what the operator's retention settings exclude: payments whose last change is long past, and old
// months of the audit. Each step is small, and a round has a time limit: the next round goes on.

import { DAY_MS } from '../core/backoff.ts'
import { schemaOfCell } from '../core/cell.ts'
import type { Deps } from '../operations/parts/deps.ts'
import { dropOldAudit } from '../store/audit-retention.ts'
import { forgetOldPayments, type OldPlace, readClientKeys } from '../store/payment-retention.ts'

const AT_ONCE = 1_000
const ROUND_MS_MAX = 60_000

type ForgetDeps = Pick<Deps, 'pool' | 'clock'> & {
  config: Pick<Deps['config'], 'paymentRetentionDays' | 'auditRetentionDays' | 'cell'>
}

/** Returns how many payments were removed. */
export async function forgetPayments(deps: ForgetDeps, atOnce = AT_ONCE): Promise<number> {
  const { paymentRetentionDays: days } = deps.config
  if (days === null) return 0
  const before = new Date(deps.clock.nowMs() - days * DAY_MS)
  const endsAtMs = deps.clock.monotonicMs() + ROUND_MS_MAX
  let total = 0
  for (const clientKey of await readClientKeys(deps.pool)) {
    let after: OldPlace | null = null
    do {
      if (deps.clock.monotonicMs() > endsAtMs) return total
      const step = await forgetOldPayments(deps.pool, clientKey, before, after, atOnce)
      total += step.count
      after = step.next
    } while (after !== null)
  }
  return total
}

export interface ForgottenAudit {
  dropped: readonly string[]
  /** A sentence for the log if the role may not drop old months; otherwise null. */
  remark: string | null
}

export async function forgetAudit(deps: ForgetDeps): Promise<ForgottenAudit> {
  const { auditRetentionDays: days, cell } = deps.config
  if (days === null) return { dropped: [], remark: null }
  const before = new Date(deps.clock.nowMs() - days * DAY_MS)
  const { dropped, notOurs } = await dropOldAudit(deps.pool, before)
  const schema = schemaOfCell(cell)
  const remark =
    notOurs.length === 0
      ? null
      : `these months of the audit are older than PAYBELL_AUDIT_RETENTION_DAYS, and this database role may not drop them: run "drop table ${notOurs.map((name) => `${schema}.${name}`).join(', ')}" as the role that owns the schema`
  return { dropped, remark }
}
