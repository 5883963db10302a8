// The events table: every accepted change of every payment, immutable, in sequence within its payment.

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

export async function readPayload(
  db: Db,
  clientKey: number,
  eventId: string,
): Promise<Payload | null> {
  const { rows } = await db.query<{
    text: string
    document_hash: Buffer | null
    document_bytes: number | null
  }>({
    name: 'read-payload',
    text: `select text, document_hash, document_bytes from events
           where client_key = $1 and id = $2`,
    values: [clientKey, eventId],
  })
  const [row] = rows
  if (row === undefined) return null
  return {
    text: row.text,
    documentHash: row.document_hash,
    documentBytes: row.document_bytes,
  }
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
