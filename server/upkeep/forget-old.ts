// Removes payments whose last change is longer ago than the operator wants to keep them, and files that nothing names any
// more. Each step is small, and a round has a time limit: the next round goes on.

import { DAY_MS } from '../core/delivery/backoff.ts'
import type { Deps } from '../operations/shared/deps.ts'
import {
  forgetOldPayments,
  type OldPosition,
  readClientKeys,
} from '../store/removal/payment-retention.ts'
import { type DocumentPosition, deleteUnusedDocuments } from '../store/removal/retention.ts'

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
    let after: OldPosition | null = null
    do {
      if (deps.clock.monotonicMs() > endsAtMs) return total
      const step = await forgetOldPayments(deps.pool, clientKey, before, after, atOnce)
      total += step.count
      after = step.next
    } while (after !== null)
  }
  return total
}

/** Goes on from a position; the next round goes on from `next`, or begins again where that is null. */
export async function forgetDocuments(
  deps: Pick<Deps, 'pool' | 'clock'> & { config: Pick<Deps['config'], 'retentionDays'> },
  from: DocumentPosition | null,
  atOnce = AT_ONCE,
): Promise<{ count: number; next: DocumentPosition | null }> {
  const before = new Date(deps.clock.nowMs() - deps.config.retentionDays * DAY_MS)
  const endsAtMs = deps.clock.monotonicMs() + ROUND_MS_MAX
  let total = 0
  let position = from
  do {
    const step = await deleteUnusedDocuments(deps.pool, before, position, atOnce)
    total += step.count
    position = step.next
  } while (position !== null && deps.clock.monotonicMs() <= endsAtMs)
  return { count: total, next: position }
}
