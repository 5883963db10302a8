// Why attempts at an endpoint that only fails have failed in the last hour: what it is owed tells, because nothing of it
// was delivered.

import type { FailureReason } from '../../core/delivery/explanation-outcome.ts'
import type { Db } from '../connection/db.ts'
import { owedTo } from '../sql/planner.ts'
import { type Stretch, timesWithin } from '../sql/stretches.ts'

/** As many deliveries are looked at: enough to tell what is wrong. */
const DELIVERIES_MAX = 200

export async function readFailureReasons(
  db: Db,
  clientKey: number,
  endpointId: string,
  stretch: Stretch,
): Promise<readonly FailureReason[]> {
  const { rows } = await db.query<FailureReason>({
    text: `select a.outcome, a.status, count(*)::int as count
           from (select p.client_key, p.id from pending_deliveries p
                 where ${owedTo('p', '$1', '$2')} and p.attempts > 0 limit $3) as p
           cross join lateral (
             select a.outcome, a.status from earlier_attempts a
             where a.client_key = p.client_key and a.delivery_id = p.id
               and ${timesWithin(stretch, 'a.at')} limit 100) as a
           group by 1, 2 order by 3 desc limit 20`,
    values: [clientKey, endpointId, DELIVERIES_MAX],
  })
  return rows
}
