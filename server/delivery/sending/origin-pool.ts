// What one client has towards one origin, with the same TLS settings: its connections, and the requests that wait for one. Who gets which is the
// connection pool's to say.

import { NO_BYTES, type RememberedHead } from './answer-reader.ts'
import { Chain, Link } from './chain.ts'
import type { DialPlace } from './dial.ts'
import type { TlsSettings } from './tls-settings.ts'
import { Wire, type WireParts } from './wire.ts'

/** A request that waits for a connection. */
export interface Waiter {
  /** Its link in the line of waiters, once it has waited; the pool's. */
  link: Link<Waiter> | null
  onConnection(connection: Connection): void
}

/** A wire and its place in the pool. */
export class Connection {
  readonly wire: Wire
  readonly pool: OriginPool
  readonly openedAtMs: number
  /** Its link among all that are idle. */
  readonly idle: Link<Connection> = new Link<Connection>(this)
  idleUntilMs = 0
  isGone = false

  constructor(parts: WireParts, pool: OriginPool, openedAtMs: number, onLost: () => void) {
    this.wire = new Wire(parts, pool.place, pool.clientKey, pool.remembered, onLost)
    this.pool = pool
    this.openedAtMs = openedAtMs
  }
}

export class OriginPool {
  readonly clientKey: number
  /** Origin and TLS settings as one text. */
  readonly key: string
  /** The most recently used is last, and is used first: the others may then grow old and close. */
  readonly idle: Connection[] = []
  readonly waiting = new Chain<Waiter>()
  readonly place: Place
  readonly remembered: RememberedHead = { bytes: NO_BYTES, head: null }
  openCount = 0

  constructor(clientKey: number, place: Place) {
    this.clientKey = clientKey
    this.key = place.key
    this.place = place
  }
}

/** Where a request goes, and how: requests of one client with the same key may share a connection. */
export interface Place extends DialPlace {
  key: string
}

export function toPlace({ origin, protocol, hostname, port }: URL, tls: TlsSettings | null): Place {
  const usual: Place = {
    key: origin,
    protocol,
    // An IPv6 address stands in brackets in a URL.
    hostname: hostname.replace(/^\[(.*)\]$/, '$1'),
    port,
    tls: null,
  }
  return withTls(usual, tls)
}

/** The same place as an endpoint with these settings has it. */
export function withTls(usual: Place, tls: TlsSettings | null): Place {
  return tls === null ? usual : { ...usual, key: `${usual.key} ${tls.name}`, tls }
}
