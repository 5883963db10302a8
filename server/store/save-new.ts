// What a change makes: an event, its deliveries, and the payment where it is new. One statement, so that ids
// and texts travel and are read once, in two forms that share all but where their rows come from: arrays for
// many changes, and plain values for a single one, which takes two thirds of the time.

import type { NewEvent } from '../core/fan-out.ts'
import type { HandedOff } from '../core/queued-delivery.ts'
import { bytesColumn, plainColumn, textAt, textColumn } from './columns.ts'
import type { Db } from './db.ts'
import { ofAnyLength } from './planner.ts'

/** What is known of the payment besides its event. */
export interface ChangeToSave extends NewEvent {
  version: number | null
  /** Of several changes of one payment only the last is what the payment is now. */
  isLatest: boolean
  /** The payment did not exist before this transaction, which has locked it. */
  isNew: boolean
}

const SAVE_MANY = {
  name: 'save-new',
  // A delivery names its event by number, and what it takes over from the event is taken out of the events'
  // columns: a uuid costs as much to read as to look up in an index.
  text: saveStatement(
    `given as materialized (
       select client_key, id, payment_id, account_id, sequence, kind, document_hash,
         document_bytes, version, is_new_payment, ${textAt('$7')} as text
       from unnest(${ofAnyLength('$1', 'int[]')}, $2::uuid[], $3::uuid[], $4::uuid[], $5::int[], $6::text[],
         $9::bytea[], $10::int[], $11::bigint[], $12::boolean[], $13::int[], $14::int[])
       as g (client_key, id, payment_id, account_id, sequence, kind, document_hash,
         document_bytes, version, is_new_payment, start, length))`,
    `select ($1::int[])[event], id, ($2::uuid[])[event], endpoint_id, ($3::uuid[])[event],
       ($4::uuid[])[event], ($5::int[])[event], kind, shard, $8, $8, document_mode
     from unnest($15::uuid[], $16::int[], $17::uuid[], $18::text[], $19::smallint[], $20::text[])
       as d (id, event, endpoint_id, kind, shard, document_mode)`,
  ),
}

const SAVE_ONE = {
  name: 'save-new-one',
  text: saveStatement(
    `given (client_key, id, payment_id, account_id, sequence, kind, text, document_hash,
       document_bytes, version, is_new_payment) as (
       values ($1::int, $2::uuid, $3::uuid, $4::uuid, $5::int, $6::text, $7::text, $9::bytea,
         $10::int, $11::bigint, $12::boolean))`,
    `select g.client_key, d.id, g.id, d.endpoint_id, g.payment_id, g.account_id, g.sequence, g.kind,
       d.shard, $8, $8, d.document_mode
     from given g, unnest($13::uuid[], $14::uuid[], $15::smallint[], $16::text[])
       as d (id, endpoint_id, shard, document_mode)`,
  ),
}

/** `$8` is the time. */
function saveStatement(given: string, owed: string): string {
  return `with ${given}, paid as (
      insert into payments
        (client_key, id, account_id, sequence, version, text, document_hash, accepted_at, changed_at)
      select client_key, payment_id, account_id, sequence, version, text, document_hash,
        $8::timestamptz, $8
      from given where is_new_payment
    ), happened as (
      insert into events
        (client_key, id, payment_id, account_id, sequence, kind, text, document_hash,
         document_bytes, created_at)
      select client_key, id, payment_id, account_id, sequence, kind, text, document_hash,
        document_bytes, $8
      from given
    )
    insert into pending_deliveries
      (client_key, id, event_id, endpoint_id, payment_id, account_id, sequence, kind, shard,
       created_at, next_attempt_at, document_mode)
    ${owed}`
}

/** Payments that were there before are saved elsewhere. */
export async function saveNew(
  db: Db,
  changes: readonly ChangeToSave[],
  deliveries: readonly HandedOff[],
  now: Date,
): Promise<void> {
  const [change] = changes
  if (change === undefined) return
  if (changes.length === 1) {
    await db.query({ ...SAVE_ONE, values: valuesOfOne(change, deliveries, now) })
  } else await db.query({ ...SAVE_MANY, values: valuesOfMany(changes, deliveries, now) })
}

function valuesOfOne(change: ChangeToSave, deliveries: readonly HandedOff[], now: Date): unknown[] {
  return [
    change.clientKey,
    change.id,
    change.paymentId,
    change.accountId,
    change.sequence,
    change.kind,
    change.text,
    now,
    change.documentHash,
    change.documentBytes,
    change.version,
    change.isLatest && change.isNew,
    plainColumn(deliveries, (delivery) => delivery.id),
    plainColumn(deliveries, (delivery) => delivery.endpointId),
    plainColumn(deliveries, (delivery) => delivery.shard),
    plainColumn(deliveries, (delivery) => delivery.documentMode),
  ]
}

function valuesOfMany(
  changes: readonly ChangeToSave[],
  deliveries: readonly HandedOff[],
  now: Date,
): unknown[] {
  const texts = textColumn(changes, (change) => change.text)
  const numbers = new Map(changes.map(({ id }, index) => [id, index + 1]))
  return [
    plainColumn(changes, (change) => change.clientKey),
    plainColumn(changes, (change) => change.id),
    plainColumn(changes, (change) => change.paymentId),
    plainColumn(changes, (change) => change.accountId),
    plainColumn(changes, (change) => change.sequence),
    plainColumn(changes, (change) => change.kind),
    texts.bytes,
    now,
    bytesColumn(changes, (change) => change.documentHash),
    plainColumn(changes, (change) => change.documentBytes),
    plainColumn(changes, (change) => change.version),
    plainColumn(changes, (change) => change.isLatest && change.isNew),
    texts.starts,
    texts.lengths,
    plainColumn(deliveries, (delivery) => delivery.id),
    plainColumn(deliveries, (delivery) => numbers.get(delivery.eventId) as number),
    plainColumn(deliveries, (delivery) => delivery.endpointId),
    plainColumn(deliveries, (delivery) => delivery.kind),
    plainColumn(deliveries, (delivery) => delivery.shard),
    plainColumn(deliveries, (delivery) => delivery.documentMode),
  ]
}
