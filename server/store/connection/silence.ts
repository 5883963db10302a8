// A server that no longer says anything, although its connections stand: a machine that froze, a network
// that swallows packets. A statement may take its time, so a slow answer alone proves nothing. But where
// connections wait, none of them hears a byte for two seconds, and a question over a new one is not
// answered either, all of them end after five: what waits for them fails then, instead of after ten.

import type { Socket } from 'node:net'
import pg from 'pg'
import type { Host } from './hosts.ts'

export interface SilenceLimits {
  lookEveryMs: number
  /** So many looks without a byte, and the server is asked. */
  suspectAfter: number
  /** So many, and what has not been answered by then never will be. */
  endAfter: number
}

// Looks and not milliseconds: a process that was stopped for a minute has looked once in it, and finds
// what has arrived for it before it looks again.
export const SILENCE: SilenceLimits = { lookEveryMs: 250, suspectAfter: 8, endAfter: 20 }

/** Fails, or stays open, when there is no answer. */
export type AskServer = (host: Host, signal: AbortSignal) => Promise<void>

export function watchForSilence(pool: pg.Pool, ask: AskServer, limits = SILENCE): void {
  const servers = new Map<string, Server>()
  const serverOf = new WeakMap<pg.PoolClient, Server>()
  let timer: NodeJS.Timeout | undefined
  const look = () => {
    for (const [key, server] of servers) {
      server.look()
      if (server.isUnused) servers.delete(key)
    }
    if (servers.size > 0 && !pool.ended) return
    clearInterval(timer)
    timer = undefined
  }
  pool.on('connect', (client) => {
    const { host, port } = client
    const key = `${host}:${port}`
    const server = servers.get(key) ?? new Server({ host, port }, ask, limits)
    servers.set(key, server)
    serverOf.set(client, server)
    server.add(client)
    timer ??= setInterval(look, limits.lookEveryMs).unref()
  })
  pool.on('acquire', (client) => serverOf.get(client)?.take(client))
  pool.on('release', (_error, client) => serverOf.get(client)?.giveBack(client))
  pool.on('remove', (client) => serverOf.get(client)?.remove(client))
}

class Server {
  readonly #host: Host
  readonly #ask: AskServer
  readonly #limits: SilenceLimits
  /** Its connections, and how many bytes each had received at the last look. */
  readonly #heard = new Map<pg.PoolClient, number>()
  readonly #taken = new Set<pg.PoolClient>()
  #silentLooks = 0
  #question: AbortController | null = null

  constructor(host: Host, ask: AskServer, limits: SilenceLimits) {
    this.#host = host
    this.#ask = ask
    this.#limits = limits
  }

  get isUnused(): boolean {
    return this.#heard.size === 0
  }

  add(client: pg.PoolClient): void {
    this.#heard.set(client, bytesOf(client))
  }

  take(client: pg.PoolClient): void {
    this.#taken.add(client)
  }

  giveBack(client: pg.PoolClient): void {
    this.#taken.delete(client)
  }

  remove(client: pg.PoolClient): void {
    this.#taken.delete(client)
    this.#heard.delete(client)
  }

  look(): void {
    let isSilent = this.#taken.size > 0
    for (const [client, bytes] of this.#heard) {
      const now = bytesOf(client)
      if (now === bytes) continue
      this.#heard.set(client, now)
      isSilent = false
    }
    if (!isSilent) {
      this.#hear()
      return
    }
    this.#silentLooks++
    if (this.#silentLooks >= this.#limits.endAfter) this.#endAll()
    else if (this.#silentLooks >= this.#limits.suspectAfter) this.#askOnce()
  }

  #hear(): void {
    this.#silentLooks = 0
    this.#question?.abort()
    this.#question = null
  }

  #askOnce(): void {
    if (this.#question !== null) return
    const question = new AbortController()
    this.#question = question
    const answered = () => {
      if (this.#question === question) this.#hear()
    }
    this.#ask(this.#host, question.signal).then(answered, (error) => {
      // PostgreSQL that says "too many connections" is not silent.
      if (error instanceof pg.DatabaseError) answered()
    })
  }

  #endAll(): void {
    this.#hear()
    const error = new Error('Connection terminated: the database has gone silent')
    for (const client of this.#heard.keys()) client.connection.stream.destroy(error)
  }
}

function bytesOf(client: pg.PoolClient): number {
  return (client.connection.stream as Socket).bytesRead
}
