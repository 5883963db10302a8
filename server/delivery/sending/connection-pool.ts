// Which request may use which socket. Connections are kept by (client, origin, TLS settings): clients never share one, and a
// kept-alive socket stays with the address it was vetted for. Limits hold for each origin and in all;
// at the limit an idle connection of another pair makes room, and if none is idle, requests wait.
// A pool without connections and waiters is forgotten: 100,000 quiet endpoints cost nothing.

import { Chain, Link } from './chain.ts'
import type { ConnectFn } from './guarded-connector.ts'
import { NextRound } from './next-round.ts'
import { Connection, OriginPool, type Place, type Waiter } from './origin-pool.ts'
import type { WireParts } from './wire.ts'

/** How often idle sockets are looked through: none is idle for longer than its time by more than this. */
const SWEEP_MS = 250

export interface PoolOptions {
  connect: ConnectFn
  monotonicMs: () => number
  connectionsPerOrigin: number
  socketsMax: number
  /** Below the 5 s after which common servers hang up: a request that meets that is lost. */
  idleMsMax: number
  /** A socket older than this is not used again, so that a busy origin's DNS is asked again. */
  ageMsMax: number
}

export class ConnectionPool {
  readonly #options: PoolOptions
  readonly #parts: WireParts
  /** By origin and TLS settings, then by client: joining the two into one key took as long as finding it. */
  readonly #pools = new Map<string, Map<number, OriginPool>>()
  /** Idle connections of all pools, the longest idle first. */
  readonly #idle = new Chain<Connection>()
  /** Pools whose waiters are held up by the limit in all. */
  readonly #starved = new Set<OriginPool>()
  #openCount = 0
  #poolCount = 0
  #isSweeping = false

  constructor(options: PoolOptions) {
    this.#options = options
    this.#parts = { connect: options.connect, nextRound: new NextRound() }
  }

  get openCount(): number {
    return this.#openCount
  }

  get poolCount(): number {
    return this.#poolCount
  }

