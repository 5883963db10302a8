// A listener: an endpoint of one account whose callbacks wait to be fetched, for whoever develops a
// receiver that nobody can call. While nobody fetches, it is paused: what it is owed waits, in order.

import { DAY_MS } from './backoff.ts'

/** Nobody has asked for this long: it is paused until somebody does. */
export const LISTENER_IDLE_MS = 30_000
/** Nobody has asked for this long: it is deleted, and what it is still owed is cancelled. */
export const LISTENER_FORGOTTEN_MS = 7 * DAY_MS

/** How long a request for the next callback may wait for one. */
export const POLL_SECONDS_DEFAULT = 25
export const POLL_SECONDS_MAX = 30

/** A host name conforms, and that is what people call theirs. */
export const LISTENER_NAME = '^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$'

/** As addresses are checked by registration and by the guard, this one leads nowhere. */
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
