// A page of the endpoints of all clients, or of those of one that asks for its own, in the orders and by the filters of both
// lists; and what is learned of a very long one by reading all of it (decision 0104).

import type { EndpointOrder } from '../../core/asking/endpoint-orders.ts'
import { type Page, type PageRequest, pageOffset } from '../../core/asking/numbered-pages.ts'
import type { EndpointKind, EndpointStatus } from '../../core/delivery/endpoint.ts'
import { isUuid, NIL_UUID } from '../../core/plain/uuid.ts'
import type { Db } from '../connection/db.ts'
import { isNamed } from '../sql/search-words.ts'
import {
  accountNameOf,
  OWNED_COLUMNS,
  type OwnedEndpoint,
  type OwnedRow,
  toOwned,
} from './endpoint-lists.ts'

export interface EndpointFilter {
  /** A client that asks for its own: whatever else is given, no other's endpoint is listed. */
  clientKey: number | null
  clientId: string | null
  accountId: string | null
  kind: EndpointKind | null
  status: EndpointStatus | null
  /** Whether its last attempts have failed. */
  isFailing: boolean | null
  /** Words of its address, the last perhaps only begun; or its id. */
  search: string | null
  order: EndpointOrder
}

const ORDERS: Readonly<Record<EndpointOrder, string>> = {
  createdAt: 'created_at, id',
  '-createdAt': 'created_at desc, id desc',
  // As endpoints_by_address has it.
  endpointUrl: 'left(url, 600) collate "C", id',
  '-endpointUrl': 'left(url, 600) collate "C" desc, id desc',
  // Those that do not fail come last, either way.
  failingSince: 'failing_since, id',
  '-failingSince': 'failing_since desc nulls last, id desc',
}

/** The endpoint at a rank of the list in the order `createdAt`. */
export interface EndpointMark {
  /** As many are up to here, this one included. */
  rank: number
  /** With all its digits, of which a Date has not all. */
  createdAt: string
  id: string
}

/** What was learned of a list before: how many match, and a mark before the page. */
export interface CountedEndpoints {
  total: number
  mark: EndpointMark | null
}

/** So many are looked at in turn for a word that more than 100,000 have; it takes 20 ms. */
const LOOKED_AT_MAX = 2_000

/** Without `counted`, those that match are counted with the page, which reads something of each. */
export async function listAllEndpoints(
  db: Db,
  filter: EndpointFilter,
  page: PageRequest,
  counted: CountedEndpoints | null,
): Promise<Page<OwnedEndpoint>> {
  const isNear = pageOffset(page) + page.size <= LOOKED_AT_MAX
  if (counted !== null && isByWords(filter) && !isByHealth(filter) && isNear) {
    const found = await readPage(db, filter, page, counted, 'in turn')
    // Otherwise those that have the word are elsewhere: there are more of them than that.
    if (found.items.length === page.size) return found
  }
  return readPage(db, filter, page, counted, 'by index')
}

async function readPage(
  db: Db,
  filter: EndpointFilter,
  page: PageRequest,
  counted: CountedEndpoints | null,
  words: 'in turn' | 'by index',
): Promise<Page<OwnedEndpoint>> {
  const values: unknown[] = [page.size, pageOffset(page) - (counted?.mark?.rank ?? 0)]
  const total = counted === null ? 'count(*)' : `$${values.push(counted.total)}::bigint`
  const inOrder = ORDERS[filter.order]
  const isFailingFirst = isByHealth(filter)
  const matching = matchingOf(filter, values, counted?.mark ?? null, words)
  // The planner does not know how few have a word, and would look for it in one address after the other.
  const isKept = isByWords(filter) && words === 'by index'
  // One statement, hence one snapshot; each part of it is planned by itself, so that a page is found by the index of its
  // order, and only what is shown is read whole. The outer join keeps the count when the page is empty.
  const { rows } = await db.query<{ total: number } & OwnedRow>({
    text: `with matching as ${isKept ? '' : 'not '}materialized (${matching})
           select all_of_them.total, shown.*, ${accountNameOf('shown')}
           from (select ${total} as total${counted === null ? ' from matching' : ''}) as all_of_them
           left join (
             select ${OWNED_COLUMNS}${isFailingFirst ? ', m.failing_since' : ''}
             from (${isFailingFirst ? failingFirst(inOrder) : 'select * from matching'}
                   order by ${inOrder} limit $1 offset $2) as m
             join endpoints e on e.client_key = m.client_key and e.id = m.id
             join clients c on c.client_key = e.client_key) as shown on true
           order by ${inOrder}`,
    values,
  })
  const items = rows.filter((row) => row.id !== null).map(toOwned)
  return { ...page, items, total: rows[0]?.total ?? 0 }
}

