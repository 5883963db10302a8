// The way out of the pending table: rows that were deleted there are filed as final in the same
// statement, so that a delivery is always in exactly one of the two.

import type { FinalState } from '../core/delivery.ts'

/** What a pending row brings along; its state and its end are added. */
export const MOVED_COLUMNS = `client_key, id, event_id, endpoint_id, payment_id, account_id, sequence, kind,
  created_at, attempts, deadline_at, last_outcome, last_status`

/** Files the rows of a CTE that has deleted them, all in one state. */
export function fileAs(state: FinalState, from: string, finishedAt: string): string {
  return `insert into final_deliveries (${MOVED_COLUMNS}, state, finished_at)
          select ${MOVED_COLUMNS}, '${state}', ${finishedAt} from ${from}`
}
