// The accounts table. An account belongs to one client for ever, so what is found here stays true.

import { type Page, type PageRequest, pageOffset } from '../../core/asking/numbered-pages.ts'
import type { Db } from '../connection/db.ts'
import { column } from '../sql/columns.ts'

export interface Account {
  id: string
  name: string
}

export async function insertAccount(
  db: Db,
  clientKey: number,
  account: Account,
  now: Date,
): Promise<void> {
  await db.query({
    text: 'insert into accounts (client_key, id, name, created_at) values ($1, $2, $3, $4)',
    values: [clientKey, account.id, account.name, now],
  })
}

/** Whose these accounts are. Ids that no account has are not in the map; its keys are in lower case. */
export async function findClientsOfAccounts(
  db: Db,
  accountIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const { rows } = await db.query<{ id: string; client_key: number }>({
    name: 'find-clients-of-accounts',
    text: 'select id, client_key from accounts where id = any($1::uuid[])',
    values: [column('uuid', accountIds, (id) => id)],
  })
  return new Map(rows.map((row) => [row.id, row.client_key]))
}

/** `total`: how many there are, where that was counted before; otherwise they are counted with the page. */
export async function listAccounts(
  db: Db,
  clientKey: number,
  page: PageRequest,
  total: number | null,
): Promise<Page<Account>> {
  const values: unknown[] = [clientKey, page.size, pageOffset(page)]
  const counted =
    total === null
      ? 'count(*) as total from accounts where client_key = $1'
      : `$${values.push(total)}::bigint as total`
  // One statement, hence one snapshot. The outer join keeps the count when the page is empty. Those before the page are
  // passed over in the index.
  const { rows } = await db.query<{ total: number; id: string | null; name: string }>({
    text: `select all_of_them.total, shown.id, shown.name
           from (select ${counted}) as all_of_them
           left join (
             select a.id, a.name, a.created_at
             from (select id from accounts where client_key = $1
                   order by created_at, id limit $2 offset $3) as on_page
             join accounts a on a.client_key = $1 and a.id = on_page.id
           ) as shown on true
           order by shown.created_at, shown.id`,
    values,
  })
  const items = rows.flatMap((row) => (row.id === null ? [] : [{ id: row.id, name: row.name }]))
  return { ...page, items, total: rows[0]?.total ?? 0 }
}

export async function countAccounts(db: Db, clientKey: number): Promise<number> {
  const { rows } = await db.query<{ total: number }>({
    text: 'select count(*) as total from accounts where client_key = $1',
    values: [clientKey],
  })
  return rows[0]?.total ?? 0
}
