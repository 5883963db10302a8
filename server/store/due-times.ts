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
 * True for a row whose time a retry moves: one that was tried before, also while an attempt of it is under way (what
 * it records leaves this time alone, see store/outcomes.ts), or that waits for a later time. Not for a replay that has
 * just been asked for: several of one payment set out one after the other.
 */
export function movesTo(now: string, p = 'p'): string {
  return `(${p}.run_attempts > 0 or (${p}.next_attempt_at > ${now} and not ${p}.is_replay))`
}
