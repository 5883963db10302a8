// The way out of the pending table: rows that were deleted there are filed as final in the same
// statement, so that a delivery is always in exactly one of the two.

import type { FinalState } from '../../core/delivery/delivery.ts'

/** What a delivery is from its first moment on. */
const LASTING = [
  'client_key',
  'id',
  'event_id',
  'endpoint_id',
  'payment_id',
  'account_id',
  'sequence',
  'kind',
  'created_at',
  'document_mode',
]

/** What a pending row brings along; its state and its end are added. */
const MOVED = [...LASTING, 'attempts', 'deadline_at', 'last_outcome', 'last_status']

/** Of the table called `of` in the statement. */
export function lastingColumns(of?: string): string {
  return listColumns(LASTING, of)
}

export function movedColumns(of?: string): string {
  return listColumns(MOVED, of)
}

function listColumns(names: readonly string[], of?: string): string {
  return names.map((name) => (of === undefined ? name : `${of}.${name}`)).join(', ')
}

/** A final row's is_replay, of a pending one's: null, which costs no byte, for all but a few. */
export const FILED_REPLAY = 'nullif(is_replay, false)'

/**
 * Files the rows of a CTE that has deleted them, all in one state. What is cancelled here ends with its endpoint, and it
 * is not kept whether it was a replay: it can never be sent again.
 */
export function fileAs(state: FinalState, from: string, finishedAt: string): string {
  const [column, value] = state === 'CANCELLED' ? ['', ''] : [', is_replay', `, ${FILED_REPLAY}`]
  return `insert into final_deliveries (${movedColumns()}, state, finished_at${column})
    select ${movedColumns()}, '${state}', ${finishedAt}${value} from ${from}`
}
