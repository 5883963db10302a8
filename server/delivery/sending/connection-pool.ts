// Which request may use which socket. Connections are kept by (client, origin): clients never share one, and a
// kept-alive socket stays with the address it was vetted for. Limits hold for each origin and in all;
// at the limit an idle connection of another pair makes room, and if none is idle, requests wait.
// A pool without connections and waiters is forgotten: 100,000 quiet endpoints cost nothing.

import type { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import { type buildConnector, Client } from 'undici'
import { AnswerGate } from './answer-gate.ts'
import { Chain, Link } from './chain.ts'
import type { ConnectFn } from './guarded-connector.ts'

/** A request that waits for a connection. */
export interface Waiter {
  /** Its link in the line of waiters, once it has waited; the pool's. */
  link: Link<Waiter> | null
  onConnection(connection: Connection): void
}

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

/** One undici client, which has one socket at most, for one request at a time. */
export class Connection {
  readonly client: Client
  readonly pool: OriginPool
  readonly openedAtMs: number
  /** Its link among all that are idle. */
  readonly idle: Link<Connection> = new Link<Connection>(this)
  isGone = false
  #socket: Socket | null = null
  #gate: AnswerGate | null = null

  constructor(origin: string, pool: OriginPool, options: PoolOptions, onLost: () => void) {
    this.pool = pool
    this.openedAtMs = options.monotonicMs()
    this.client = new Client(origin, {
      connect: (target: buildConnector.Options, callback: buildConnector.Callback) => {
        this.#socket = options.connect(target, callback as Parameters<ConnectFn>[1])
        this.#gate = this.#socket && new AnswerGate(this.#socket)
      },
      pipelining: 1,
      maxHeaderSize: 16 * 1024,
      keepAliveTimeout: options.idleMsMax,
      // A server's hint may shorten the idle time; it never lengthens it.
      keepAliveMaxTimeout: options.idleMsMax,
      // Per phase or per gap, and no help: the sender has a deadline in all.
      headersTimeout: 0,
      bodyTimeout: 0,
      allowH2: false,
      useMilo: false,
    })
    this.client.on('disconnect', onLost)
    // Undici emits `error` when a handler throws; without a listener that ends the process.
    const emitter: EventEmitter = this.client
    emitter.on('error', () => {})
  }

  /** The request is about to be sent: what comes next is the beginning of its answer. */
  expectAnswer(): void {
    this.#gate?.expectAnswer()
  }

  /** Ends the socket at once, also one that is still connecting. */
  destroy(): void {
    this.isGone = true
    this.client.destroy(() => {})
    this.#socket?.destroy()
  }
}

class OriginPool {
  readonly clientKey: number
  readonly origin: string
  /** The most recently used is last, and is used first: the others may then grow old and close. */
  readonly idle: Connection[] = []
  readonly waiting = new Chain<Waiter>()
  openCount = 0

  constructor(clientKey: number, origin: string) {
    this.clientKey = clientKey
    this.origin = origin
  }
}

export class ConnectionPool {
  readonly #options: PoolOptions
  /** By origin, then by client: joining the two into one key took as long as finding it. */
  readonly #pools = new Map<string, Map<number, OriginPool>>()
  /** Idle connections of all pools, the longest idle first. */
  readonly #idle = new Chain<Connection>()
  /** Pools whose waiters are held up by the limit in all. */
  readonly #starved = new Set<OriginPool>()
  #openCount = 0
  #poolCount = 0

  constructor(options: PoolOptions) {
    this.#options = options
  }

  get openCount(): number {
    return this.#openCount
  }

  get poolCount(): number {
    return this.#poolCount
  }

  /** A connection now, or null: then the waiter is called when there is one. */
  take(clientKey: number, origin: string, waiter: Waiter): Connection | null {
    const pool = this.#pools.get(origin)?.get(clientKey) ?? this.#create(clientKey, origin)
    const connection = pool.waiting.isEmpty ? (this.#takeIdle(pool) ?? this.#open(pool)) : null
    if (connection === null) {
      waiter.link ??= new Link(waiter)
      pool.waiting.add(waiter.link)
    }
    return connection
  }

  /** Harmless for a request that does not wait. */
  stopWaiting(clientKey: number, origin: string, waiter: Waiter): void {
    const pool = this.#pools.get(origin)?.get(clientKey)
    if (waiter.link !== null && pool?.waiting.remove(waiter.link)) this.#forgetIfEmpty(pool)
  }

  /** The request is over and its answer fully read, a moment ago: the socket can carry another. */
  release(connection: Connection, answeredAtMs: number): void {
    if (connection.isGone) return
    const { pool } = connection
    const ageMs = answeredAtMs - connection.openedAtMs
    // Where others starve, a busy origin gives its connection up after each request.
    if (this.#othersStarve(pool) || ageMs > this.#options.ageMsMax) this.drop(connection)
    else this.#putIdle(connection)
    // Not at once: undici is still inside the answer's last bytes, and has to see first whether
    // the peer sent more than that, or hung up.
    if (!pool.waiting.isEmpty) queueMicrotask(() => this.#serve(pool))
  }

  /** Ends the socket and makes room for another. */
  drop(connection: Connection): void {
    if (connection.isGone) return
    this.#takeOutOfIdle(connection)
    connection.destroy()
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
    const connection = pool.idle.pop()
    if (connection === undefined) return null
    this.#idle.remove(connection.idle)
    return connection
  }

  #putIdle(connection: Connection): void {
    connection.pool.idle.push(connection)
    this.#idle.add(connection.idle)
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
    const connection: Connection = new Connection(pool.origin, pool, this.#options, () => {
      // In use, the request reports the loss, or undici connects again for it, guarded again.
      if (connection.idle.isIn) this.drop(connection)
    })
    return connection
  }

  #evictIdle(): boolean {
    const longest = this.#idle.first
    if (longest !== null) this.drop(longest.item)
    return longest !== null
  }

  #create(clientKey: number, origin: string): OriginPool {
    const pool = new OriginPool(clientKey, origin)
    const pools = this.#pools.get(origin)
    if (pools === undefined) this.#pools.set(origin, new Map([[clientKey, pool]]))
    else pools.set(clientKey, pool)
    this.#poolCount += 1
    return pool
  }

  #forgetIfEmpty(pool: OriginPool): void {
    if (pool.openCount > 0 || !pool.waiting.isEmpty) return
    this.#starved.delete(pool)
    const pools = this.#pools.get(pool.origin)
    // Forgotten before: another of the same name may be there by now.
    if (pools?.get(pool.clientKey) !== pool) return
    pools.delete(pool.clientKey)
    if (pools.size === 0) this.#pools.delete(pool.origin)
    this.#poolCount -= 1
  }
}
