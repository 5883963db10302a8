// Payments as the operator's list shows them, newest first by acceptance, `downTo` as in delivery-lists.
// Each client's payments have an order of their own in the index, and none spans clients: the newest of
// all are the newest of the few clients whose newest is newest. Erased ones are left out.

import type { PaymentState } from '../../core/payments/payment.ts'
import type { Db } from '../connection/db.ts'
import { column } from '../sql/columns.ts'
import { isWhole } from '../sql/whole-text.ts'

export interface PaymentQuery {
  clientId: string | null
  accountId: string | null
  state: PaymentState | null
  /** By the first write: from this instant on, and before that one. */
  fromMs: number | null
  toMs: number | null
  /** A payment's id or its externalId. */
  paymentId: string | null
  externalId: string | null
}

export interface PaymentItem {
  id: string
  clientId: string
  clientName: string
  accountId: string
  accountName: string | null
  version: number | null
  sequence: number
  acceptedAt: Date
  changedAt: Date
  text: string
}

export interface PaymentPosition {
  acceptedAt: Date
  id: string
}

export interface PaymentSlice {
  items: readonly PaymentItem[]
  downTo: PaymentPosition | null
}

/** Payments with one externalId that are looked at; the newest of them. */
const SAME_EXTERNAL_ID_MAX = 1_000

interface PaymentRow {
  down_at: Date | null
  down_id: string | null
  id: string | null
  client_id: string
  client_name: string
  account_id: string
  account_name: string | null
  version: number | null
  sequence: number
  accepted_at: Date
  changed_at: Date
  text: string
}

/** So many items at most, and so many payments looked at. */
export async function readPaymentSlice(
  db: Db,
  query: PaymentQuery,
  reach: { before: PaymentPosition | null; limit: number; chunk: number },
): Promise<PaymentSlice> {
  const values: unknown[] = [reach.chunk, reach.limit]
  const add = (value: unknown) => `$${values.push(value)}`
  const { inIndex, afterwards } = conditionsOf(query, reach.before, add)
  const owner = ownerCondition(query, add)
  const looked =
    query.paymentId !== null || query.externalId !== null
      ? `select p.client_key, p.id, p.accepted_at from payments p
         join clients c on c.client_key = p.client_key
         where ${namedBy(query, add)} and ${owner} and ${inIndex}
         order by p.accepted_at desc, p.id desc limit $1`
      : newestOfAll(owner, inIndex)
  const { rows } = await db.query<PaymentRow>({
    text: `with looked as materialized (${looked}),
           reached as (
             select l.accepted_at as down_at, l.id as down_id from (values (1)) as one (n)
             left join (select accepted_at, id from looked
               where (select count(*) from looked) >= $1
               order by accepted_at, id limit 1) as l on true),
           found as (
             select p.* from looked l join payments p on p.client_key = l.client_key and p.id = l.id
             where ${afterwards} order by p.accepted_at desc, p.id desc limit $2)
           select r.*, p.id, c.id as client_id, c.name as client_name, p.account_id,
             a.name as account_name, p.version, p.sequence, p.accepted_at, p.changed_at, p.text
           from reached r left join (found p join clients c on c.client_key = p.client_key) on true
           left join accounts a on a.client_key = p.client_key and a.id = p.account_id
           order by p.accepted_at desc, p.id desc`,
    values,
  })
  const [first] = rows
  return {
    items: rows.filter((row) => row.id !== null).map(toItem),
    downTo:
      first?.down_at && first.down_id ? { acceptedAt: first.down_at, id: first.down_id } : null,
  }
}

/** An account leads to its client: then only that one's payments are looked at. */
function ownerCondition(query: PaymentQuery, add: (value: unknown) => string): string {
  const conditions = ['not c.is_internal']
  if (query.clientId !== null) conditions.push(`c.id = ${add(query.clientId)}`)
  if (query.accountId !== null) {
    conditions.push(
      `c.client_key = (select a.client_key from accounts a where a.id = ${add(query.accountId)} limit 1)`,
    )
  }
  return conditions.join(' and ')
}

