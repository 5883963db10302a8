// What a deleted endpoint is still owed ends, and stays readable: a portion in each statement, because a backlog has no
// limit and a statement has a time limit.

import { NIL_UUID } from '../../core/plain/uuid.ts'
import type { Db } from '../connection/db.ts'
import { sameDelivery } from '../owed/held-deliveries.ts'
import { fileAs, movedColumns } from '../sql/file-deliveries.ts'
import { IN_CELL, owedAfter } from '../sql/planner.ts'

export interface EndpointKey {
  clientKey: number
  endpointId: string
}

/** Among what an endpoint is owed, by payment and sequence. */
export interface OwedPosition {
  paymentId: string
  sequence: number
}

/** Before all that an endpoint is owed. */
export const FIRST_OWED: OwedPosition = { paymentId: NIL_UUID, sequence: -1 }

/** About a tenth of a second, on a busy machine half of one: what waits for one of these rows does not wait for long. */
export const CANCELLED_AT_ONCE = 2_000

/**
 * Cancels a portion of what the endpoint is owed, after a position: rows that are gone already are not read again.
 * Returns where to go on; null at the end. Rows that another transaction is writing are waited for, or passed over where
 * `isWaiting` is false: only who holds the endpoint's row may wait, because the engine waits for that row first.
 */
export async function cancelOwedAfter(
  db: Db,
  { clientKey, endpointId }: EndpointKey,
  after: OwedPosition,
  now: Date,
  { isWaiting, limit = CANCELLED_AT_ONCE }: { isWaiting: boolean; limit?: number },
): Promise<OwedPosition | null> {
  const { rows } = await db.query<{ count: number; payment_id: string; sequence: number }>({
    name: isWaiting ? 'cancel-first-owed' : 'cancel-owed',
    text: `with portion as materialized (
             select p.client_key, p.id, p.payment_id, p.sequence from pending_deliveries p
             where ${owedAfter('p', ['$2', '$4', '$5'])}
             order by p.endpoint_id, p.payment_id, p.sequence limit $6
             for update of p ${isWaiting ? '' : 'skip locked'}
           ), cancelled as (
             delete from pending_deliveries p using portion o
             where ${sameDelivery('o')} and o.client_key = $1
             returning ${movedColumns('p')}
           ), filed as (
             ${fileAs('CANCELLED', 'cancelled', '$3')} where ${IN_CELL})
           select (count(*) over ())::int as count, payment_id, sequence from portion
           order by payment_id desc, sequence desc limit 1`,
    values: [clientKey, endpointId, now, after.paymentId, after.sequence, limit],
  })
  const [last] = rows
  if (last === undefined || last.count < limit) return null
  return { paymentId: last.payment_id, sequence: last.sequence }
}

/** Deleted endpoints that are still owed something: one look for each. */
export async function readDeletedOwed(db: Db, limit: number): Promise<readonly EndpointKey[]> {
  const { rows } = await db.query<{ client_key: number; id: string }>({
    text: `select e.client_key, e.id from endpoints e
           cross join lateral (
             select from pending_deliveries p
             where ${owedAfter('p', ['e.id', '$2', '$3'])} limit 1) as owed
           where e.deleted_at is not null limit $1`,
    values: [limit, FIRST_OWED.paymentId, FIRST_OWED.sequence],
  })
  return rows.map((row) => ({ clientKey: row.client_key, endpointId: row.id }))
}
