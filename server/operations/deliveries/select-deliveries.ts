// All deliveries that match a filter, not one page of them, oldest first: for bulk actions.

import { ServiceError } from '../../core/plain/errors.ts'
import { isOverTime } from '../../store/connection/db.ts'
import { type DeliverySlice, readDeliverySlice } from '../../store/history/delivery-lists.ts'
import {
  isOwedOnly,
  readOwedKeys,
  type SelectedDelivery,
} from '../../store/history/delivery-selections.ts'
import type { DeliveryQuery, Reach } from '../../store/sql/delivery-query.ts'
import type { Deps } from '../shared/deps.ts'

/** A filter that matches more is most likely a mistake. */
export const SELECTION = { deliveriesMax: 100_000, atOnce: 10_000 }
/** A filter that takes longer is as good as none. */
export const LOOK_MS_MAX = 15_000

export async function selectDeliveries(
  deps: Pick<Deps, 'pool' | 'clock'>,
  query: DeliveryQuery,
  { deliveriesMax, atOnce } = SELECTION,
): Promise<readonly SelectedDelivery[]> {
  if (isOwedOnly(query)) {
    const owed = await readOwedKeys(deps.pool, query, deliveriesMax).catch(toTooWide)
    if (owed.length > deliveriesMax) throw tooWide()
    return owed
  }
  const endsAtMs = deps.clock.monotonicMs() + LOOK_MS_MAX
  const selected: SelectedDelivery[] = []
  let beforeId: string | null = null
  do {
    const reach: Reach = { beforeId, limit: atOnce, chunk: atOnce }
    const slice: DeliverySlice = await readDeliverySlice(deps.pool, query, reach).catch(toTooWide)
    for (const { clientKey, id, endpointId, finishedAt } of slice.items) {
      selected.push({ clientKey, id, endpointId, finishedAtMs: finishedAt?.getTime() ?? null })
    }
    // A full page may not hold all matches of the rows that were read.
    beforeId = slice.items.length < atOnce ? slice.downTo : (slice.items.at(-1)?.id ?? null)
    if (selected.length > deliveriesMax || deps.clock.monotonicMs() > endsAtMs) throw tooWide()
  } while (beforeId !== null)
  return selected.reverse()
}

export function toTooWide(error: unknown): never {
  throw isOverTime(error) ? tooWide() : error
}

export function tooWide(): ServiceError {
  return new ServiceError(
    'filter-too-wide',
    'More than 100,000 deliveries match, or more than can be looked through. Narrow the filter, for instance by time, endpoint or state.',
  )
}
