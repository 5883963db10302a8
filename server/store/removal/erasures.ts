// Erasing one payment: its text and those of its events are cut down to what a log needs, the excerpts of
// what receivers answered go, and files that nothing else names. Ids, states and times stay. To be called in
// one transaction, under the lock of the payment (store/payments/payments.ts); may be repeated.

import { ERASED_MARK } from '../../core/payments/erasure.ts'
import { uuidTimeMs } from '../../core/plain/uuid.ts'
import type { Db } from '../connection/db.ts'
import { releasing } from '../connection/snapshot.ts'
import { spansBefore } from '../history/delivery-lists.ts'
import { finalOfSpans } from '../history/delivery-sources.ts'
import { readFirstAcceptedMs } from '../history/event-spans.ts'
import type { PendingKey } from '../owed/one-delivery.ts'
import { type DocumentKey, deleteIfUnused } from '../payments/documents.ts'
import { column } from '../sql/columns.ts'
import { Parameters } from '../sql/parameters.ts'
import {
  byStretch,
  CLOCKS_APART_MS,
  idsWithin,
  readStretches,
  readStretchesSince,
  type Stretch,
  stretchAround,
  timesWithin,
} from '../sql/stretches.ts'
import { isWhole } from '../sql/whole-text.ts'

export interface PaymentKey {
  clientKey: number
  paymentId: string
}

/**
 * The instant is `$1`, the payment's id `$2`. The text is canonical (core/payments/payment-text), so its parts need
 * no escaping; a damaged one must not keep a payment from being erased.
 */
const ERASED_TEXT = `'{"id":"' || $2::uuid || '",${ERASED_MARK}' || $1::text || '"'
  || ',"status":{"state":"' || coalesce(text::json -> 'status' ->> 'state', 'DRAFT') || '"}'
  || ',"complete":' || coalesce(text::json ->> 'complete', 'false')
  || ',"createdAt":"' || coalesce(text::json ->> 'createdAt', $1) || '"'
  || coalesce(',"completedAt":"' || (text::json ->> 'completedAt') || '"', '') || '}'`

/**
 * Until the transaction ends, no delivery of the client is replayed: a replay locks its endpoint, too, and
 * looks for its payload under that lock.
 */
export async function lockEndpointsOf(db: Db, clientKey: number): Promise<void> {
  await db.query({
    name: 'lock-endpoints-of-client',
    text: `select from endpoints where client_key = $1 order by client_key, id for no key update`,
    values: [clientKey],
  })
}

export async function findPendingOf(
  db: Db,
  { clientKey, paymentId }: PaymentKey,
): Promise<readonly PendingKey[]> {
  const { rows } = await db.query<{ id: string; endpoint_id: string }>({
    name: 'find-pending-of-payment',
    text: `select p.id, p.endpoint_id from endpoints e cross join lateral (
             select p.id, p.endpoint_id from pending_deliveries p
             where p.endpoint_id = e.id and p.payment_id = $2 and p.client_key = e.client_key
             offset 0) as p
           where e.client_key = $1`,
    values: [clientKey, paymentId],
  })
  return rows.map((row) => ({ clientKey, id: row.id, endpointId: row.endpoint_id }))
}

/** Returns how many there are, and the files that it and they have named. */
export async function eraseTexts(
  db: Db,
  key: PaymentKey,
  now: Date,
): Promise<{ eventIds: readonly string[]; hashes: readonly Buffer[] }> {
  const events = await findEvents(releasing(db), key)
  const { rows } = await db.query<{ document_hash: Buffer | null }>(
    'select document_hash from payments where id = $1 and client_key = $2',
    [key.paymentId, key.clientKey],
  )
  await db.query(
    `update payments set text = ${ERASED_TEXT}, document_hash = null
     where id = $2 and client_key = $3 and ${isWhole('text')}`,
    [now.toISOString(), key.paymentId, key.clientKey],
  )
  const madeAtMs = ({ id }: { id: string }) => uuidTimeMs(id)
  for (const some of byStretch(events, madeAtMs)) {
    const within = stretchAround(some.map(madeAtMs), 0)
    await db.query(
      `update events set text = ${ERASED_TEXT}, document_hash = null, document_bytes = null
       where client_key = $3 and id = any($4::uuid[]) and ${idsWithin(within, 'id')}
         and ${isWhole('text')}`,
      [now.toISOString(), key.paymentId, key.clientKey, column('uuid', some, ({ id }) => id)],
    )
  }
  const named = [...rows, ...events].flatMap((row) => row.document_hash ?? [])
  return { eventIds: events.map(({ id }) => id), hashes: named }
}

