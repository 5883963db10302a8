// What the operator, and the client, has been told of each endpoint, and what there is to tell. One process at a time
// decides (an advisory lock); what is told commits together with the notices themselves, so that no
// change is told twice or not at all, whichever process dies in between.

import type { EndpointStatus } from '../../core/delivery/endpoint.ts'
import type {
  NoticedEndpoint,
  NoticePolicy,
  NoticeReader,
  Told,
} from '../../core/delivery/notice.ts'
import type { Db } from '../connection/db.ts'
import { LOCKS, takeLock, tryLock } from '../connection/locks.ts'
import { column } from '../sql/columns.ts'
import { IN_CELL, owedTo } from '../sql/planner.ts'
import { stretchAround, timesWithin } from '../sql/stretches.ts'

const HOUR_MS = 3_600_000
/** Counting what waits for a dead endpoint stops here. */
const PENDING_COUNTED_MAX = 100_000

/** Where it stands what each reader has been told. */
const TABLES = {
  operator: { told: 'endpoint_notices', progress: 'notice_progress' },
  client: { told: 'client_endpoint_notices', progress: 'client_notice_progress' },
} as const satisfies Record<NoticeReader, object>

/** A condition: clients without an address for notices are not asked about. `$1` is Paybell's own client. */
function isToBeTold(reader: NoticeReader, clientKey: string): string {
  if (reader === 'operator') return `${clientKey} <> $1`
  return `${clientKey} in (
               select c.client_key from endpoints t join clients c on c.id = t.scope
               where t.client_key = $1 and t.kind = 'client-notice' and t.deleted_at is null)`
}

/** False when another process decides at this moment. Held until the transaction ends. */
export function tryLockNotices(db: Db): Promise<boolean> {
  return tryLock(db, LOCKS.notices)
}

/** Until the transaction ends, no other one changes where notices go, nor decides on any. */
export async function lockNotices(db: Db): Promise<void> {
  await takeLock(db, LOCKS.notices)
}

/** No client has an address: nothing is counted until one has, and then from that moment on. */
export async function endClientNotices(db: Db): Promise<void> {
  await db.query('delete from client_notice_progress')
}

/** A client has an address: what is exhausted is counted from now on, unless it was already. */
export async function beginCounting(db: Db, now: Date): Promise<void> {
  await db.query({
    text: `insert into client_notice_progress (exhausted_until) values ($1)
           on conflict (is_only) do nothing`,
    values: [now],
  })
}

/** A client begins to get notices, or begins again: the same, of its own endpoints. */
export async function beginClientNotices(db: Db, clientKey: number, now: Date): Promise<void> {
  await beginCounting(db, now)
  await db.query({
    text: 'delete from client_endpoint_notices where client_key = $1',
    values: [clientKey],
  })
}

/** From now on: what happened before is not told of, except for what is still so. */
export async function beginNotices(db: Db, now: Date): Promise<void> {
  await db.query({
    text: `insert into notice_progress (exhausted_until) values ($1)
           on conflict (is_only) do update set exhausted_until = excluded.exhausted_until`,
    values: [now],
  })
  await db.query(
    `update endpoint_notices set failing_since = null, failing_told = 0, disabled_since = null,
       exhausted_untold = 0, exhausted_told_at = null`,
  )
}

/**
 * Adds to each endpoint's count what was exhausted since the last time. `until` lies so far back that
 * no transaction can still add to what is before it; a long gap is made up for an hour at a time.
 */
