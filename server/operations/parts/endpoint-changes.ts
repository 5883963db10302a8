// Changes of endpoints wait for each other here, those of one client in one line, and not in the database: there each
// that waits for a lock would hold a connection, and one client's burst would take the pool from payments and sending.

import { OneAtATime } from './one-at-a-time.ts'

/** By client key. Notices have one lock for all clients: theirs wait once more, one of each client. */
export type EndpointChanges = OneAtATime<number | 'notices'>

/** More than a client may send in one burst; what comes beyond is refused. */
const WAITING_MAX = 500

export function createEndpointChanges(): EndpointChanges {
  return new OneAtATime(WAITING_MAX)
}
