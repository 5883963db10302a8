// The endpoints table. Every statement names the client, so that no client reaches another's row; a
// deleted endpoint stays for the history and is invisible here. Keys come and go sealed.

import { type Page, type PageRequest, pageOffset } from '../../core/asking/numbered-pages.ts'
import type { Endpoint, EndpointKind, EndpointStatus } from '../../core/delivery/endpoint.ts'
import type { EndpointSettings } from '../../core/delivery/endpoint-settings.ts'
import { NIL_UUID } from '../../core/plain/uuid.ts'
import type { Db } from '../connection/db.ts'
import { column } from '../sql/columns.ts'
import { hideLength } from '../sql/planner.ts'
import {
  SETTINGS_COLUMNS,
  type SettingsRow,
  settingsValues,
  toSettings,
} from './settings-columns.ts'

/** Where an endpoint is looked for. `accountId` narrows to one account when it is given. */
export interface EndpointScope {
  clientKey: number
  kind: EndpointKind
  accountId: string | null
}

/** A subscription belongs to the client as a whole: an account narrows what it is owed, never the subscription. */
function accountOf({ kind, accountId }: EndpointScope): string | null {
  return kind === 'subscription' ? null : accountId
}

export interface SealedHeader {
  name: string
  sealedValue: Buffer
}

export interface EndpointToSave extends EndpointScope {
  id: string
  shard: number
  url: string
  hrefHash: Buffer
  sealedKey: Buffer
  header: SealedHeader | null
  settings: EndpointSettings | null
}

export interface EndpointRow extends SettingsRow {
  id: string
  kind: EndpointKind
  account_id: string | null
  url: string
  status: EndpointStatus
  created_at: Date
}

interface LockedRow extends EndpointRow {
  shard: number
  inactive_since: Date | null
  header_name: string | null
}

const COLUMNS = `id, kind, account_id, shard, url, status, inactive_since, created_at, ${SETTINGS_COLUMNS}`

/** What is known of an endpoint whose address comes again. */
export interface SameAddress {
  id: string
  shard: number
  /** As it is stored: in another spelling, or changed by a hand that is not ours. */
  url: string
  sealedKey: Buffer
  /** Null where none is kept. */
  sealedPreviousKey: Buffer | null
  settings: EndpointSettings | null
}

/** The endpoint with this address, with its sealed key; and how many its door already has. */
export async function findByAddress(
  db: Db,
  scope: EndpointScope,
  hrefHash: Buffer,
): Promise<{ existing: SameAddress | null; count: number }> {
  const { rows } = await db.query<
    {
      count: number
      id: string | null
      shard: number
      url: string
      shared_key: Buffer
      previous_key: Buffer | null
    } & SettingsRow
  >({
    name: 'find-endpoint-by-address',
    text: `select counted.count, same.*
           from (select count(*) as count from endpoints
                 where client_key = $1 and scope = $2 and deleted_at is null) as counted
           left join (select id, shard, url, shared_key, previous_key, ${SETTINGS_COLUMNS}
                      from endpoints
                      where client_key = $1 and scope = $2 and href_hash = $3
                        and deleted_at is null) as same on true`,
    values: [scope.clientKey, scope.accountId ?? NIL_UUID, hrefHash],
  })
  const row = rows[0]
  if (row === undefined || row.id === null) return { existing: null, count: row?.count ?? 0 }
  const { id, shard, url, shared_key: sealedKey, previous_key: sealedPreviousKey } = row
  const keys = { sealedKey, sealedPreviousKey }
  return { existing: { id, shard, url, ...keys, settings: toSettings(row) }, count: row.count }
}

export async function insertEndpoint(db: Db, endpoint: EndpointToSave, now: Date): Promise<void> {
  await db.query({
    name: 'insert-endpoint',
    text: `insert into endpoints
             (client_key, id, kind, account_id, shard, url, href_hash, shared_key, header_name,
              header_value, created_at, changed_at, ${SETTINGS_COLUMNS})
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $11, $12, $13, $14, $15, $16, $17,
             $18, $19, $20, $21)`,
    values: [
      endpoint.clientKey,
      endpoint.id,
      endpoint.kind,
      endpoint.accountId,
      endpoint.shard,
      endpoint.url,
      endpoint.hrefHash,
      endpoint.sealedKey,
      endpoint.header?.name ?? null,
      endpoint.header?.sealedValue ?? null,
      now,
      ...settingsValues(endpoint.settings),
    ],
  })
}

