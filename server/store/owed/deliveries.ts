// What is owed, as the engine reads it: due work by shard, and the updates of one payment that one
// endpoint still waits for. Also what happens to all of an endpoint's deliveries at once.

import type { DeliverMode, DocumentInstead } from '../../core/delivery/endpoint-settings.ts'
import type { QueuedDelivery } from '../../core/delivery/queued-delivery.ts'
import type { Db } from '../connection/db.ts'
import { column } from '../sql/columns.ts'
import { hideLength, later, owedTo } from '../sql/planner.ts'

export interface DueCursor {
  shard: number
  /** Rows after this instant and id; the id breaks ties. */
  afterMs: number
  afterId: string
}

export interface QueuedRow {
  client_key: number
  id: string
  event_id: string
  endpoint_id: string
  payment_id: string
  sequence: number
  kind: string
  shard: number
  next_attempt_at: Date
  attempts: number
  run_attempts: number
  first_attempt_at: Date | null
  first_failed_at: Date | null
  deadline_at: Date | null
  is_replay: boolean
  document_mode: DocumentInstead
}

export const QUEUED_COLUMNS = `d.client_key, d.id, d.event_id, d.endpoint_id, d.payment_id, d.sequence, d.kind,
  d.shard, d.next_attempt_at, d.attempts, d.run_attempts, d.first_attempt_at, d.first_failed_at,
  d.deadline_at, d.is_replay, d.document_mode`

/** Each shard's rows that are due until `untilMs`, forward from its cursor, in order of due time. */
export async function readDue(
  db: Db,
  cursors: readonly DueCursor[],
  untilMs: number,
  limitPerShard: number,
): Promise<readonly QueuedDelivery[]> {
  if (cursors.length === 0) return []
  const { rows } = await db.query<QueuedRow>({
    name: 'read-due',
    text: `select ${QUEUED_COLUMNS}
           from unnest($1::smallint[], $2::timestamptz[], $3::uuid[]) as c (shard, after_at, after_id)
           cross join lateral (
             select * from pending_deliveries p
             where p.shard = c.shard and p.next_attempt_at is not null
               and (p.next_attempt_at, p.id) > (c.after_at, c.after_id)
               and p.next_attempt_at <= $4
             order by p.next_attempt_at, p.id limit $5) as d`,
    values: [
      column('smallint', cursors, (cursor) => cursor.shard),
      column('timestamptz', cursors, (cursor) => cursor.afterMs),
      column('uuid', cursors, (cursor) => cursor.afterId),
      new Date(untilMs),
      limitPerShard,
    ],
  })
  return rows.map(toQueued)
}

export interface StrandKey {
  clientKey: number
  endpointId: string
  paymentId: string
  /** Left out: every. */
  deliver?: DeliverMode | undefined
}

/**
 * The owed updates of each strand in sequence, at most `limitEach` of each; replays are not among them.
 * Of a strand that is longer, also those that decide its order: the newest whose run has begun and what
 * comes after it, at most as many again. Under `latest` these are the newest of all.
 */
export async function readStrands(
  db: Db,
  keys: readonly StrandKey[],
  limitEach: number,
): Promise<readonly QueuedDelivery[]> {
  const latest = keys.filter(({ deliver }) => deliver === 'latest')
  if (latest.length === 0) return readOldest(db, keys, limitEach)
  const others = keys.filter(({ deliver }) => deliver !== 'latest')
  const oldest = await readOldest(db, others, limitEach)
  return [...oldest, ...(await readNewest(db, latest, limitEach))]
}

function ofStrand(p: string): string {
  return `${p}.client_key = k.client_key
    and ${p}.endpoint_id = k.endpoint_id and ${p}.payment_id = k.payment_id and not ${p}.is_replay`
}

async function readNewest(
  db: Db,
  keys: readonly StrandKey[],
  limitEach: number,
): Promise<readonly QueuedDelivery[]> {
  const { rows } = await db.query<QueuedRow>({
    name: 'read-newest-of-strands',
    text: `select ${QUEUED_COLUMNS}
           from unnest(${hideLength('$1', 'int[]')}, $2::uuid[], $3::uuid[])
             as k (client_key, endpoint_id, payment_id)
           cross join lateral (
             select * from pending_deliveries p where ${ofStrand('p')}
             order by p.sequence desc limit $4) as d
           order by d.sequence`,
    // Two at least: whether there is an older one decides what the outcome of the newest ends.
    values: [...strandColumns(keys), Math.max(2, limitEach)],
  })
  return rows.map(toQueued)
}

