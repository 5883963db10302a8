// All deliveries that match a filter, not one page of them, oldest first: for what is done in bulk.

import { ServiceError } from '../../core/errors.ts'
import { type DeliverySlice, readDeliverySlice } from '../../store/delivery-lists.ts'
import type { DeliveryQuery, Reach } from '../../store/delivery-query.ts'
import type { SelectedDelivery } from '../../store/delivery-selections.ts'
import type { Deps } from './deps.ts'

/** More than this, and whoever asks has most likely not meant it. */
const SELECTION = { deliveriesMax: 100_000, atOnce: 10_000 }
/** A filter that takes longer to look through is as good as none. */
const LOOK_MS_MAX = 15_000

export async function selectDeliveries(
  deps: Pick<Deps, 'pool' | 'clock'>,
  query: DeliveryQuery,
  { deliveriesMax, atOnce } = SELECTION,
): Promise<readonly SelectedDelivery[]> {
  const endsAtMs = deps.clock.monotonicMs() + LOOK_MS_MAX
  const selected: SelectedDelivery[] = []
  let beforeId: string | null = null
  do {
    const reach: Reach = { beforeId, limit: atOnce, chunk: atOnce }
    const slice: DeliverySlice = await readDeliverySlice(deps.pool, query, reach).catch(toTooWide)
    for (const { clientKey, id, endpointId, finishedAt } of slice.items) {
      selected.push({ clientKey, id, endpointId, finishedAtMs: finishedAt?.getTime() ?? null })
    }
    // A full page may have left some out of what was looked at.
    beforeId = slice.items.length < atOnce ? slice.downTo : (slice.items.at(-1)?.id ?? null)
    if (selected.length > deliveriesMax || deps.clock.monotonicMs() > endsAtMs) throw tooWide()
  } while (beforeId !== null)
  return selected.reverse()
}

/** SQLSTATE of a statement that took longer than it may. */
const QUERY_CANCELED = '57014'

function toTooWide(error: Error & { code?: unknown }): never {
  throw error.code === QUERY_CANCELED ? tooWide() : error
}

function tooWide(): ServiceError {
  return new ServiceError(
    'filter-too-wide',
    'More than 100,000 deliveries match, or more than can be looked through. Narrow the filter, for instance by time, endpoint or state.',
  )
}
