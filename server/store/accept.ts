// The statement that makes a change owed: the payment as it is now, the event, and one delivery for each
// endpoint that exists now, whatever its status. One statement, so that ids and texts travel and are read
// once. It reads the endpoints itself: a list cached elsewhere would miss one that was registered a moment
// ago.

import type { HandedOff } from '../core/queued-delivery.ts'
import { NIL_UUID } from '../core/uuid.ts'
import { bytesColumn, plainColumn, textAt, textColumn } from './columns.ts'
import type { Db } from './db.ts'
import type { EventToSave } from './events.ts'
import { ofAnyLength } from './planner.ts'

interface OwedRow {
  id: string
  event_id: string
  endpoint_id: string
  shard: number
  has_elders: boolean
}

/** What is known of the payment besides its event. */
export interface ChangeToSave extends EventToSave {
  version: number | null
  /** Of several changes of one payment only the last is what the payment is now. */
  isLatest: boolean
}

/** Notices are events without a payment. */
export function saveEventsAndFanOut(
  db: Db,
  events: readonly EventToSave[],
  now: Date,
): Promise<readonly HandedOff[]> {
  const changes = events.map((event) => ({ ...event, version: null, isLatest: false }))
  return saveChangesAndFanOut(db, changes, now)
}

/** Saves payments, events and deliveries; returns the deliveries in the order of their events. */
export async function saveChangesAndFanOut(
  db: Db,
  events: readonly ChangeToSave[],
  now: Date,
): Promise<readonly HandedOff[]> {
  if (events.length === 0) return []
  const texts = textColumn(events, (event) => event.text)
  // A delivery's id takes its time from its event and its rest from the database's dice, because
  // only this statement knows how many there will be: a UUIDv7 like all others.
  // has_elders looks at the snapshot from before this statement: elders of the same call are added below.
  const { rows } = await db.query<OwedRow>({
    name: 'save-changes-and-fan-out',
    text: `with given as materialized (
             select client_key, id, payment_id, account_id, sequence, kind, document_hash,
               document_bytes, version, is_latest, ${textAt('$7')} as text
             from unnest(${ofAnyLength('$1', 'int[]')}, $2::uuid[], $3::uuid[], $4::uuid[], $5::int[], $6::text[],
               $9::bytea[], $10::int[], $11::int[], $12::int[], $13::bigint[], $14::boolean[])
             as g (client_key, id, payment_id, account_id, sequence, kind, document_hash,
               document_bytes, start, length, version, is_latest)
           ), paid as (
             insert into payments
               (client_key, id, account_id, sequence, version, text, document_hash, accepted_at,
                changed_at)
             select client_key, payment_id, account_id, sequence, version, text, document_hash,
               $8::timestamptz, $8::timestamptz
             from given where is_latest
             on conflict (id, client_key) do update set
               sequence = excluded.sequence, version = excluded.version, text = excluded.text,
               document_hash = excluded.document_hash, changed_at = excluded.changed_at
           ), happened as (
             insert into events
               (client_key, id, payment_id, account_id, sequence, kind, text, document_hash,
                document_bytes, created_at)
             select client_key, id, payment_id, account_id, sequence, kind, text, document_hash,
               document_bytes, $8::timestamptz
             from given
           ), owed as (
             insert into pending_deliveries
               (client_key, id, event_id, endpoint_id, payment_id, account_id, sequence, kind, shard,
                created_at, next_attempt_at)
             select g.client_key,
               (left(g.id::text, 14) || '7' || substr(gen_random_uuid()::text, 16))::uuid,
               g.id, e.id, g.payment_id, g.account_id, g.sequence, g.kind, e.shard, $8, $8
             from given g cross join lateral (
               -- From each change to its endpoints: offset 0 keeps the planner from reading all
               -- endpoints instead, as it does while it knows nothing of them.
               select e.id, e.shard from endpoints e
               where e.client_key = g.client_key and e.deleted_at is null
                 and e.scope in (g.account_id, '${NIL_UUID}') offset 0) as e
             returning client_key, id, event_id, endpoint_id, payment_id, sequence, shard
           )
           select o.id, o.event_id, o.endpoint_id, o.shard,
             -- Not \`exists\`, which may read all that is owed into a table of its own.
             o.sequence > 1 and (
               select true from pending_deliveries p
               where p.client_key = o.client_key and p.endpoint_id = o.endpoint_id
                 and p.payment_id = o.payment_id limit 1) is not null as has_elders
           from owed o`,
    values: [
      plainColumn(events, (event) => event.clientKey),
      plainColumn(events, (event) => event.id),
      plainColumn(events, (event) => event.paymentId),
      plainColumn(events, (event) => event.accountId),
      plainColumn(events, (event) => event.sequence),
      plainColumn(events, (event) => event.kind),
      texts.bytes,
      now,
      bytesColumn(events, (event) => event.documentHash),
      plainColumn(events, (event) => event.documentBytes),
      texts.starts,
      texts.lengths,
      plainColumn(events, (event) => event.version),
      plainColumn(events, (event) => event.isLatest),
    ],
  })
  const rowsByEvent = Map.groupBy(rows, (row) => row.event_id)
  const laterEvents = findLaterEvents(events)
  return events.flatMap((event) =>
    (rowsByEvent.get(event.id) ?? []).map((row) => ({
      clientKey: event.clientKey,
      id: row.id,
      eventId: event.id,
      endpointId: row.endpoint_id,
      paymentId: event.paymentId,
      sequence: event.sequence,
      kind: event.kind,
      shard: row.shard,
      nextAttemptAtMs: now.getTime(),
      attempts: 0,
      runAttempts: 0,
      firstAttemptAtMs: null,
      firstFailedAtMs: null,
      deadlineAtMs: null,
      isReplay: false,
      hasElders: row.has_elders || laterEvents.has(event.id),
      payload: {
        text: event.text,
        documentHash: event.documentHash,
        documentBytes: event.documentBytes,
      },
    })),
  )
}

/** The events, by id, that follow another one of their payment in the same call. */
function findLaterEvents(events: readonly EventToSave[]): ReadonlySet<string> {
  const payments = new Set<string>()
  const later = new Set<string>()
  for (const { id, paymentId, sequence } of events) {
    if (sequence > 1 && payments.has(paymentId)) later.add(id)
    payments.add(paymentId)
  }
  return later
}
