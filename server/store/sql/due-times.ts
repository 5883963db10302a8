// Due or not, as conditions of statements: what waits for an endpoint that is down is not due (core/delivery/due.ts says the
// same of one delivery).

import { PROBE_OVERDUE_MS } from '../../core/delivery/due.ts'

/** A part of `with`: endpoints that are down and probed on time, `now` being an expression. Few at any time. */
export function downEndpoints(now: string): string {
  return `down as materialized (
    select h.client_key, h.endpoint_id from endpoint_health h
    where h.circuit <> 'CLOSED'
      and h.next_probe_at > ${now}::timestamptz - interval '${PROBE_OVERDUE_MS} ms')`
}

/** The owed row `p` is one of an endpoint that is down. */
export function isOfDownEndpoint(p: string): string {
  return `(${p}.client_key, ${p}.endpoint_id) in (select client_key, endpoint_id from down)`
}
