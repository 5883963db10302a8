// The clients table. A client's compact key is what every other table carries; its id is what the
// outside knows. The client's row is also the lock under which its limits are counted.

import type { Page, PageRequest } from '../../core/asking/numbered-pages.ts'
import { pageOffset } from '../../core/asking/numbered-pages.ts'
import { isUuid } from '../../core/plain/uuid.ts'
import type { Db } from '../connection/db.ts'
import { column } from '../sql/columns.ts'
import { isNamed } from '../sql/search-words.ts'

export type ClientStatus = 'ACTIVE' | 'DISABLED'

/** What gets it a token: its secrets and its keys, or its keys alone. */
export type ClientCredentials = 'any' | 'keys'

export interface Client {
  clientKey: number
  id: string
  name: string
  status: ClientStatus
  credentials: ClientCredentials
  createdAt: Date
}

interface ClientRow {
  client_key: number
  id: string
  name: string
  status: ClientStatus
  credentials: ClientCredentials
  created_at: Date
}

const COLUMNS = 'client_key, id, name, status, credentials, created_at'

export async function insertClient(
  db: Db,
  client: { id: string; name: string },
  now: Date,
): Promise<Client> {
  const { rows } = await db.query<ClientRow>({
    text: `insert into clients (id, name, created_at) values ($1, $2, $3) returning ${COLUMNS}`,
    values: [client.id, client.name, now],
  })
  return toClient(rows[0] as ClientRow)
}

export async function findClient(db: Db, clientId: string): Promise<Client | null> {
  const { rows } = await db.query<ClientRow>({
    name: 'find-client',
    // Paybell's own client, to which notices belong, can be seen and changed by no caller.
    text: `select ${COLUMNS} from clients where id = $1 and not is_internal`,
    values: [clientId],
  })
  return rows[0] ? toClient(rows[0]) : null
}

/** The id of the client that has this key. */
export async function readClientId(db: Db, clientKey: number): Promise<string> {
  const { rows } = await db.query<{ id: string }>({
    name: 'read-client-id',
    text: 'select id from clients where client_key = $1',
    values: [clientKey],
  })
  const [row] = rows
  if (row === undefined) throw new Error(`there is no client ${clientKey}`)
  return row.id
}

/** By id, those of them that are clients of this cell. */
export async function findClientKeys(
  db: Db,
  ids: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const { rows } = await db.query<{ id: string; client_key: number }>({
    text: `select id, client_key from clients
           where id = any($1::uuid[]) and not is_internal and ${hasNotLeft('client_key')}`,
    values: [column('uuid', ids, (id) => id)],
  })
  return new Map(rows.map((row) => [row.id, row.client_key]))
}

export async function readClientIds(
  db: Db,
  clientKeys: readonly number[],
): Promise<ReadonlyMap<number, string>> {
  const { rows } = await db.query<{ id: string; client_key: number }>({
    text: 'select id, client_key from clients where client_key = any($1::int[])',
    values: [column('int', clientKeys, (key) => key)],
  })
  return new Map(rows.map((row) => [row.client_key, row.id]))
}

export interface ClientChange {
  /** Null: as it is. */
  status: ClientStatus | null
  credentials: ClientCredentials | null
}

export async function saveClientChange(
  db: Db,
  clientId: string,
  { status, credentials }: ClientChange,
): Promise<Client | null> {
  const { rows } = await db.query<ClientRow>({
    text: `update clients set status = coalesce($2, status), credentials = coalesce($3, credentials)
           where id = $1 and not is_internal returning ${COLUMNS}`,
    values: [clientId, status, credentials],
  })
  return rows[0] ? toClient(rows[0]) : null
}

/**
 * Until the transaction ends, no other transaction counts and adds what this client may have only
 * so many of. The weaker row lock: foreign keys that point here do not wait for it.
 */
export async function lockClient(db: Db, clientKey: number): Promise<void> {
  await db.query({
    name: 'lock-client',
    text: 'select 1 from clients where client_key = $1 for no key update',
    values: [clientKey],
  })
}

export const CLIENT_ORDERS = ['createdAt', '-createdAt', 'name', '-name'] as const
export type ClientOrder = (typeof CLIENT_ORDERS)[number]

/** Each is an index, read forwards or backwards. */
const ORDERS: Readonly<Record<ClientOrder, readonly [string, string]>> = {
  createdAt: ['created_at', 'asc'],
  '-createdAt': ['created_at', 'desc'],
  name: ['lower(name)', 'asc'],
  '-name': ['lower(name)', 'desc'],
}

export interface ClientFilter {
  /** Words of the name, each perhaps only begun; or the id. */
  search: string | null
  order: ClientOrder
}

/** What stays of a client that has moved to another cell sends callers on, and is no client of this one. */
export function hasNotLeft(clientKey: string): string {
  return `${clientKey} <> all(array(
    select m.client_key from client_moves m where m.state = 'MOVED'))`
}

export async function listClients(
  db: Db,
  { search, order }: ClientFilter,
  page: PageRequest,
): Promise<Page<Client>> {
  const [by, way] = ORDERS[order]
  const inOrder = `${by} ${way}, id ${way}`
  const values: unknown[] = [page.size, pageOffset(page)]
  const conditions = ['not is_internal', hasNotLeft('client_key')]
  if (search !== null) {
    values.push(search)
    conditions.push(isUuid(search) ? 'id = $3::uuid' : isNamed('name', '$3'))
  }
  const where = conditions.join(' and ')
  // One statement, hence one snapshot. The outer join keeps the count when the page is empty.
  const { rows } = await db.query<{ total: number } & Partial<ClientRow>>({
    text: `select all_of_them.total, shown.*
           from (select count(*) as total from clients where ${where}) as all_of_them
           left join lateral (
             select ${COLUMNS} from clients where ${where}
             order by ${inOrder} limit $1 offset $2
           ) as shown on true
           order by ${inOrder}`,
    values,
  })
  const items = rows.filter((row): row is { total: number } & ClientRow => row.id != null)
  return { ...page, items: items.map(toClient), total: rows[0]?.total ?? 0 }
}

function toClient(row: ClientRow): Client {
  return {
    clientKey: row.client_key,
    id: row.id,
    name: row.name,
    status: row.status,
    credentials: row.credentials,
    createdAt: row.created_at,
  }
}
