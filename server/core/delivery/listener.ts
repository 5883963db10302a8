// A listener: an endpoint of one account whose callbacks wait to be fetched, for developers of a receiver
// that cannot be reached from outside. While none is fetched it is paused: what it is owed waits, in order.

import { DAY_MS } from './backoff.ts'

/** Without a request for this long it is paused, until the next one. */
export const LISTENER_IDLE_MS = 30_000
/** Without a request for this long it is deleted, and what it is still owed is cancelled. */
export const LISTENER_FORGOTTEN_MS = 7 * DAY_MS

/** How long a request for the next callback may wait for one. */
export const POLL_SECONDS_DEFAULT = 25
export const POLL_SECONDS_MAX = 30

/** A host name conforms, and that is what people call theirs. */
export const LISTENER_NAME = '^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$'

/** Registration and the guard refuse such an address: it never leads to a host. */
const SCHEME = 'listener:'

/** What lists show as its address; of one account, the same name is the same listener. */
export function toListenerUrl(name: string): string {
  return SCHEME + name
}

export function isListenerUrl(url: string): boolean {
  return url.startsWith(SCHEME)
}

export function listenerName(url: string): string {
  return url.slice(SCHEME.length)
}
