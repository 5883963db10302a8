// The last 24 hours of endpoints, hour by hour: what a small curve beside each of them is drawn from.

import { DAY_MS } from '../core/backoff.ts'
import type { Db } from './db.ts'

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
      endpoints.map((endpoint) => endpoint.clientKey),
      endpoints.map((endpoint) => endpoint.id),
      new Date(now.getTime() - DAY_MS),
    ],
  })
  for (const { endpoint_id, hour, attempts, delivered } of rows) {
    hours.get(endpoint_id)?.push({ at: hour, attempts, delivered })
  }
  return hours
}
