// Changes of endpoints wait for each other here, those of one client in one line, and not in the database: there each
// that waits for a lock would hold a connection, and one client's burst would take the pool from payments and sending.

import { OneAtATime } from './one-at-a-time.ts'

/** By client key. Notices have one lock for all clients: theirs wait once more, one of each client. */
export type EndpointChanges = OneAtATime<number | 'notices'>

/** At least so many of one client wait, and as many as it may send in one burst; what comes beyond is refused. */
const WAITING_MAX_LEAST = 500

interface Limits {
  /** Of one client; twice as many may come in one burst. */
  requestsPerSecond: number
}

/** A database that says nothing for long must not make them fail one after the other. */
const WAIT_MS_MAX = 8_000

export function createEndpointChanges({ requestsPerSecond }: Limits): EndpointChanges {
  return new OneAtATime(Math.max(WAITING_MAX_LEAST, 2 * requestsPerSecond), WAIT_MS_MAX)
}
