// What a change makes: an event, its deliveries, and the payment where it is new. In two forms. For many changes: arrays,
// and a statement for each table, sent together; if one statement had all, Citus would hand what was given to every node
// of its cluster, also to one that is dead. For a single change: plain values and one statement, no part of which reads
// another, so that Citus has nothing to hand on.

import type { NewEvent } from '../../core/delivery/fan-out.ts'
import type { HandedOff } from '../../core/delivery/queued-delivery.ts'
import type { Db } from '../connection/db.ts'
import { column, textAt, textColumn } from '../sql/columns.ts'
import { hideLength } from '../sql/planner.ts'

/** What is known of the payment besides its event. */
export interface ChangeToSave extends NewEvent {
  version: number | null
  /** Of several changes of one payment only the last is what the payment is now. */
  isLatest: boolean
  /** The payment did not exist before this transaction, which has locked it. */
  isNew: boolean
}

const PAYMENT_COLUMNS =
  'client_key, id, account_id, sequence, version, document_hash, text, accepted_at, changed_at'
const EVENT_COLUMNS = `client_key, id, payment_id, account_id, sequence, kind, text, document_hash,
  document_bytes, created_at`
const DELIVERY_COLUMNS = `client_key, id, event_id, endpoint_id, payment_id, account_id, sequence, kind, shard,
  created_at, next_attempt_at, document_mode`

const SAVE_PAYMENTS = {
  name: 'save-new-payments',
  text: `insert into payments (${PAYMENT_COLUMNS})
    select client_key, id, account_id, sequence, version, document_hash, ${textAt('$7')},
      $8::timestamptz, $8
    from unnest(${hideLength('$1', 'int[]')}, $2::uuid[], $3::uuid[], $4::int[], $5::bigint[], $6::bytea[],
      $9::int[], $10::int[])
    as g (client_key, id, account_id, sequence, version, document_hash, start, length)`,
}

const SAVE_EVENTS = {
  name: 'save-new-events',
  text: `insert into events (${EVENT_COLUMNS})
    select client_key, id, payment_id, account_id, sequence, kind, ${textAt('$7')}, document_hash,
      document_bytes, $8::timestamptz
    from unnest(${hideLength('$1', 'int[]')}, $2::uuid[], $3::uuid[], $4::uuid[], $5::int[], $6::text[],
      $9::bytea[], $10::int[], $11::int[], $12::int[])
    as g (client_key, id, payment_id, account_id, sequence, kind, document_hash, document_bytes,
      start, length)`,
}

const SAVE_DELIVERIES = {
  name: 'save-new-deliveries',
  // A delivery names its event by number, and what it takes over from the event is taken out of the events'
  // columns: a uuid costs as much to read as to look up in an index.
  text: `insert into pending_deliveries (${DELIVERY_COLUMNS})
    select ($1::int[])[event], id, ($2::uuid[])[event], endpoint_id, ($3::uuid[])[event],
      ($4::uuid[])[event], ($5::int[])[event], kind, shard, $6::timestamptz, $6, document_mode
    from unnest(${hideLength('$7', 'uuid[]')}, $8::int[], $9::uuid[], $10::text[], $11::smallint[], $12::text[])
      as d (id, event, endpoint_id, kind, shard, document_mode)`,
}

const SAVE_ONE = {
  known: { name: 'save-new-one', text: saveOneStatement('') },
  new: {
    name: 'save-new-one-with-payment',
    text: saveOneStatement(`, paid as (
      insert into payments (${PAYMENT_COLUMNS})
      values ($1, $3, $4, $5, $15, $8, $7, $10, $10))`),
  },
}

function saveOneStatement(paid: string): string {
  return `with happened as (
      insert into events (${EVENT_COLUMNS}) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
    )${paid}
    insert into pending_deliveries (${DELIVERY_COLUMNS})
    select $1, id, $2, endpoint_id, $3, $4, $5, $6, shard, $10, $10, document_mode
    from unnest(${hideLength('$11', 'uuid[]')}, $12::uuid[], $13::smallint[], $14::text[])
      as d (id, endpoint_id, shard, document_mode)`
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
  if (changes.length === 1) await saveOne(db, change, deliveries, now)
  else await Promise.all(saveMany(db, changes, deliveries, now))
}

async function saveOne(
  db: Db,
  change: ChangeToSave,
  deliveries: readonly HandedOff[],
  now: Date,
): Promise<void> {
  const { clientKey, id, paymentId, accountId, sequence, kind, text, documentHash } = change
  const values = [
    clientKey,
    id,
    paymentId,
    accountId,
    sequence,
    kind,
    text,
    documentHash,
    change.documentBytes,
    now,
    column('uuid', deliveries, (delivery) => delivery.id),
    column('uuid', deliveries, (delivery) => delivery.endpointId),
    column('smallint', deliveries, (delivery) => delivery.shard),
    column('text', deliveries, (delivery) => delivery.documentMode),
  ]
  if (change.isLatest && change.isNew) {
    await db.query({ ...SAVE_ONE.new, values: [...values, change.version] })
  } else await db.query({ ...SAVE_ONE.known, values })
}

function saveMany(
  db: Db,
  changes: readonly ChangeToSave[],
  deliveries: readonly HandedOff[],
  now: Date,
): Promise<unknown>[] {
  const clientKeys = column('int', changes, (change) => change.clientKey)
  const ids = column('uuid', changes, (change) => change.id)
  const paymentIds = column('uuid', changes, (change) => change.paymentId)
  const accountIds = column('uuid', changes, (change) => change.accountId)
  const sequences = column('int', changes, (change) => change.sequence)
  const texts = textColumn(changes, (change) => change.text)
  const sent: Promise<unknown>[] = []
  const paid = changes.filter(({ isLatest, isNew }) => isLatest && isNew)
  if (paid.length > 0)
    sent.push(db.query({ ...SAVE_PAYMENTS, values: valuesOfPayments(paid, now) }))
  const kinds = column('text', changes, (change) => change.kind)
  const hashes = column('bytea', changes, (change) => change.documentHash)
  const sizes = column('int', changes, (change) => change.documentBytes)
  const events = [clientKeys, ids, paymentIds, accountIds, sequences, kinds, texts.bytes, now]
  sent.push(
    db.query({ ...SAVE_EVENTS, values: [...events, hashes, sizes, texts.starts, texts.lengths] }),
  )
  if (deliveries.length > 0) {
    const numbers = new Map(changes.map(({ id }, index) => [id, index + 1]))
    const values = [
      clientKeys,
      ids,
      paymentIds,
      accountIds,
      sequences,
      now,
      column('uuid', deliveries, (delivery) => delivery.id),
      column('int', deliveries, (delivery) => numbers.get(delivery.eventId) as number),
      column('uuid', deliveries, (delivery) => delivery.endpointId),
      column('text', deliveries, (delivery) => delivery.kind),
      column('smallint', deliveries, (delivery) => delivery.shard),
      column('text', deliveries, (delivery) => delivery.documentMode),
    ]
    sent.push(db.query({ ...SAVE_DELIVERIES, values }))
  }
  return sent
}

function valuesOfPayments(changes: readonly ChangeToSave[], now: Date): unknown[] {
  const texts = textColumn(changes, (change) => change.text)
  return [
    column('int', changes, (change) => change.clientKey),
    column('uuid', changes, (change) => change.paymentId),
    column('uuid', changes, (change) => change.accountId),
    column('int', changes, (change) => change.sequence),
    column('bigint', changes, (change) => change.version),
    column('bytea', changes, (change) => change.documentHash),
    texts.bytes,
    now,
    texts.starts,
    texts.lengths,
  ]
}
