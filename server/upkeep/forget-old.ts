// Removes payments whose last change is longer ago than the operator wants to keep them. Each step is small, and a
// round has a time limit: the next round goes on.

import { DAY_MS } from '../core/backoff.ts'
import type { Deps } from '../operations/parts/deps.ts'
import { forgetOldPayments, type OldPlace, readClientKeys } from '../store/payment-retention.ts'

const AT_ONCE = 1_000
const ROUND_MS_MAX = 60_000

type ForgetDeps = Pick<Deps, 'pool' | 'clock'> & {
  config: Pick<Deps['config'], 'paymentRetentionDays'>
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