export async function countExhausted(
  db: Db,
  noticeClientKey: number,
  until: Date,
  reader: NoticeReader = 'operator',
): Promise<void> {
  const { told, progress } = TABLES[reader]
  const { rows } = await db.query<{ after: Date }>({
    name: `read-exhausted-until-for-${reader}`,
    text: `select exhausted_until as after from ${progress} where exhausted_until < $1`,
    values: [until],
  })
  const after = rows[0]?.after.getTime()
  if (after === undefined) return
  // Planned for these days (store/sql/stretches.ts); what is exact stands below.
  const within = timesWithin(stretchAround([after, after + HOUR_MS], 1_000), 'f.finished_at')
  await db.query({
    text: `with span as (
             select exhausted_until as after,
               least($2::timestamptz, exhausted_until + interval '1 hour') as until
             from ${progress} where exhausted_until < $2
           ), counted as (
             select f.client_key, f.endpoint_id, count(*)::int as count
             from span join final_deliveries f
               on f.finished_at > span.after and f.finished_at <= span.until and ${within}
             where f.state = 'EXHAUSTED' and ${isToBeTold(reader, 'f.client_key')}
             group by f.client_key, f.endpoint_id
           ), added as (
             insert into ${told} as n
               (client_key, endpoint_id, exhausted_total, exhausted_untold)
             select client_key, endpoint_id, count, count from counted where ${IN_CELL}
             on conflict (client_key, endpoint_id) do update set
               exhausted_total = n.exhausted_total + excluded.exhausted_total,
               exhausted_untold = n.exhausted_untold + excluded.exhausted_untold
           )
           update ${progress} p set exhausted_until = span.until from span`,
    values: [noticeClientKey, until],
  })
}

/** A deleted endpoint is no longer a matter for notices. */
export async function forgetDeleted(db: Db, reader: NoticeReader = 'operator'): Promise<void> {
  await db.query({
    name: `forget-notices-of-deleted-for-${reader}`,
    text: `delete from ${TABLES[reader].told} n using endpoints e
           where (n.failing_since is not null or n.exhausted_untold > 0)
             and e.client_key = n.client_key and e.id = n.endpoint_id and e.deleted_at is not null`,
  })
}

export interface EndpointToTell {
  clientKey: number
  endpoint: NoticedEndpoint
  told: Told
}

interface ToTellRow {
  client_key: number
  id: string
  kind: string
  client_id: string
  account_id: string | null
  url: string
  status: EndpointStatus
  inactive_since: Date | null
  failing_since: Date | null
  last_success_at: Date | null
  last_error: string | null
  pending: number
  sequence: number | null
  told_failing_since: Date | null
  failing_told: number | null
  disabled_since: Date | null
  exhausted_total: number | null
  exhausted_untold: number | null
  exhausted_told_at: Date | null
}

/** Endpoints of which something may be due to be told; core/delivery/notice decides. */
export async function readEndpointsToTell(
  db: Db,
  noticeClientKey: number,
  policy: NoticePolicy,
  at: { now: Date; limit: number },
): Promise<readonly EndpointToTell[]> {
  const before = (ms: number) => new Date(at.now.getTime() - ms)
  const { reader } = policy
  const { told } = TABLES[reader]
  const { rows } = await db.query<ToTellRow>({
    name: `read-endpoints-to-tell-${reader}`,
    text: `with failing as (
             select h.client_key, h.endpoint_id from endpoint_health h
             join endpoints e on e.client_key = h.client_key and e.id = h.endpoint_id
             left join ${told} n
               on n.client_key = h.client_key and n.endpoint_id = h.endpoint_id
             where h.failing_since <= $2 and e.status = 'ACTIVE' and e.deleted_at is null
               and ${isToBeTold(reader, 'h.client_key')}
               and (select count(*) from unnest($3::timestamptz[]) as step
                    where h.failing_since <= step)
                 > case when n.failing_since = h.failing_since then n.failing_told else 0 end
             order by h.failing_since limit $5
           ), recovered as (
             select n.client_key, n.endpoint_id from ${told} n
             left join endpoint_health h
               on h.client_key = n.client_key and h.endpoint_id = n.endpoint_id
             where n.failing_since is not null
               and (h.failing_since is null or h.failing_since > n.failing_since)
             limit $5
           ), disabled as (
             select e.client_key, e.id from endpoints e
             left join ${told} n on n.client_key = e.client_key and n.endpoint_id = e.id
             where e.status = 'DISABLED' and e.deleted_at is null
               and n.disabled_since is distinct from e.inactive_since
               and ${isToBeTold(reader, 'e.client_key')}
             limit $5
           ), exhausted as (
             select n.client_key, n.endpoint_id from ${told} n
             where n.exhausted_untold > 0
               and (n.exhausted_told_at is null or n.exhausted_told_at <= $4)
             limit $5
           ), of_interest as (
             select * from failing union select * from recovered
             union select * from disabled union select * from exhausted
           )
           select e.client_key, e.id, e.kind, c.id as client_id, e.account_id, e.url, e.status,
             e.inactive_since, h.failing_since, h.last_success_at, h.last_error,
             (select count(*)::int from (
                select from pending_deliveries p
                where ${owedTo('p', 'e.client_key', 'e.id')}
                limit ${PENDING_COUNTED_MAX}) as one) as pending,
             n.sequence, n.failing_since as told_failing_since, n.failing_told, n.disabled_since,
             n.exhausted_total, n.exhausted_untold, n.exhausted_told_at
           from of_interest i (client_key, endpoint_id)
           join endpoints e on e.client_key = i.client_key and e.id = i.endpoint_id
           join clients c on c.client_key = e.client_key
           left join endpoint_health h on h.client_key = e.client_key and h.endpoint_id = e.id
           left join ${told} n on n.client_key = e.client_key and n.endpoint_id = e.id
           where e.deleted_at is null and ${isToBeTold(reader, 'e.client_key')}
           order by e.id limit $5`,
    values: [
      noticeClientKey,
      before(policy.failingAfterMs[0] ?? 0),
      column('timestamptz', policy.failingAfterMs, (ms) => before(ms).getTime()),
      before(policy.exhaustedEveryMs),
      at.limit,
    ],
  })
  return rows.map(toEndpointToTell)
}

