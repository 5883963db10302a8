// What makes a change owed: the payment as it is now, the event, and one delivery for each endpoint that
// exists now, whatever its status. core/fan-out decides who is owed what; here the endpoints are read for it,
// inside the accepting transaction, and what it has decided is saved.

import { fanOut, type ListeningEndpoint, type NewEvent } from '../core/fan-out.ts'
import type { HandedOff } from '../core/queued-delivery.ts'
import { NIL_UUID } from '../core/uuid.ts'
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

/**
 * The endpoints that listen to these accounts, or to all accounts of their clients. One that is deleted
 * after this read is owed what follows from it, as if it were deleted after the commit: the engine asks for
 * an endpoint before it sends anything to it, and cancels what a deleted one is owed (settleInactive).
 */
export async function readListening(
  db: Db,
  clientKeys: ReadonlyMap<string, number>,
): Promise<readonly ListeningEndpoint[]> {
  // A webhook has its account as its scope, a subscription the nil uuid. Each scope is asked for once.
  const scopes: [number, string][] = []
  for (const clientKey of new Set(clientKeys.values())) scopes.push([clientKey, NIL_UUID])
  for (const [accountId, clientKey] of clientKeys) {
    if (accountId !== NIL_UUID) scopes.push([clientKey, accountId])
  }
  const { rows } = await db.query<{
    client_key: number
    id: string
    account_id: string | null
    shard: number
  }>({
    name: 'read-listening',
    // offset 0 keeps the planner from reading all endpoints instead, as it does while it knows nothing of them.
    text: `select e.* from unnest(${ofAnyLength('$1', 'int[]')}, $2::uuid[]) as g (client_key, scope)
           cross join lateral (
             select e.client_key, e.id, e.account_id, e.shard from endpoints e
             where e.client_key = g.client_key and e.scope = g.scope and e.deleted_at is null
             offset 0) as e`,
    values: [
      plainColumn(scopes, ([clientKey]) => clientKey),
      plainColumn(scopes, ([, scope]) => scope),
    ],
  })
  return rows.map(({ client_key: clientKey, id, account_id: accountId, shard }) => ({
    clientKey,
    id,
    accountId,
    shard,
  }))
}

/** For events without a payment. */
export async function saveEventsAndFanOut(
  db: Db,
  events: readonly NewEvent[],
  now: Date,
): Promise<readonly HandedOff[]> {
  const clientKeys = new Map(events.map(({ accountId, clientKey }) => [accountId, clientKey]))
  const deliveries = fanOut(events, await readListening(db, clientKeys), now.getTime())
  const changes = events.map((event) => ({
    ...event,
    version: null,
    isLatest: false,
    isNew: false,
  }))
  await saveChanges(db, changes, deliveries, now)
  return deliveries
}

/** Saves payments, events and deliveries, and completes what the deliveries say of their elders. */
export async function saveChanges(
  db: Db,
  changes: readonly ChangeToSave[],
  deliveries: readonly HandedOff[],
  now: Date,
): Promise<void> {
  if (changes.length === 0) return
  const known = changes.filter(({ isLatest, isNew }) => isLatest && !isNew)
  await Promise.all([
    markElders(db, deliveries),
    saveKnownPayments(db, known, now),
    saveNew(db, changes, deliveries, now),
  ])
}

