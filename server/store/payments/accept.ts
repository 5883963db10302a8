// What makes a change owed: the payment as it is now, the event, and one delivery for each endpoint that
// exists now and hears it, whatever its status. core/delivery/fan-out decides who is owed what; here the endpoints are
// read for it, inside the accepting transaction, and what it has decided is saved.

import type { DocumentMode, EventChoice } from '../../core/delivery/endpoint-settings.ts'
import { fanOut, type ListeningEndpoint, type NewEvent } from '../../core/delivery/fan-out.ts'
import type { HandedOff } from '../../core/delivery/queued-delivery.ts'
import { NIL_UUID } from '../../core/plain/uuid.ts'
import type { Db } from '../connection/db.ts'
import { column, textAt, textColumn } from '../sql/columns.ts'
import { hideLength } from '../sql/planner.ts'
import { type ChangeToSave, saveNew } from './save-new.ts'

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
    events: EventChoice[] | null
    document: DocumentMode | null
  }>({
    name: 'read-listening',
    // offset 0 keeps the planner from reading all endpoints instead, as it does while it knows nothing of them.
    text: `select e.* from unnest(${hideLength('$1', 'int[]')}, $2::uuid[]) as g (client_key, scope)
           cross join lateral (
             select e.client_key, e.id, e.account_id, e.shard, e.events, e.document
             from endpoints e
             where e.client_key = g.client_key and e.scope = g.scope and e.deleted_at is null
             offset 0) as e`,
    values: [
      column('int', scopes, ([clientKey]) => clientKey),
      column('uuid', scopes, ([, scope]) => scope),
    ],
  })
  return rows.map(({ client_key: clientKey, account_id: accountId, ...row }) => ({
    clientKey,
    accountId,
    id: row.id,
    shard: row.shard,
    events: row.events,
    document: row.document,
  }))
}

/** For events without a payment; to all that listen, or to `given` and no others. */
export async function saveEventsAndFanOut(
  db: Db,
  events: readonly NewEvent[],
  now: Date,
  given?: readonly ListeningEndpoint[],
): Promise<readonly HandedOff[]> {
  const clientKeys = new Map(events.map(({ accountId, clientKey }) => [accountId, clientKey]))
  const listening = given ?? (await readListening(db, clientKeys))
  const deliveries = fanOut(events, listening, now.getTime())
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
           from unnest(${hideLength('$1', 'int[]')}, $2::uuid[], $3::uuid[], $4::int[], $5::bigint[],
             $6::bytea[], $9::int[], $10::int[])
           as g (client_key, id, account_id, sequence, version, document_hash, start, length)
           on conflict (id, client_key) do update set
             sequence = excluded.sequence, version = excluded.version, text = excluded.text,
             document_hash = excluded.document_hash, changed_at = excluded.changed_at`,
    values: [
      column('int', payments, (payment) => payment.clientKey),
      column('uuid', payments, (payment) => payment.paymentId),
      column('uuid', payments, (payment) => payment.accountId),
      column('int', payments, (payment) => payment.sequence),
      column('bigint', payments, (payment) => payment.version),
      column('bytea', payments, (payment) => payment.documentHash),
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
    text: `select g.number::int from unnest(${hideLength('$1', 'int[]')}, $2::uuid[], $3::uuid[])
             with ordinality as g (client_key, endpoint_id, payment_id, number)
           cross join lateral (
             select from pending_deliveries p
             where p.client_key = g.client_key and p.endpoint_id = g.endpoint_id
               and p.payment_id = g.payment_id limit 1) as elder`,
    values: [
      column('int', later, (delivery) => delivery.clientKey),
      column('uuid', later, (delivery) => delivery.endpointId),
      column('uuid', later, (delivery) => delivery.paymentId),
    ],
  })
  for (const { number } of rows) (later[number - 1] as HandedOff).hasElders = true
}