function toEndpointToTell(row: ToTellRow): EndpointToTell {
  return {
    clientKey: row.client_key,
    endpoint: {
      id: row.id,
      kind: row.kind,
      clientId: row.client_id,
      accountId: row.account_id,
      url: row.url,
      status: row.status,
      inactiveSinceMs: toMs(row.inactive_since),
      failingSinceMs: toMs(row.failing_since),
      lastSuccessAtMs: toMs(row.last_success_at),
      lastError: row.last_error,
      pending: row.pending,
    },
    told: {
      sequence: row.sequence ?? 0,
      failingSinceMs: toMs(row.told_failing_since),
      failingTold: row.failing_told ?? 0,
      disabledSinceMs: toMs(row.disabled_since),
      exhaustedTotal: row.exhausted_total ?? 0,
      exhaustedUntold: row.exhausted_untold ?? 0,
      exhaustedToldAtMs: toMs(row.exhausted_told_at),
    },
  }
}

export interface ToldEndpoint {
  clientKey: number
  endpointId: string
  told: Told
}

export async function saveTold(
  db: Db,
  rows: readonly ToldEndpoint[],
  reader: NoticeReader = 'operator',
): Promise<void> {
  if (rows.length === 0) return
  await db.query({
    name: `save-told-${reader}`,
    text: `insert into ${TABLES[reader].told}
             (client_key, endpoint_id, sequence, failing_since, failing_told, disabled_since,
              exhausted_total, exhausted_untold, exhausted_told_at)
           select * from unnest($1::int[], $2::uuid[], $3::int[], $4::timestamptz[], $5::smallint[],
             $6::timestamptz[], $7::bigint[], $8::int[], $9::timestamptz[])
           on conflict (client_key, endpoint_id) do update set
             sequence = excluded.sequence, failing_since = excluded.failing_since,
             failing_told = excluded.failing_told, disabled_since = excluded.disabled_since,
             exhausted_total = excluded.exhausted_total,
             exhausted_untold = excluded.exhausted_untold,
             exhausted_told_at = excluded.exhausted_told_at`,
    values: [
      column('int', rows, (row) => row.clientKey),
      column('uuid', rows, (row) => row.endpointId),
      column('int', rows, ({ told }) => told.sequence),
      column('timestamptz', rows, ({ told }) => told.failingSinceMs),
      column('smallint', rows, ({ told }) => told.failingTold),
      column('timestamptz', rows, ({ told }) => told.disabledSinceMs),
      column('bigint', rows, ({ told }) => told.exhaustedTotal),
      column('int', rows, ({ told }) => told.exhaustedUntold),
      column('timestamptz', rows, ({ told }) => told.exhaustedToldAtMs),
    ],
  })
}

function toMs(date: Date | null): number | null {
  return date?.getTime() ?? null
}
