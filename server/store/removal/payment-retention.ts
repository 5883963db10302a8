// Payments whose last change is long past and of which nothing is owed. Their events have gone before them.

import type { Db } from '../connection/db.ts'
import { CLOCKS_APART_MS, idFloor } from '../sql/stretches.ts'

/** How far the last look at a client's payments came. */
export interface OldPosition {
  acceptedAt: string
  id: string
}

export interface Forgotten {
  count: number
  /** Null: there is nothing more of this client. */
  next: OldPosition | null
}

export async function readClientKeys(db: Db): Promise<readonly number[]> {
  const { rows } = await db.query<{ client_key: number }>({
    name: 'read-client-keys',
    text: 'select client_key from clients order by client_key',
  })
  return rows.map((row) => row.client_key)
}

/**
 * Deletes some of a client's payments, oldest first by their first write, in the order of their index. A
 * payment whose last change is older has no younger event, so whatever is owed of it has an old id, too.
 * Those that another transaction is writing are passed over.
 */
export async function forgetOldPayments(
  db: Db,
  clientKey: number,
  before: Date,
  after: OldPosition | null,
  limit: number,
): Promise<Forgotten> {
  const { rows } = await db.query<{ accepted_at: string; id: string; is_old: boolean }>({
    name: 'forget-old-payments',
    text: `with looked as materialized (
             select p.id, p.accepted_at, p.changed_at from payments p
             where p.client_key = $1 and p.accepted_at < $2
               and (p.accepted_at, p.id) > ($3::timestamptz, $4::uuid)
             order by p.accepted_at, p.id limit $5
           ), owed as materialized (
             select distinct d.payment_id from pending_deliveries d
             where d.client_key = $1 and d.id < $6
           ), old as materialized (
             select p.id from looked l cross join lateral (
               select p.id from payments p
               where p.id = l.id and p.client_key = $1 and p.changed_at < $2
                 and p.id not in (select payment_id from owed)
               for update of p skip locked) as p
           ), gone as (
             delete from payments p using old
             where p.id = old.id and p.client_key = $1
             returning p.id
           )
           select l.accepted_at::text, l.id, l.id in (select id from gone) as is_old from looked l
           order by l.accepted_at, l.id`,
    values: [
      clientKey,
      before,
      after?.acceptedAt ?? '-infinity',
      after?.id ?? '00000000-0000-0000-0000-000000000000',
      limit,
      idFloor(before.getTime() + CLOCKS_APART_MS),
    ],
  })
  const last = rows.at(-1)
  const isEnd = rows.length < limit || last === undefined
  return {
    count: rows.filter((row) => row.is_old).length,
    next: isEnd ? null : { acceptedAt: last.accepted_at, id: last.id },
  }
}