/** What is still on its way goes to the new address. What is sealed for the endpoint has to be sealed for that one, too. */
export async function replaceAddress(
  db: Db,
  endpoint: { clientKey: number; id: string; url: string; hrefHash: Buffer },
  now: Date,
): Promise<void> {
  await db.query({
    text: `update endpoints set url = $3, href_hash = $4, changed_at = $5
           where client_key = $1 and id = $2`,
    values: [endpoint.clientKey, endpoint.id, endpoint.url, endpoint.hrefHash, now],
  })
}

/** A new key signs from now on; the previous one, if it is given, signs beside it until its end. */
export async function replaceKey(
  db: Db,
  clientKey: number,
  endpointId: string,
  key: { sealedKey: Buffer; sealedPreviousKey: Buffer | null; previousKeyUntil: Date | null },
  now: Date,
): Promise<void> {
  await db.query({
    text: `update endpoints set shared_key = $3, previous_key = $4, previous_key_until = $5,
             changed_at = $6
           where client_key = $1 and id = $2`,
    values: [
      clientKey,
      endpointId,
      key.sealedKey,
      key.sealedPreviousKey,
      key.previousKeyUntil,
      now,
    ],
  })
}

export async function replaceHeader(
  db: Db,
  clientKey: number,
  endpointId: string,
  header: SealedHeader | null,
  now: Date,
): Promise<void> {
  await db.query({
    text: `update endpoints set header_name = $3, header_value = $4, changed_at = $5
           where client_key = $1 and id = $2`,
    values: [clientKey, endpointId, header?.name ?? null, header?.sealedValue ?? null, now],
  })
}

export async function replaceSettings(
  db: Db,
  clientKey: number,
  endpointId: string,
  settings: EndpointSettings,
  now: Date,
): Promise<void> {
  await db.query({
    text: `update endpoints set (${SETTINGS_COLUMNS}) = ($4, $5, $6, $7, $8, $9, $10, $11, $12, $13),
             changed_at = $3
           where client_key = $1 and id = $2`,
    values: [clientKey, endpointId, now, ...settingsValues(settings)],
  })
}

export async function findEndpoint(
  db: Db,
  scope: EndpointScope,
  endpointId: string,
): Promise<Endpoint | null> {
  const { rows } = await db.query<EndpointRow>({
    text: `select ${COLUMNS} from endpoints
           where client_key = $1 and kind = $2 and id = $4
             and ($3::uuid is null or account_id = $3) and deleted_at is null`,
    values: [scope.clientKey, scope.kind, accountOf(scope), endpointId],
  })
  return rows[0] ? toEndpoint(rows[0]) : null
}

/** Deleted ones, too. */
export async function findStatedEndpoint(
  db: Db,
  scope: EndpointScope,
  endpointId: string,
): Promise<{ id: string; createdAt: Date } | null> {
  const { rows } = await db.query<{ id: string; created_at: Date }>({
    text: `select id, created_at from endpoints
           where client_key = $1 and kind = $2 and id = $4
             and ($3::uuid is null or account_id = $3)`,
    values: [scope.clientKey, scope.kind, accountOf(scope), endpointId],
  })
  const [row] = rows
  return row === undefined ? null : { id: row.id, createdAt: row.created_at }
}

/** More than any account and its client can have of their own. */
const OF_ACCOUNT_MAX = 200

/** Those that get the account's payments: its own, and those of all accounts of its client. */
export async function readEndpointsOfAccount(
  db: Db,
  clientKey: number,
  accountId: string,
): Promise<readonly Endpoint[]> {
  const { rows } = await db.query<EndpointRow>({
    name: 'read-endpoints-of-account',
    text: `select ${COLUMNS} from endpoints
           where client_key = $1 and scope in ($2, $3) and deleted_at is null and kind <> 'notice'
           order by created_at, id limit $4`,
    values: [clientKey, accountId, NIL_UUID, OF_ACCOUNT_MAX],
  })
  return rows.map(toEndpoint)
}

