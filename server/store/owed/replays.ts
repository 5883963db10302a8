// From final back to pending: a delivery that ended begins a new run. It moves in one statement, so
// that a reader finds it in one of the two tables at any moment, and of two who ask at once one wins.

import type { HandedOff } from '../../core/delivery/queued-delivery.ts'
import { uuidTimeMs } from '../../core/plain/uuid.ts'
import type { Db } from '../connection/db.ts'
import { reopenHoursOf } from '../proofs/statement-hours.ts'
import { column, writtenInstants } from '../sql/columns.ts'
import { lastingColumns } from '../sql/file-deliveries.ts'
import { byIndexOnly, IN_CELL } from '../sql/planner.ts'
import { idsWithin, STRETCH_MS, stretchAround, timesWithin } from '../sql/stretches.ts'
import { isWhole } from '../sql/whole-text.ts'
import { QUEUED_COLUMNS, type QueuedRow, toQueued } from './deliveries.ts'
import type { FinalKey } from './one-delivery.ts'

/** A delivery that has just become pending again; its time is infinite while its endpoint is not active. */
export type Replayed = HandedOff

/**
 * As many of these, in their order, as can be replayed in one transaction: those of a few days. What a
 * transaction has written stays locked until its end, with all indexes of the day.
 */
export function takeOfFewDays<K extends FinalKey>(keys: readonly K[]): readonly K[] {
  const isNear = (ms: (key: K) => number) => {
    const firstMs = keys[0] === undefined ? 0 : ms(keys[0])
    return (key: K) => Math.abs(ms(key) - firstMs) <= STRETCH_MS / 2
  }
  const [endedNear, madeNear] = [isNear(endedAtMs), isNear(({ id }) => uuidTimeMs(id))]
  const far = keys.findIndex((key) => !endedNear(key) || !madeNear(key))
  return far === -1 ? keys : keys.slice(0, far)
}

function endedAtMs({ finishedAt }: FinalKey): number {
  return new Date(finishedAt).getTime()
}

/**
 * Until the transaction ends, none of them is resumed or deleted. Where `isAlone`, no other transaction locks them
 * here either, and what follows sees all that those before have made.
 */
export async function lockEndpointsOf(
  db: Db,
  keys: readonly { clientKey: number; endpointId: string }[],
  { isAlone = false } = {},
): Promise<void> {
  const lanes = [...new Map(keys.map((key) => [key.endpointId, key])).values()]
  await db.query({
    name: isAlone ? 'lock-endpoints-of-missing' : 'lock-endpoints-of-replays',
    text: `select from endpoints e
           where (e.client_key, e.id) in (select * from unnest($1::int[], $2::uuid[]))
           order by e.client_key, e.id for ${isAlone ? 'no key update' : 'share'} of e`,
    values: [
      column('int', lanes, (key) => key.clientKey),
      column('uuid', lanes, (key) => key.endpointId),
    ],
  })
}

/**
 * Replays those of `keys` that are still final, whose endpoint is there and whose payload is kept.
 * To be called inside a transaction: the endpoints stay locked until it ends. So this cannot cross
 * with a resumption or a deletion: the second sees what the first has done.
 */
export async function replayDeliveries(
  db: Db,
  keys: readonly FinalKey[],
  now: Date,
): Promise<readonly Replayed[]> {
  if (keys.length === 0) return []
  const locked = lockEndpointsOf(db, keys)
  const endedWithin = stretchAround(keys.map(endedAtMs), 1_000)
  const madeWithin = stretchAround(
    keys.map(({ id }) => uuidTimeMs(id)),
    0,
  )
  // The attempt that a cancellation has found under way was over soon after it.
  const attemptedWithin = stretchAround(keys.map(endedAtMs))
  const moved = db.query<QueuedRow & PayloadRow>({
    // Planned for these days: see store/sql/stretches.ts. Due all at once, and never earlier than now: the due reader is
    // past that. The engine sends those of one payment in sequence (core/delivery/strand).
    text: `with given as (
             select * from unnest($1::int[], $2::uuid[], $3::timestamptz[])
             as g (client_key, id, finished_at)
           ), moved as materialized (
             -- From each key into the tables, never the other way round, whatever statistics say of a
             -- day that has just begun: so in steps that the planner does not turn about.
             select f.*, e.shard, e.is_active, v.text, v.document_hash, v.document_bytes
             from given g
             cross join lateral (
               select f.* from final_deliveries f
               where f.client_key = g.client_key and f.id = g.id and f.finished_at = g.finished_at
                 and ${timesWithin(endedWithin, 'f.finished_at')}
               for update of f) as f
             cross join lateral (
               select e.shard, e.status = 'ACTIVE' as is_active from endpoints e
               where e.client_key = f.client_key and e.id = f.endpoint_id and e.deleted_at is null
               limit 1) as e
             cross join lateral (
               select v.text, v.document_hash, v.document_bytes from events v
               where v.client_key = f.client_key and v.id = f.event_id
                 and ${idsWithin(madeWithin, 'v.id')} and ${isWhole('v.text')}
               limit 1) as v
           ), gone as (
             delete from final_deliveries f using moved m
             where ${byIndexOnly('f.client_key', 'm.client_key')} and f.id = m.id
               and f.finished_at = m.finished_at
               and ${timesWithin(endedWithin, 'f.finished_at')}
           ), kept as (
             insert into earlier_attempts
               (client_key, delivery_id, attempt, at, duration_ms, outcome, status, excerpt)
             select client_key, id, attempts, attempted_at, duration_ms, last_outcome, last_status,
               excerpt
             from moved where state = 'DELIVERED' and ${IN_CELL}
             -- It may be noted: as one that ended nothing, by a process that recorded it at the same moment.
             on conflict do nothing
           ), reopened as (
             ${reopenHoursOf('moved', "state <> 'DELIVERED'")}
           ), d as (
             select ${lastingColumns('moved')}, shard,
               case when is_active then $4::timestamptz end as next_attempt_at,
               -- What an attempt that was under way at the cancellation has brought is noted in the
               -- attempts and nowhere else.
               case when state <> 'CANCELLED' then attempts
                 else greatest(attempts, attempts_begun, (select max(a.attempt) from earlier_attempts a
                   where a.client_key = moved.client_key and a.delivery_id = moved.id
                     and ${timesWithin(attemptedWithin, 'a.at')}))
               end as attempts,
               0 as run_attempts, null::timestamptz as first_attempt_at,
               null::timestamptz as first_failed_at, null::timestamptz as deadline_at,
               true as is_replay, last_outcome, last_status, text, document_hash, document_bytes
             from moved
           ), put as (
             insert into pending_deliveries (${lastingColumns()}, shard, next_attempt_at, attempts,
               is_replay, last_outcome, last_status)
             select ${lastingColumns()}, shard, next_attempt_at, attempts, is_replay, last_outcome,
               last_status
             from d where ${IN_CELL})
           select ${QUEUED_COLUMNS}, d.text, d.document_hash, d.document_bytes from d
           order by d.id`,
    values: [
      column('int', keys, (key) => key.clientKey),
      column('uuid', keys, (key) => key.id),
      writtenInstants(keys, (key) => key.finishedAt),
      now,
    ],
  })
  const [, { rows }] = await Promise.all([locked, moved])
  return rows.map((row) => ({
    ...toQueued(row),
    hasElders: false,
    payload: {
      text: row.text,
      documentHash: row.document_hash,
      documentBytes: row.document_bytes,
    },
  }))
}

interface PayloadRow {
  text: string
  document_hash: Buffer | null
  document_bytes: number | null
}
