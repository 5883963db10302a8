// The events table: every accepted change of every payment, immutable, in sequence within its payment.

import { plainColumn } from './columns.ts'
import type { Db } from './db.ts'

export interface EventToSave {
  clientKey: number
  id: string
  paymentId: string
  accountId: string
  sequence: number
  kind: string
  /** The payment's canonical text: the callback body, but for the file content. */
  text: string
  documentHash: Uint8Array | null
  documentBytes: number | null
}

/** A body as it is sent: the text, and the file that is spliced into it. */
export interface Payload {
  text: string
  documentHash: Uint8Array | null
  /** Characters of base64. */
  documentBytes: number | null
}

export interface EventKey {
  clientKey: number
  eventId: string
}

/** By event id; events that are gone are left out. */
export async function readPayloads(
  db: Db,
  keys: readonly EventKey[],
): Promise<ReadonlyMap<string, Payload>> {
  const { rows } = await db.query<{
    id: string
    text: string
    document_hash: Buffer | null
    document_bytes: number | null
  }>({
    name: 'read-payloads',
    text: `select e.id, e.text, e.document_hash, e.document_bytes
           from unnest($1::int[], $2::uuid[]) as k (client_key, id)
           join events e on e.client_key = any(array[k.client_key]) and e.id = any(array[k.id])`,
    values: [plainColumn(keys, (key) => key.clientKey), plainColumn(keys, (key) => key.eventId)],
  })
  return new Map(
    rows.map((row) => [
      row.id,
      { text: row.text, documentHash: row.document_hash, documentBytes: row.document_bytes },
    ]),
  )
}

export interface EventView {
  id: string
  paymentId: string
  sequence: number
  kind: string
  createdAt: Date
  text: string
}

/** The events of one payment, newest first, those before `beforeSequence` if it is given. */
export async function readEventsOfPayment(
  db: Db,
  clientKey: number,
  paymentId: string,
  page: { limit: number; beforeSequence: number | null },
): Promise<readonly EventView[]> {
  const { rows } = await db.query<{
    id: string
    payment_id: string
    sequence: number
    kind: string
    created_at: Date
    text: string
  }>({
    name: 'read-events-of-payment',
    text: `select id, payment_id, sequence, kind, created_at, text from events
           where client_key = $1 and payment_id = $2 and sequence < coalesce($3, 2147483647)
           order by sequence desc limit $4`,
    values: [clientKey, paymentId, page.beforeSequence, page.limit],
  })
  return rows.map((row) => ({
    id: row.id,
    paymentId: row.payment_id,
    sequence: row.sequence,
    kind: row.kind,
    createdAt: row.created_at,
    text: row.text,
  }))
}
