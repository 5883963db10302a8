// What a search box finds, by id or by name. Every statement is served by an index, and answers with a few rows:
// of names that match in their thousands, the first thousand are looked at. What stays of clients that have moved to another
// cell is not found: they are found there.

import { summaryOf } from '../../core/payments/payment-summary.ts'
import type { Db } from '../connection/db.ts'
import { hasNotLeft } from '../secrets/clients.ts'
import { column } from '../sql/columns.ts'
import { isNamed } from '../sql/search-words.ts'
import type { Of } from './delivery-details.ts'
import { findEvent } from './delivery-search.ts'

export interface Hit {
  kind: 'client' | 'account' | 'endpoint' | 'payment' | 'event' | 'delivery' | 'job'
  id: string
  /** A client's or an account's name, an endpoint's address, a payment's externalId, an event's kind. */
  name: string
  /** A state or a status, where it has one. */
  state: string | null
  /** The payment that it is about. */
  paymentId: string | null
  clientId: string | null
  clientName: string | null
}

interface HitRow {
  id: string
  name: string
  state: string | null
  client_id: string
  client_name: string
}

const HITS_MAX = 8
const LOOKED_AT_MAX = 1_000

/** Clients by the words of their names. For the operator alone. */
export async function findNamedClients(db: Db, words: string): Promise<readonly Hit[]> {
  const { rows } = await db.query<HitRow>({
    text: bestOf(`select c.id, c.name, c.status as state, c.id as client_id, c.name as client_name
      from clients c where ${isNamed('c.name', '$1')} and not c.is_internal
        and ${hasNotLeft('c.client_key')}`),
    values: [words],
  })
  return rows.map((row) => toHit('client', row))
}

export async function findNamedAccounts(db: Db, words: string, of: Of): Promise<readonly Hit[]> {
  const { rows } = await db.query<HitRow>({
    text: bestOf(`select a.id, a.name, null::text as state, c.id as client_id, c.name as client_name
      from accounts a join clients c on c.client_key = a.client_key
      where ${isNamed('a.name', '$1')} and not c.is_internal and ${hasNotLeft('c.client_key')}
        and ${ownerCondition('a', of)} and ($3::uuid is null or a.id = $3)`),
    values: [words, of.clientKey, of.accountId],
  })
  return rows.map((row) => toHit('account', row))
}

/** Those that are not deleted. A subscription belongs to every account of its client. */
export async function findNamedEndpoints(db: Db, words: string, of: Of): Promise<readonly Hit[]> {
  const { rows } = await db.query<HitRow>({
    text: bestOf(`select e.id, e.url as name, e.status as state, c.id as client_id,
        c.name as client_name
      from endpoints e join clients c on c.client_key = e.client_key
      where ${isNamed('e.url', '$1')} and e.deleted_at is null and not c.is_internal
        and ${ownerCondition('e', of)} and ($3::uuid is null or coalesce(e.account_id, $3) = $3)`),
    values: [words, of.clientKey, of.accountId],
  })
  return rows.map((row) => toHit('endpoint', row))
}

/** Names that begin as typed come before those that only have such a word. */
function bestOf(matches: string): string {
  return `select * from (${matches} limit ${LOOKED_AT_MAX}) as found
    order by starts_with(lower(name), lower($1)) desc, lower(name), id limit ${HITS_MAX}`
}

/** Each only where it is asked for: the planner then knows which index serves. */
function ownerCondition(table: string, { clientKey }: Of): string {
  return clientKey === null ? '$2::int is null' : `${table}.client_key = $2`
}

/** A client, an account or an endpoint with this id; an endpoint also when it was deleted. */
export async function findHolderById(db: Db, id: string, of: Of): Promise<Hit | null> {
  const { rows } = await db.query<HitRow & { kind: Hit['kind'] }>({
    text: `select f.kind, f.id, f.name, f.state, c.id as client_id, c.name as client_name from (
        select 'client' as kind, client_key, id, name, status as state, null::uuid as account_id
        from clients where id = $1
        union all
        select 'account', client_key, id, name, null, id from accounts where id = $1
        union all
        select 'endpoint', client_key, id, url,
          case when deleted_at is null then status else 'DELETED' end, account_id
        from endpoints where id = $1) as f
      join clients c on c.client_key = f.client_key
      where not c.is_internal and ${hasNotLeft('c.client_key')}
        and ($2::int is null or (c.client_key = $2 and f.kind <> 'client'))
        and ($3::uuid is null or coalesce(f.account_id, $3) = $3) limit 1`,
    values: [id, of.clientKey, of.accountId],
  })
  return rows[0] ? toHit(rows[0].kind, rows[0]) : null
}

/** In the order given; those that were erased have no name any more and are left out. */
export async function findPaymentHits(
  db: Db,
  keys: readonly { clientKey: number; paymentId: string }[],
  of: Of,
): Promise<readonly Hit[]> {
  if (keys.length === 0) return []
  const { rows } = await db.query<{
    id: string
    text: string
    client_id: string
    client_name: string
  }>({
    text: `select p.id, p.text, c.id as client_id, c.name as client_name
           from unnest($1::int[], $2::uuid[]) with ordinality as k (client_key, id, number)
           cross join lateral (
             select p.id, p.text, p.account_id from payments p
             where p.id = k.id and p.client_key = k.client_key limit 1) as p
           join clients c on c.client_key = k.client_key
           where not c.is_internal and ($3::int is null or c.client_key = $3)
             and ($4::uuid is null or p.account_id = $4)
           order by k.number limit ${HITS_MAX}`,
    values: [
      column('int', keys, (key) => key.clientKey),
      column('uuid', keys, (key) => key.paymentId),
      of.clientKey,
      of.accountId,
    ],
  })
  return rows.flatMap(({ text, ...row }) => {
    const summary = summaryOf(text)
    if (summary === null) return []
    const named = { ...row, name: summary.externalId, state: summary.status.state }
    return [{ ...toHit('payment', named), paymentId: row.id }]
  })
}

export async function findEventHit(db: Db, id: string, of: Of): Promise<Hit | null> {
  const found = await findEvent(db, id)
  if (found === null || (of.clientKey !== null && of.clientKey !== found.clientKey)) return null
  const { rows } = await db.query<HitRow & { payment_id: string }>({
    // Without a name, so that it is planned for this id: only then are other days left alone.
    text: `select e.id, e.kind as name, null as state, e.payment_id, c.id as client_id,
             c.name as client_name
           from events e join clients c on c.client_key = e.client_key
           where e.client_key = $1 and e.id = $2 and ($3::uuid is null or e.account_id = $3)
             and not c.is_internal`,
    values: [found.clientKey, id, of.accountId],
  })
  return rows[0] ? { ...toHit('event', rows[0]), paymentId: rows[0].payment_id } : null
}

function toHit(kind: Hit['kind'], row: HitRow): Hit {
  return {
    kind,
    id: row.id,
    name: row.name,
    state: row.state,
    paymentId: null,
    clientId: row.client_id,
    clientName: row.client_name,
  }
}