  /** A connection now, or null: then the waiter is called when there is one. */
  take(clientKey: number, place: Place, waiter: Waiter): Connection | null {
    const pool = this.#pools.get(place.key)?.get(clientKey) ?? this.#create(clientKey, place)
    const connection = pool.waiting.isEmpty ? (this.#takeIdle(pool) ?? this.#open(pool)) : null
    if (connection === null) {
      waiter.link ??= new Link(waiter)
      pool.waiting.add(waiter.link)
    }
    return connection
  }

  /** Harmless for a request that does not wait. */
  stopWaiting(clientKey: number, place: Place, waiter: Waiter): void {
    const pool = this.#pools.get(place.key)?.get(clientKey)
    if (waiter.link !== null && pool?.waiting.remove(waiter.link)) this.#forgetIfEmpty(pool)
  }

  /** The request is over and its answer fully read, a moment ago: the socket can carry another for `keptMs`. */
  release(connection: Connection, answeredAtMs: number, keptMs: number): void {
    if (connection.isGone) return
    const { pool } = connection
    const { ageMsMax, idleMsMax } = this.#options
    const ageMs = answeredAtMs - connection.openedAtMs
    // A server's hint may shorten the idle time; it never lengthens it.
    connection.idleUntilMs = answeredAtMs + Math.min(keptMs, idleMsMax)
    // Where others starve, a busy origin gives its connection up after each request.
    if (this.#othersStarve(pool) || ageMs > ageMsMax) this.drop(connection)
    else this.#putIdle(connection)
    // Not at once: the answer's last bytes are still being read.
    if (!pool.waiting.isEmpty) queueMicrotask(() => this.#serve(pool))
  }

  /** Ends the socket and makes room for another. */
  drop(connection: Connection): void {
    if (connection.isGone) return
    this.#takeOutOfIdle(connection)
    connection.isGone = true
    connection.wire.destroy()
    const { pool } = connection
    pool.openCount -= 1
    this.#openCount -= 1
    queueMicrotask(() => {
      this.#serveStarved()
      this.#serve(pool)
      this.#forgetIfEmpty(pool)
    })
  }

  /** Ends what is idle; what is in use ends when its request does. */
  dropIdle(): void {
    while (this.#evictIdle());
  }

  /** Whether a pool but this one is starved; this one, if it is too, goes to the end of the line. */
  #othersStarve(pool: OriginPool): boolean {
    if (this.#starved.size === 0) return false
    const isStarved = this.#starved.delete(pool)
    const othersStarve = this.#starved.size > 0
    if (isStarved) this.#starved.add(pool)
    return othersStarve
  }

  // A pool that is still held up goes to the end of the line, so that each starved one is served.
  #serveStarved(): void {
    for (const pool of this.#starved) {
      if (this.#openCount >= this.#options.socketsMax) return
      this.#serve(pool)
    }
  }

  #serve(pool: OriginPool): void {
    this.#starved.delete(pool)
    for (let link = pool.waiting.first; link !== null; link = pool.waiting.first) {
      const connection = this.#takeIdle(pool) ?? this.#open(pool)
      if (connection === null) return
      pool.waiting.remove(link)
      link.item.onConnection(connection)
    }
  }

  #takeIdle(pool: OriginPool): Connection | null {
    for (let one = pool.idle.pop(); one !== undefined; one = pool.idle.pop()) {
      this.#idle.remove(one.idle)
      if (one.idleUntilMs >= this.#options.monotonicMs()) return one
      // Its time is over, and the sweep has not come by yet.
      this.drop(one)
    }
    return null
  }

  #putIdle(connection: Connection): void {
    connection.pool.idle.push(connection)
    this.#idle.add(connection.idle)
    this.#sweepLater()
  }

  /** One timer for all, not one for each connection that is set again with each request. */
  #sweepLater(): void {
    if (this.#isSweeping) return
    this.#isSweeping = true
    const afterMs = Math.min(SWEEP_MS, this.#options.idleMsMax)
    setTimeout(() => this.#sweep(), afterMs).unref()
  }

  /** Ends what was idle for its time. */
  #sweep(): void {
    this.#isSweeping = false
    const atMs = this.#options.monotonicMs()
    for (let link = this.#idle.first; link !== null; ) {
      const { item, next } = link
      if (item.idleUntilMs < atMs) this.drop(item)
      link = next
    }
    if (!this.#idle.isEmpty) this.#sweepLater()
  }

  #takeOutOfIdle(connection: Connection): void {
    if (!this.#idle.remove(connection.idle)) return
    const { idle } = connection.pool
    idle.splice(idle.indexOf(connection), 1)
  }

  #open(pool: OriginPool): Connection | null {
    if (pool.openCount >= this.#options.connectionsPerOrigin) return null
    if (this.#openCount >= this.#options.socketsMax && !this.#evictIdle()) {
      this.#starved.add(pool)
      return null
    }
    pool.openCount += 1
    this.#openCount += 1
    const openedAtMs = this.#options.monotonicMs()
    const connection: Connection = new Connection(this.#parts, pool, openedAtMs, () => {
      this.drop(connection)
    })
    return connection
  }

  #evictIdle(): boolean {
    const longest = this.#idle.first
    if (longest !== null) this.drop(longest.item)
    return longest !== null
  }

  #create(clientKey: number, place: Place): OriginPool {
    const pool = new OriginPool(clientKey, place)
    const pools = this.#pools.get(place.key)
    if (pools === undefined) this.#pools.set(place.key, new Map([[clientKey, pool]]))
    else pools.set(clientKey, pool)
    this.#poolCount += 1
    return pool
  }

  #forgetIfEmpty(pool: OriginPool): void {
    if (pool.openCount > 0 || !pool.waiting.isEmpty) return
    this.#starved.delete(pool)
    const pools = this.#pools.get(pool.key)
    // Forgotten before: another of the same name may be there by now.
    if (pools?.get(pool.clientKey) !== pool) return
    pools.delete(pool.clientKey)
    if (pools.size === 0) this.#pools.delete(pool.key)
    this.#poolCount -= 1
  }
}