export interface EndpointPageRequest {
  scope: EndpointScope
  page: PageRequest
}

/** One page for each request, in their order; all of them in one statement, hence one snapshot. */
export async function listEndpoints(
  db: Db,
  requests: readonly EndpointPageRequest[],
): Promise<readonly Page<Endpoint>[]> {
  // The outer join keeps the count when a page is empty. Of the two halves one is always void: with an
  // account, or the scope of subscriptions, the index leads to its endpoints, without one to all of the client's.
  const { rows } = await db.query<{ number: number; total: number } & EndpointRow>({
    name: 'list-endpoints',
    text: `select q.number::int, found.*
           from unnest(${hideLength('$1', 'int[]')}, $2::text[], $3::uuid[], $4::int[], $5::bigint[])
             with ordinality as q (client_key, kind, account_id, size, skipped, number)
           cross join lateral (
             with matching as materialized (
               select ${COLUMNS} from endpoints
               where q.account_id is not null and client_key = q.client_key and scope = q.account_id
                 and kind = q.kind and deleted_at is null
               union all
               select ${COLUMNS} from endpoints
               where q.account_id is null and client_key = q.client_key
                 and kind = q.kind and deleted_at is null
             )
             select all_of_them.total, shown.*
             from (select count(*) as total from matching) as all_of_them
             left join (
               select * from matching order by created_at, id limit q.size offset q.skipped) as shown
               on true) as found
           order by q.number, found.created_at, found.id`,
    values: [
      column('int', requests, ({ scope }) => scope.clientKey),
      column('text', requests, ({ scope }) => scope.kind),
      column('uuid', requests, ({ scope }) =>
        scope.kind === 'subscription' ? NIL_UUID : scope.accountId,
      ),
      column('int', requests, ({ page }) => page.size),
      column('bigint', requests, ({ page }) => pageOffset(page)),
    ],
  })
  const pages = requests.map(({ page }) => ({ ...page, items: [] as Endpoint[], total: 0 }))
  for (const row of rows) {
    const page = pages[row.number - 1] as (typeof pages)[number]
    page.total = row.total
    if (row.id !== null) page.items.push(toEndpoint(row))
  }
  return pages
}

export interface LockedEndpoint {
  endpoint: Endpoint
  shard: number
  inactiveSince: Date | null
  /** The name of its extra header. */
  headerName: string | null
}

/** The endpoint as it is, locked until the transaction ends. */
export async function lockEndpoint(
  db: Db,
  scope: EndpointScope,
  endpointId: string,
): Promise<LockedEndpoint | null> {
  const { rows } = await db.query<LockedRow>({
    text: `select ${COLUMNS}, header_name from endpoints
           where client_key = $1 and kind = $2 and id = $4
             and ($3::uuid is null or account_id = $3) and deleted_at is null
           for no key update`,
    values: [scope.clientKey, scope.kind, accountOf(scope), endpointId],
  })
  const [row] = rows
  if (row === undefined) return null
  return {
    endpoint: toEndpoint(row),
    shard: row.shard,
    inactiveSince: row.inactive_since,
    headerName: row.header_name,
  }
}

/** `inactiveSince` is null exactly for an active endpoint. */
export async function saveStatus(
  db: Db,
  clientKey: number,
  endpointId: string,
  to: { status: EndpointStatus; inactiveSince: Date | null },
  now: Date,
): Promise<void> {
  await db.query({
    text: `update endpoints set status = $3, inactive_since = $4, changed_at = $5
           where client_key = $1 and id = $2`,
    values: [clientKey, endpointId, to.status, to.inactiveSince, now],
  })
}

export async function markDeleted(
  db: Db,
  clientKey: number,
  endpointId: string,
  now: Date,
): Promise<void> {
  await db.query({
    text: `update endpoints set deleted_at = $3, changed_at = $3
           where client_key = $1 and id = $2`,
    values: [clientKey, endpointId, now],
  })
}

export function toEndpoint(row: EndpointRow): Endpoint {
  return {
    id: row.id,
    kind: row.kind,
    accountId: row.account_id,
    url: row.url,
    status: row.status,
    createdAt: row.created_at,
    settings: toSettings(row),
  }
}
