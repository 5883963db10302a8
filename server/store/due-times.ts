// Due or not, as conditions of statements: what waits for an endpoint that is down is not due (core/due.ts says the
// same of one delivery), and what a retry makes due.

import { PROBE_OVERDUE_MS } from '../core/due.ts'

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

/**
 * True for a row whose time a retry moves. Also for one that is due already: its first attempt may be under way, and
 * what that records leaves a later time alone (store/outcomes.ts). Not for a replay that has just been asked for:
 * it is due.
 */
export function isMovedByRetry(p = 'p'): string {
  return `(${p}.run_attempts > 0 or not ${p}.is_replay)`
}
