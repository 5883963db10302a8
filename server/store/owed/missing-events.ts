// Events that an endpoint was never owed: made before it was registered, or of a kind that it did not get then. They are
// found by a look through the events, and become deliveries as replays do: marked, outside the order of what flows.

import { deliveryId } from '../../core/delivery/fan-out.ts'
import type { HandedOff } from '../../core/delivery/queued-delivery.ts'
import { uuidTimeMs } from '../../core/plain/uuid.ts'
import type { Db } from '../connection/db.ts'
import { reopenHoursOf } from '../proofs/statement-hours.ts'
import { column } from '../sql/columns.ts'
import { lastingColumns } from '../sql/file-deliveries.ts'
import { IN_CELL } from '../sql/planner.ts'
import {
  idsWithin,
  STRETCH_MS,
  type Stretch,
  stretchAround,
  timesWithin,
} from '../sql/stretches.ts'
import { isWhole } from '../sql/whole-text.ts'
import { QUEUED_COLUMNS, type QueuedRow, toQueued } from './deliveries.ts'
import { lockEndpointsOf } from './replays.ts'

export interface EventSelection {
  clientKey: number
  /** Null: of all accounts. */
  accountId: string | null
  /** Null: all. */
  kinds: readonly string[] | null
}

/** The next ids within a few days, oldest first. What was erased has nothing to send. */
export async function readEventIds(
  db: Db,
  { clientKey, accountId, kinds }: EventSelection,
  within: Stretch,
  afterId: string,
  limit: number,
): Promise<readonly string[]> {
  const { rows } = await db.query<{ id: string }>({
    text: `select id from events
           where client_key = $1 and id > $2 and ${idsWithin(within, 'id')}
             and ($3::uuid is null or account_id = $3) and ($4::text[] is null or kind = any($4))
             and ${isWhole('text')}
           order by id limit $5`,
    values: [clientKey, afterId, accountId, kinds, limit],
  })
  return rows.map(({ id }) => id)
}

export interface MissingKey {
  clientKey: number
  /** Of the delivery: it follows from the event and the endpoint (core/delivery/fan-out). */
  id: string
  endpointId: string
}

/** As many of these, in their order, as one transaction makes: of a few days, whose events it has to read. */
export function takeMadeTogether<K extends MissingKey>(keys: readonly K[]): readonly K[] {
  const firstMs = keys[0] === undefined ? 0 : uuidTimeMs(keys[0].id)
  const far = keys.findIndex(({ id }) => Math.abs(uuidTimeMs(id) - firstMs) > STRETCH_MS / 2)
  return far === -1 ? keys : keys.slice(0, far)
}

/** Whatever has made one of them since it was selected has ended it after this long before the job began. */
const SELECTED_MS_MAX = 3_600_000

interface MadeRow extends QueuedRow {
  text: string
  document_hash: Buffer | null
  document_bytes: number | null
}

/**
 * Makes those that are not there yet, whose endpoint exists and whose event is kept. Inside a transaction: the
 * endpoints stay locked until it ends, so that this does not cross with a resumption or a deletion.
 */
export async function makeMissing(
  db: Db,
  keys: readonly MissingKey[],
  startedAt: Date,
  now: Date,
): Promise<readonly HandedOff[]> {
  if (keys.length === 0) return []
  // One after the other, and each sees what is owed or has ended by then. Otherwise a delivery that another one has
  // made could end between the look at what has ended and the insert, and be made twice.
  await lockEndpointsOf(db, keys, { isAlone: true })
  const madeWithin = stretchAround(
    keys.map(({ id }) => uuidTimeMs(id)),
    0,
  )
  const sinceSelected = {
    fromMs: startedAt.getTime() - SELECTED_MS_MAX,
    toMs: Number.POSITIVE_INFINITY,
  }
  const { rows } = await db.query<MadeRow>({
    // From each key into the tables, as in store/owed/replays.ts, and due all at once as there.
    text: `with missing as materialized (
             select g.client_key, g.id, v.id as event_id, g.endpoint_id, v.payment_id, v.account_id,
               v.sequence, v.kind, v.created_at, e.shard, e.is_active, v.text, v.document_hash,
               v.document_bytes,
               -- As in core/delivery/fan-out.ts.
               case when v.document_hash is not null then nullif(e.document, 'inline') end as document_mode
             from unnest($1::int[], $2::uuid[], $3::uuid[], $4::uuid[])
               as g (client_key, id, event_id, endpoint_id)
             cross join lateral (
               select e.shard, e.status = 'ACTIVE' as is_active, e.document from endpoints e
               where e.client_key = g.client_key and e.id = g.endpoint_id and e.deleted_at is null
               limit 1) as e
             cross join lateral (
               select v.* from events v
               where v.client_key = g.client_key and v.id = g.event_id
                 and ${idsWithin(madeWithin, 'v.id')} and ${isWhole('v.text')}
               limit 1) as v
             where (select true from final_deliveries f
               where f.client_key = g.client_key and f.id = g.id
                 and ${timesWithin(sinceSelected, 'f.finished_at')} limit 1) is null
               and (select true from pending_deliveries p
               where p.client_key = g.client_key and p.id = g.id limit 1) is null
           ), d as (
             select ${lastingColumns('missing')}, shard,
               case when is_active then $5::timestamptz end as next_attempt_at,
               0 as attempts, 0 as run_attempts, null::timestamptz as first_attempt_at,
               null::timestamptz as first_failed_at, null::timestamptz as deadline_at,
               true as is_replay, text, document_hash, document_bytes
             from missing
           ), made as (
             insert into pending_deliveries (${lastingColumns()}, shard, next_attempt_at, is_replay)
             select ${lastingColumns()}, shard, next_attempt_at, is_replay from d where ${IN_CELL}
             on conflict (client_key, id) do nothing
             returning id
           ), reopened as (
             ${reopenHoursOf('missing')})
           select ${QUEUED_COLUMNS}, d.text, d.document_hash, d.document_bytes
           from d where d.id = any(array(select id from made))
           order by d.next_attempt_at, d.id`,
    values: [
      column('int', keys, (key) => key.clientKey),
      column('uuid', keys, (key) => key.id),
      column('uuid', keys, (key) => deliveryId(key.id, key.endpointId)),
      column('uuid', keys, (key) => key.endpointId),
      now,
    ],
  })
  return rows.map(
    ({ text, document_hash: documentHash, document_bytes: documentBytes, ...row }) => ({
      ...toQueued(row),
      hasElders: false,
      payload: { text, documentHash, documentBytes },
    }),
  )
}
