// The event_traces table: in which trace an event was accepted. Written only while tracing is on.

import { DAY_MS } from '../../core/delivery/backoff.ts'
import type { Db } from '../connection/db.ts'
import { column } from '../sql/columns.ts'

/** A run lasts 7 days from its first attempt. A replay of something older has nothing to link to. */
const KEPT_MS = 8 * DAY_MS

export async function saveEventTraces(
  db: Db,
  events: readonly { clientKey: number; eventId: string }[],
  traceparent: string,
  now: Date,
): Promise<void> {
  await db.query({
    name: 'save-event-traces',
    text: `insert into event_traces (client_key, event_id, traceparent, created_at)
           select client_key, event_id, $3, $4
           from unnest($1::int[], $2::uuid[]) as e (client_key, event_id)
           on conflict do nothing`,
    values: [
      column('int', events, (event) => event.clientKey),
      column('uuid', events, (event) => event.eventId),
      traceparent,
      now,
    ],
  })
}

export async function readEventTrace(
  db: Db,
  clientKey: number,
  eventId: string,
): Promise<string | null> {
  const { rows } = await db.query<{ traceparent: string }>({
    name: 'read-event-trace',
    text: 'select traceparent from event_traces where client_key = $1 and event_id = $2',
    values: [clientKey, eventId],
  })
  return rows[0]?.traceparent ?? null
}

export async function deleteOldEventTraces(db: Db, now: Date): Promise<void> {
  await db.query('delete from event_traces where created_at < $1', [
    new Date(now.getTime() - KEPT_MS),
  ])
}