function matchingOf(
  filter: EndpointFilter,
  values: unknown[],
  mark: EndpointMark | null,
  words: 'in turn' | 'by index',
): string {
  const conditions = conditionsOf(filter, values)
  if (mark !== null) {
    const [createdAt, id] = [values.push(mark.createdAt), values.push(mark.id)]
    conditions.push(`(e.created_at, e.id) > ($${createdAt}::timestamptz, $${id}::uuid)`)
  }
  const columns = 'e.client_key, e.id, e.created_at, e.url'
  const hasWords = isByWords(filter) ? isNamed('e.url', `$${values.push(filter.search)}`) : null
  if (hasWords !== null && words === 'in turn') {
    return `select * from (
              select ${columns} from endpoints e where ${conditions.join(' and ')}
              order by ${ORDERS[filter.order]} limit ${LOOKED_AT_MAX}) as e
            where ${hasWords}`
  }
  if (hasWords !== null) conditions.push(hasWords)
  // Joined only for the orders that need it.
  const [since, health] = isByHealth(filter)
    ? [
        ', h.failing_since',
        ' left join endpoint_health h on h.client_key = e.client_key and h.endpoint_id = e.id',
      ]
    : ['', '']
  return `select ${columns}${since} from endpoints e${health} where ${conditions.join(' and ')}`
}

export async function countAllEndpoints(db: Db, filter: EndpointFilter): Promise<number> {
  const values: unknown[] = []
  const matching = matchingOf({ ...filter, order: 'createdAt' }, values, null, 'by index')
  const { rows } = await db.query<{ total: number }>({
    text: `select count(*) as total from (${matching}) as matching`,
    values,
  })
  return rows[0]?.total ?? 0
}

/** Each `every`th endpoint in the order `createdAt`: it takes about as long as to count them. */
export async function readEndpointMarks(db: Db, every: number): Promise<readonly EndpointMark[]> {
  const conditions = LISTED.join(' and ')
  const next = `order by e.created_at, e.id limit 1 offset ${every - 1}`
  const { rows } = await db.query<{ rank: number; created_at: string; id: string }>(
    `with recursive marks as (
       (select e.created_at, e.id, ${every} as rank from endpoints e where ${conditions} ${next})
       union all
       select n.created_at, n.id, m.rank + ${every} from marks m cross join lateral (
         select e.created_at, e.id from endpoints e
         where ${conditions} and (e.created_at, e.id) > (m.created_at, m.id) ${next}) as n)
     select rank, created_at::text as created_at, id from marks order by rank`,
  )
  return rows.map((row) => ({ rank: row.rank, createdAt: row.created_at, id: row.id }))
}

function isByHealth({ order }: EndpointFilter): boolean {
  return order.endsWith('failingSince')
}

function isByWords({ search }: EndpointFilter): boolean {
  return search !== null && !isUuid(search)
}

const LISTED: readonly string[] = [
  'e.deleted_at is null',
  // Leads to the index of the list (endpoints_by_creation).
  `e.created_at > '-infinity'`,
  'e.client_key not in (select client_key from clients where is_internal)',
]

/** All but words. Each only where it is asked for: the planner then knows which index serves. */
function conditionsOf(filter: EndpointFilter, values: unknown[]): string[] {
  // Of one client without what leads to the index of the list of all: its rows are few, and found by its key.
  const conditions = filter.clientKey === null ? [...LISTED] : LISTED.slice(0, 1)
  const where = (value: unknown, condition: (parameter: string) => string) => {
    if (value !== null) conditions.push(condition(`$${values.push(value)}`))
  }
  where(filter.clientKey, (parameter) => `e.client_key = ${parameter}`)
  where(
    filter.clientId,
    (parameter) => `e.client_key = (select client_key from clients where id = ${parameter})`,
  )
  // By the index of what listens to an account, which begins with the client. To its client, an account's are those that
  // get its payments: subscriptions, too, which are of no account.
  where(filter.accountId, (parameter) =>
    filter.clientKey === null
      ? `e.client_key = (select client_key from accounts where id = ${parameter})
         and e.scope = ${parameter} and e.account_id = ${parameter}`
      : `e.scope in (${parameter}, '${NIL_UUID}')`,
  )
  where(filter.kind, (parameter) => `e.kind = ${parameter}`)
  where(filter.status, (parameter) => `e.status = ${parameter}`)
  if (!isByWords(filter)) where(filter.search, (parameter) => `e.id = ${parameter}::uuid`)
  const failing = `exists (select from endpoint_health h where h.client_key = e.client_key
    and h.endpoint_id = e.id and h.failing_since is not null)`
  if (filter.isFailing !== null) conditions.push(filter.isFailing ? failing : `not ${failing}`)
  return conditions
}

/** Few fail, and those are found by an index; the others, only as far as the page reaches, by that of their ids. */
function failingFirst(inOrder: string): string {
  const others = inOrder.endsWith('desc') ? 'id desc' : 'id'
  const reached = '$1::bigint + $2::bigint'
  return `select * from (
    (select * from matching where failing_since is not null order by ${inOrder} limit ${reached})
    union all
    (select * from matching where failing_since is null order by ${others} limit ${reached})) as m`
}