/** One statement, so that ids and texts travel and are read once. */
async function saveNew(
  db: Db,
  changes: readonly ChangeToSave[],
  deliveries: readonly HandedOff[],
  now: Date,
): Promise<void> {
  const texts = textColumn(changes, (change) => change.text)
  // A delivery names its event by number, and what it takes over from the event is taken out of the events'
  // columns: a uuid costs as much to read as to look up in an index.
  const numbers = new Map(changes.map(({ id }, index) => [id, index + 1]))
  await db.query({
    name: 'save-new',
    text: `with given as materialized (
             select client_key, id, payment_id, account_id, sequence, kind, document_hash,
               document_bytes, version, is_new_payment, ${textAt('$7')} as text
             from unnest(${ofAnyLength('$1', 'int[]')}, $2::uuid[], $3::uuid[], $4::uuid[], $5::int[], $6::text[],
               $9::bytea[], $10::int[], $11::int[], $12::int[], $13::bigint[], $14::boolean[])
             as g (client_key, id, payment_id, account_id, sequence, kind, document_hash,
               document_bytes, start, length, version, is_new_payment)
           ), paid as (
             insert into payments
               (client_key, id, account_id, sequence, version, text, document_hash, accepted_at,
                changed_at)
             select client_key, payment_id, account_id, sequence, version, text, document_hash,
               $8::timestamptz, $8::timestamptz
             from given where is_new_payment
           ), happened as (
             insert into events
               (client_key, id, payment_id, account_id, sequence, kind, text, document_hash,
                document_bytes, created_at)
             select client_key, id, payment_id, account_id, sequence, kind, text, document_hash,
               document_bytes, $8::timestamptz
             from given
           )
           insert into pending_deliveries
             (client_key, id, event_id, endpoint_id, payment_id, account_id, sequence, kind, shard,
              created_at, next_attempt_at)
           select ($1::int[])[event], id, ($2::uuid[])[event], endpoint_id, ($3::uuid[])[event],
             ($4::uuid[])[event], ($5::int[])[event], kind, shard, $8::timestamptz, $8::timestamptz
           from unnest($15::uuid[], $16::int[], $17::uuid[], $18::text[], $19::smallint[])
             as d (id, event, endpoint_id, kind, shard)`,
    values: [
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
      texts.starts,
      texts.lengths,
      plainColumn(changes, (change) => change.version),
      plainColumn(changes, (change) => change.isLatest && change.isNew),
      plainColumn(deliveries, (delivery) => delivery.id),
      plainColumn(deliveries, (delivery) => numbers.get(delivery.eventId) as number),
      plainColumn(deliveries, (delivery) => delivery.endpointId),
      plainColumn(deliveries, (delivery) => delivery.kind),
      plainColumn(deliveries, (delivery) => delivery.shard),
    ],
  })
}

/** Inserts one that retention has deleted since it was locked. */
async function saveKnownPayments(
  db: Db,
  payments: readonly ChangeToSave[],
  now: Date,
): Promise<void> {
  if (payments.length === 0) return
  const texts = textColumn(payments, (payment) => payment.text)
  await db.query({
    name: 'save-known-payments',
    text: `insert into payments
             (client_key, id, account_id, sequence, version, document_hash, text, accepted_at,
              changed_at)
           select client_key, id, account_id, sequence, version, document_hash, ${textAt('$7')},
             $8::timestamptz, $8::timestamptz
           from unnest(${ofAnyLength('$1', 'int[]')}, $2::uuid[], $3::uuid[], $4::int[], $5::bigint[],
             $6::bytea[], $9::int[], $10::int[])
           as g (client_key, id, account_id, sequence, version, document_hash, start, length)
           on conflict (id, client_key) do update set
             sequence = excluded.sequence, version = excluded.version, text = excluded.text,
             document_hash = excluded.document_hash, changed_at = excluded.changed_at`,
    values: [
      plainColumn(payments, (payment) => payment.clientKey),
      plainColumn(payments, (payment) => payment.paymentId),
      plainColumn(payments, (payment) => payment.accountId),
      plainColumn(payments, (payment) => payment.sequence),
      plainColumn(payments, (payment) => payment.version),
      bytesColumn(payments, (payment) => payment.documentHash),
      texts.bytes,
      now,
      texts.starts,
      texts.lengths,
    ],
  })
}

/** Asks only for later updates; sent before the new rows, so that none of them is taken for its own elder. */
async function markElders(db: Db, deliveries: readonly HandedOff[]): Promise<void> {
  const later = deliveries.filter(({ sequence, hasElders }) => sequence > 1 && !hasElders)
  if (later.length === 0) return
  const { rows } = await db.query<{ number: number }>({
    name: 'find-elders',
    text: `select g.number::int from unnest(${ofAnyLength('$1', 'int[]')}, $2::uuid[], $3::uuid[])
             with ordinality as g (client_key, endpoint_id, payment_id, number)
           cross join lateral (
             select from pending_deliveries p
             where p.client_key = g.client_key and p.endpoint_id = g.endpoint_id
               and p.payment_id = g.payment_id limit 1) as elder`,
    values: [
      plainColumn(later, (delivery) => delivery.clientKey),
      plainColumn(later, (delivery) => delivery.endpointId),
      plainColumn(later, (delivery) => delivery.paymentId),
    ],
  })
  for (const { number } of rows) (later[number - 1] as HandedOff).hasElders = true
}
