// Endpoints hour by hour: the last 24 for the small curve beside each of them, and one with its durations.

import { DAY_MS } from '../../core/delivery/backoff.ts'
import type { Db } from '../connection/db.ts'
import { column } from '../sql/columns.ts'

/** Hours without an attempt are left out. */
export interface EndpointHour {
  at: Date
  attempts: number
  delivered: number
}

export async function readEndpointHours(
  db: Db,
  endpoints: readonly { clientKey: number; id: string }[],
  now: Date,
): Promise<ReadonlyMap<string, readonly EndpointHour[]>> {
  const hours = new Map<string, EndpointHour[]>(endpoints.map(({ id }) => [id, []]))
  if (endpoints.length === 0) return hours
  const { rows } = await db.query<{ endpoint_id: string; hour: Date } & Omit<EndpointHour, 'at'>>({
    name: 'read-hours-of-endpoints',
    text: `select o.endpoint_id, o.hour, o.attempts, o.delivered
           from unnest($1::int[], $2::uuid[]) as k (client_key, endpoint_id)
           join endpoint_hours o on o.client_key = k.client_key and o.endpoint_id = k.endpoint_id
             and o.hour > $3
           order by o.hour`,
    values: [
      column('int', endpoints, (endpoint) => endpoint.clientKey),
      column('uuid', endpoints, (endpoint) => endpoint.id),
      new Date(now.getTime() - DAY_MS),
    ],
  })
  for (const { endpoint_id, hour, attempts, delivered } of rows) {
    hours.get(endpoint_id)?.push({ at: hour, attempts, delivered })
  }
  return hours
}

/** One endpoint's hours from an instant on, with its durations (core/delivery/health), in order. */
export async function readHoursOf(
  db: Db,
  { clientKey, id }: { clientKey: number; id: string },
  from: Date,
): Promise<
  readonly { atMs: number; attempts: number; delivered: number; durations: readonly number[] }[]
> {
  const { rows } = await db.query<{
    hour: Date
    attempts: number
    delivered: number
    durations: number[]
  }>({
    name: 'read-hours-of-endpoint',
    text: `select hour, attempts, delivered, durations from endpoint_hours
           where client_key = $1 and endpoint_id = $2 and hour >= $3 order by hour`,
    values: [clientKey, id, from],
  })
  return rows.map(({ hour, ...row }) => ({ atMs: hour.getTime(), ...row }))
}
