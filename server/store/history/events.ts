// The events table: every accepted change of every payment, immutable, in sequence within its payment.

import type { Pool } from 'pg'
import { uuidTimeMs } from '../../core/plain/uuid.ts'
import type { Db } from '../connection/db.ts'
import { inSnapshot } from '../connection/snapshot.ts'
import { column } from '../sql/columns.ts'
import {
  byStretch,
  CLOCKS_APART_MS,
  idCeiling,
  idsWithin,
  readStretches,
  type Stretch,
  stretchAround,
} from '../sql/stretches.ts'
import { isWhole } from '../sql/whole-text.ts'
import { readFirstAcceptedMs } from './event-spans.ts'

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

/** By event id; events that are gone or erased are left out. */
export async function readPayloads(
  db: Db,
  keys: readonly EventKey[],
): Promise<ReadonlyMap<string, Payload>> {
  const madeAtMs = (key: EventKey) => uuidTimeMs(key.eventId)
  const parts = byStretch(keys, madeAtMs).map((some) =>
    readPayloadsWithin(db, some, stretchAround(some.map(madeAtMs), 0)),
  )
  return new Map((await Promise.all(parts)).flat())
}

async function readPayloadsWithin(
  db: Db,
  keys: readonly EventKey[],
  stretch: Stretch,
): Promise<readonly [string, Payload][]> {
  const { rows } = await db.query<{
    id: string
    text: string
    document_hash: Buffer | null
    document_bytes: number | null
  }>({
    // From each key into the day: of a day that has just begun the planner knows nothing.
    text: `select e.* from unnest($1::int[], $2::uuid[]) as k (client_key, id)
           cross join lateral (
             select e.id, e.text, e.document_hash, e.document_bytes from events e
             where e.client_key = k.client_key and e.id = k.id
               and ${idsWithin(stretch, 'e.id')} and ${isWhole('e.text')} limit 1) as e`,
    values: [
      column('int', keys, (key) => key.clientKey),
      column('uuid', keys, (key) => key.eventId),
    ],
  })
  return rows.map((row) => [
    row.id,
    { text: row.text, documentHash: row.document_hash, documentBytes: row.document_bytes },
  ])
}

export interface EventView {
  id: string
  paymentId: string
  sequence: number
  kind: string
  createdAt: Date
  text: string
}

interface EventRow {
  id: string
  payment_id: string
  sequence: number
  kind: string
  created_at: Date
  text: string
}

/** The events of one payment, newest first, those before `beforeSequence` if it is given. */
export function readEventsOfPayment(
  pool: Pool,
  clientKey: number,
  paymentId: string,
  page: { limit: number; beforeSequence: number | null },
): Promise<readonly EventView[]> {
  return inSnapshot(pool, async (db) => {
    const sinceMs = (await readFirstAcceptedMs(db, [{ clientKey, paymentId }])) - CLOCKS_APART_MS
    let found: EventRow[] = []
    for (const stretch of await readStretches(db, 'events')) {
      if (stretch.toMs <= sinceMs) break
      // By the clocks of two processes, update 2 may have the earlier id: only what is newer than that by
      // far tells that nothing newer is to come.
      const surely = found.filter(({ id }) => id >= idCeiling(stretch))
      if (surely.length >= page.limit) break
      const { rows } = await db.query<EventRow>({
        text: `select id, payment_id, sequence, kind, created_at, text from events
               where client_key = $1 and payment_id = $2 and sequence < coalesce($3, 2147483647)
                 and ${idsWithin(stretch, 'id')}
               order by sequence desc limit $4`,
        values: [clientKey, paymentId, page.beforeSequence, page.limit],
      })
      found = [...found, ...rows]
        .toSorted((one, other) => other.sequence - one.sequence)
        .slice(0, page.limit)
    }
    return found.map(toEventView)
  })
}

function toEventView(row: EventRow): EventView {
  return {
    id: row.id,
    paymentId: row.payment_id,
    sequence: row.sequence,
    kind: row.kind,
    createdAt: row.created_at,
    text: row.text,
  }
}
