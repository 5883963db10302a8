// Deliveries that the engine holds by a lease, and the head of every statement about them. Each is guarded
// by the lease: it changes nothing for a shard whose epoch is no longer the caller's. Leases are locked for
// key share: a take-over (for update, skip locked) passes them over until we are done, then reads what we
// wrote. A renewal is not held up: otherwise a process that is merely slow would lose its shards.

import type { ShardEpoch } from '../../core/delivery/lease.ts'
import type { Db } from '../connection/db.ts'
import { column } from '../sql/columns.ts'
import { type GivenColumn, given, givenRows, valuesOf } from '../sql/given-rows.ts'
import { byIndexOnly } from '../sql/planner.ts'

/** A delivery under the lease that the engine holds it by. */
export interface HeldDelivery {
  clientKey: number
  id: string
  shard: number
  epoch: number
}

const HELD_COLUMNS: readonly GivenColumn<HeldDelivery>[] = [
  given('client_key', 'int', (row) => row.clientKey),
  given('id', 'uuid', (row) => row.id),
  given('shard', 'smallint', (row) => row.shard),
  given('epoch', 'bigint', (row) => row.epoch),
]

/** What statements about held deliveries begin with, and the values that belong to it. */
export interface GuardedRows<R> {
  /** Parts of `with`: `given` rows, the leases among theirs that are `held`, and rows that are `mine` by them. */
  head: string
  /** The leases, then `others` as `$3` and on, then the columns. */
  values(rows: readonly R[], ...others: unknown[]): unknown[]
}

/** `others`: how many parameters stand between the leases and the columns. */
export function guardedRows<R extends HeldDelivery>(
  columns: readonly GivenColumn<R>[],
  others: number,
): GuardedRows<R> {
  const all = [...HELD_COLUMNS, ...columns]
  return {
    head: `${givenRows(all, 3 + others)}, ${HELD}, ${MINE}`,
    values: (rows, ...given) => [
      ...leaseColumns(distinctLeases(rows)),
      ...given,
      ...valuesOf(all, rows),
    ],
  }
}

/** Those of the given leases that are still ours; each is given once, in `$1` and `$2`. */
export const HELD = `held as (
    select l.* from (
      select * from unnest($1::smallint[], $2::bigint[]) as g (shard, epoch) order by shard) as g
    cross join lateral (
      select l.shard, l.epoch from leases l where l.shard = g.shard and l.epoch = g.epoch
      for key share of l) as l)`

export function leaseColumns(leases: readonly ShardEpoch[]): unknown[] {
  return [
    column('smallint', leases, (lease) => lease.shard),
    column('bigint', leases, (lease) => lease.epoch),
  ]
}

const MINE = `mine as (
    select * from given where (shard, epoch) in (select shard, epoch from held))`

/**
 * The leases that these are held by and that are no longer ours. Asked about what a statement has left as it was, and
 * after it: an epoch only rises, so a lease that was lost is lost.
 */
export async function readLostLeases(
  db: Db,
  deliveries: readonly HeldDelivery[],
): Promise<readonly ShardEpoch[]> {
  if (deliveries.length === 0) return []
  const { rows } = await db.query<ShardEpoch>({
    name: 'read-lost-leases',
    text: `select g.shard, g.epoch from unnest($1::smallint[], $2::bigint[]) as g (shard, epoch)
           where not exists (select from leases l where l.shard = g.shard and l.epoch = g.epoch)`,
    values: leaseColumns(distinctLeases(deliveries)),
  })
  return rows
}

/** For the target `p` of an update or a delete: the owed row with the key of a given one. */
export function sameDelivery(given: string): string {
  return `${byIndexOnly('p.client_key', `${given}.client_key`)} and p.id = ${given}.id`
}

/** Nearly always the newest epoch of each shard; an older one that is among them finds no lease. */
function distinctLeases(rows: readonly HeldDelivery[]): ShardEpoch[] {
  const seen = new Map<string, ShardEpoch>()
  for (const { shard, epoch } of rows) seen.set(leaseKey({ shard, epoch }), { shard, epoch })
  return [...seen.values()]
}

function leaseKey({ shard, epoch }: ShardEpoch): string {
  return `${shard}/${epoch}`
}