interface EventRow {
  id: string
  document_hash: Buffer | null
}

async function findEvents(db: Db, { clientKey, paymentId }: PaymentKey): Promise<EventRow[]> {
  const sinceMs = (await readFirstAcceptedMs(db, [{ clientKey, paymentId }])) - CLOCKS_APART_MS
  const found: EventRow[] = []
  for (const stretch of await readStretchesSince(db, 'events', sinceMs)) {
    const { rows } = await db.query<EventRow>(
      `select id, document_hash from events
       where client_key = $1 and payment_id = $2 and ${idsWithin(stretch, 'id')}`,
      [clientKey, paymentId],
    )
    found.push(...rows)
  }
  return found
}

/** What receivers answered may repeat what they were sent. All deliveries of the events have ended. */
export async function eraseExcerpts(
  db: Db,
  clientKey: number,
  eventIds: readonly string[],
): Promise<void> {
  const reader = releasing(db)
  const deliveries: string[] = []
  for (const stretch of await readStretches(reader, 'final_deliveries')) {
    const found = await findDeliveries(reader, clientKey, eventIds, stretch)
    if (found === null) break
    await eraseExcerptsOf200(db, clientKey, found, stretch)
    deliveries.push(...found)
  }
  const attempts = await findExcerpts(reader, clientKey, deliveries)
  const atMs = ({ at }: ExcerptRow) => at.getTime()
  for (const some of byStretch(attempts, atMs)) {
    await db.query(
      `update earlier_attempts set excerpt = null
       where client_key = $1 and delivery_id = any($2::uuid[]) and excerpt is not null
         and ${timesWithin(stretchAround(some.map(atMs), 1_000), 'at')}`,
      [clientKey, column('uuid', [...new Set(some.map((row) => row.delivery_id))], (id) => id)],
    )
  }
}

/** Those that ended within the stretch; null when none can have ended there or before. */
async function findDeliveries(
  db: Db,
  clientKey: number,
  eventIds: readonly string[],
  stretch: Stretch,
): Promise<readonly string[] | null> {
  const spans = eventIds.map((eventId) => ({ clientKey, eventId }))
  const before = spansBefore(spans, stretch)
  if (before.length === 0) return null
  const parameters = new Parameters()
  const { text } = finalOfSpans(before, parameters, stretch)
  const { rows } = await db.query<{ id: string }>({
    text: `select d.id from (${text}) as d`,
    values: parameters.values,
  })
  return rows.map(({ id }) => id)
}

/** The attempt that delivered is kept in its delivery's row (decision 0020). */
async function eraseExcerptsOf200(
  db: Db,
  clientKey: number,
  deliveryIds: readonly string[],
  stretch: Stretch,
): Promise<void> {
  if (deliveryIds.length === 0) return
  await db.query(
    `update final_deliveries set excerpt = null
     where client_key = $1 and id = any($2::uuid[]) and excerpt is not null
       and ${timesWithin(stretch, 'finished_at')}`,
    [clientKey, column('uuid', deliveryIds, (id) => id)],
  )
}

interface ExcerptRow {
  delivery_id: string
  at: Date
}

async function findExcerpts(
  db: Db,
  clientKey: number,
  deliveryIds: readonly string[],
): Promise<readonly ExcerptRow[]> {
  if (deliveryIds.length === 0) return []
  const sinceMs = stretchAround(deliveryIds.map(uuidTimeMs)).fromMs
  const found: ExcerptRow[] = []
  for (const stretch of await readStretchesSince(db, 'earlier_attempts', sinceMs)) {
    const { rows } = await db.query<ExcerptRow>(
      `select delivery_id, at from earlier_attempts
       where client_key = $1 and delivery_id = any($2::uuid[]) and excerpt is not null
         and ${timesWithin(stretch, 'at')}`,
      [clientKey, column('uuid', deliveryIds, (id) => id)],
    )
    found.push(...rows)
  }
  return found
}

/** Files that no other payment names, nor its events. Returns how many went. */
export async function eraseFiles(
  db: Db,
  clientKey: number,
  hashes: readonly Buffer[],
): Promise<number> {
  if (hashes.length === 0) return 0
  const { rows } = await db.query<DocumentKey>(
    // A file that a transaction uses at this moment is about to be named again: it stays.
    `select client_key, hash, created_at::text from documents
     where client_key = $1 and hash = any($2::bytea[])
     order by hash for update skip locked`,
    [clientKey, column('bytea', hashes, (hash) => hash)],
  )
  return deleteIfUnused(db, releasing(db), rows)
}