/** As delivery-lists does it: one row of each client, then more of the few that count. */
function newestOfAll(owner: string, inIndex: string): string {
  return `select d.* from (
      select n.client_key,
        case when count(*) over () >= $1
          then first_value(n.accepted_at) over (order by n.accepted_at) else '-infinity' end as floor
      from (
        select c.client_key, p.accepted_at from clients c cross join lateral (
          select p.accepted_at from payments p where p.client_key = c.client_key and ${inIndex}
          order by p.accepted_at desc, p.id desc limit 1) as p
        where ${owner} order by p.accepted_at desc limit $1) as n) as owner
    cross join lateral (
      select p.client_key, p.id, p.accepted_at from payments p
      where p.client_key = owner.client_key and ${inIndex} and p.accepted_at >= owner.floor
      order by p.accepted_at desc, p.id desc limit $1) as d
    order by d.accepted_at desc, d.id desc limit $1`
}

function conditionsOf(
  query: PaymentQuery,
  before: PaymentPosition | null,
  add: (value: unknown) => string,
): { inIndex: string; afterwards: string } {
  const inIndex = ['true']
  if (before !== null) {
    inIndex.push(
      `(p.accepted_at, p.id) < (${add(before.acceptedAt)}::timestamptz, ${add(before.id)}::uuid)`,
    )
  }
  if (query.fromMs !== null) inIndex.push(`p.accepted_at >= ${add(new Date(query.fromMs))}`)
  if (query.toMs !== null) inIndex.push(`p.accepted_at < ${add(new Date(query.toMs))}`)
  const afterwards = [isWhole('p.text')]
  if (query.accountId !== null) afterwards.push(`p.account_id = ${add(query.accountId)}`)
  // The canonical text has its state at one fixed position: after the id.
  if (query.state !== null) {
    afterwards.push(`substr(p.text, 46) like ${add(`"status":{"state":"${query.state}"%`)}`)
  }
  return { inIndex: inIndex.join(' and '), afterwards: afterwards.join(' and ') }
}

function namedBy(query: PaymentQuery, add: (value: unknown) => string): string {
  const conditions: string[] = []
  if (query.paymentId !== null) conditions.push(`p.id = ${add(query.paymentId)}`)
  if (query.externalId !== null) conditions.push(externalIdCondition(query.externalId, add))
  return conditions.join(' and ')
}

/** The first part leads through the summary (migrations/0002), the second is exact. */
function externalIdCondition(externalId: string, add: (value: unknown) => string): string {
  const written = JSON.stringify(externalId)
  const key = written.slice(1, -1).split('"')[0]
  return `split_part(split_part(p.text, '"externalId":"', 2), '"', 1) = ${add(key)}
    and position(${add(`"externalId":${written},`)} in p.text) > 0`
}

/** The newest; where some are given, of those alone. */
export async function findByExternalId(
  db: Db,
  externalId: string,
  clientKey: number | null,
  limit: number,
  among: readonly { paymentId: string }[] | null = null,
): Promise<{ clientKey: number; paymentId: string }[]> {
  const values: unknown[] = [Math.min(limit, SAME_EXTERNAL_ID_MAX)]
  const add = (value: unknown) => `$${values.push(value)}`
  const condition = externalIdCondition(externalId, add)
  const { rows } = await db.query<{ client_key: number; id: string }>({
    text: `select p.client_key, p.id from (
             select p.client_key, p.id, p.accepted_at from payments p where ${condition} offset 0) as p
           where ${clientKey === null ? 'true' : `p.client_key = ${add(clientKey)}`}
             and ${among === null ? 'true' : `p.id = any(${add(column('uuid', among, (key) => key.paymentId))}::uuid[])`}
           order by p.accepted_at desc, p.id limit $1`,
    values,
  })
  return rows.map((row) => ({ clientKey: row.client_key, paymentId: row.id }))
}

function toItem(row: PaymentRow): PaymentItem {
  return {
    id: row.id as string,
    clientId: row.client_id,
    clientName: row.client_name,
    accountId: row.account_id,
    accountName: row.account_name,
    version: row.version,
    sequence: row.sequence,
    acceptedAt: row.accepted_at,
    changedAt: row.changed_at,
    text: row.text,
  }
}