async function readOldest(
  db: Db,
  keys: readonly StrandKey[],
  limitEach: number,
): Promise<readonly QueuedDelivery[]> {
  if (keys.length === 0) return []
  const { rows } = await db.query<QueuedRow>({
    name: 'read-strands',
    text: `select ${QUEUED_COLUMNS}
           from unnest(${hideLength('$1', 'int[]')}, $2::uuid[], $3::uuid[])
             as k (client_key, endpoint_id, payment_id)
           cross join lateral (
             with oldest as materialized (
               select * from pending_deliveries p where ${ofStrand('p')} order by p.sequence limit $4
             ), page as materialized (
               select count(*) as rows, max(sequence) as last from oldest)
             select * from oldest
             union all
             -- Nearly always a strand fits, and this is not run.
             (select * from pending_deliveries p
              where (select rows from page) = $4 and ${ofStrand('p')}
                and p.sequence > (select last from page) and p.sequence >= (
                  select max(a.sequence) from pending_deliveries a
                  where ${ofStrand('a')} and (a.attempts > 0 or a.first_attempt_at is not null)
                    and a.sequence >= (select last from page))
              order by p.sequence limit $4)) as d
           order by d.sequence`,
    values: [...strandColumns(keys), limitEach],
  })
  return rows.map(toQueued)
}

function strandColumns(keys: readonly StrandKey[]): unknown[] {
  return [
    column('int', keys, (key) => key.clientKey),
    column('uuid', keys, (key) => key.endpointId),
    column('uuid', keys, (key) => key.paymentId),
  ]
}

export function toQueued(row: QueuedRow): QueuedDelivery {
  return {
    clientKey: row.client_key,
    id: row.id,
    eventId: row.event_id,
    endpointId: row.endpoint_id,
    paymentId: row.payment_id,
    sequence: row.sequence,
    kind: row.kind,
    shard: row.shard,
    // Null while parked: such a row is in a strand only to keep its place, and is never due.
    nextAttemptAtMs: row.next_attempt_at?.getTime() ?? Number.POSITIVE_INFINITY,
    attempts: row.attempts,
    runAttempts: row.run_attempts,
    firstAttemptAtMs: row.first_attempt_at?.getTime() ?? null,
    firstFailedAtMs: row.first_failed_at?.getTime() ?? null,
    // A run that has begun on disk, to go ahead of an older update, does not end before its first attempt.
    deadlineAtMs: row.run_attempts === 0 ? null : (row.deadline_at?.getTime() ?? null),
    isReplay: row.is_replay,
    documentMode: row.document_mode,
  }
}

/** How much of the pause from $3 to $4 came after this. */
function pausedSince(at: string): string {
  return `greatest(interval '0', $4 - greatest($3, ${at}))`
}

/**
 * The endpoint is active again: all that it is owed is due now, and the time that it was not active does not
 * count against the 7 days. What was parked stays parked; its lane takes it up, in order and no faster than the
 * endpoint can bear.
 */
export async function releaseDeliveriesOf(
  db: Db,
  clientKey: number,
  endpointId: string,
  inactiveSince: Date,
  now: Date,
): Promise<void> {
  await db.query({
    name: 'release-deliveries-of-endpoint',
    // Patience too: an update that failed before the pause must not be given up on because of it.
    text: `update pending_deliveries p set
             next_attempt_at = case when p.next_attempt_at is not null then $4 end,
             deadline_at = ${later('deadline_at', pausedSince('first_attempt_at'))},
             first_failed_at = ${later('first_failed_at', pausedSince('first_failed_at'))}
           where ${owedTo('p', '$1', '$2')} and (deadline_at is not null or p.next_attempt_at > $4)`,
    values: [clientKey, endpointId, inactiveSince, now],
  })
}
