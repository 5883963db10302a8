// Rows whose due time no delay explains: they were scheduled while the database's clock was ahead, and it has gone back
// since. They are made due when their attempts would have let them be due at the latest.

import type { ShardEpoch } from '../../core/delivery/lease.ts'
import type { Db } from '../connection/db.ts'
import { column } from '../sql/columns.ts'
import { sameDelivery } from './held-deliveries.ts'

/**
 * Brings up to `limit` such rows of a shard forward; returns how many. `latest`: by the number of attempts of a run, from
 * 0 on, when a row with so many is due at the latest; the last one holds for more.
 */
export async function bringForward(
  db: Db,
  { shard, epoch }: ShardEpoch,
  latest: readonly Date[],
  limit: number,
): Promise<number> {
  const { rowCount } = await db.query({
    name: 'bring-forward',
    text: `with held as (
             select 1 as one from leases where shard = $1 and epoch = $2 for key share
           ), late as (
             select p.client_key, p.id, p.latest from (
               select p.client_key, p.id, p.next_attempt_at,
                 ($3::timestamptz[])[least(p.run_attempts + 1, cardinality($3::timestamptz[]))] as latest
               from pending_deliveries p
               where p.shard = $1 and p.next_attempt_at > ($3::timestamptz[])[1]
               offset 0) as p
             where p.next_attempt_at > p.latest and exists (select from held)
             limit $4
           ), free as (
             select p.*, l.latest from (select * from late order by client_key, id) as l
             cross join lateral (
               select p.client_key, p.id from pending_deliveries p
               where p.client_key = l.client_key and p.id = l.id
               for update of p skip locked) as p)
           update pending_deliveries p set next_attempt_at = least(p.next_attempt_at, f.latest)
           from free f where ${sameDelivery('f')}`,
    values: [shard, epoch, column('timestamptz', latest, (at) => at.getTime()), limit],
  })
  return rowCount ?? 0
}
