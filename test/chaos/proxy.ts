// The way to the database, for one service: a Unix socket that pipes to the real one, and can be cut,
// slowed down, turned into a black hole, or made to swallow the answers to commits.

import { mkdir } from 'node:fs/promises'
import { createConnection, createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const SOCKET = '.s.PGSQL.5432'

/** What ends a transaction that matters: the text, or the name of a prepared statement. */
const COMMITS = [
  'commit\0',
  'record-delivered\0',
  'record-outcomes\0',
  'take-leases\0',
  'park-deliveries\0',
].map((text) => Buffer.from(text))

interface Link {
  client: Socket
  server: Socket
  /** Bytes were lost on it: it can only be silent from now on. */
  isDead: boolean
  isSwallowing: boolean
}

export class DatabaseProxy {
  delayMs = 0
  isBlackHole = false
  /** So many answers to commits are still to be lost. */
  swallows = 0
  readonly #realDir: string
  readonly #server: Server
  readonly #links = new Set<Link>()

  constructor(realDir: string) {
    this.#realDir = realDir
    this.#server = createServer((client) => this.#open(client))
  }

  async listen(dir: string): Promise<void> {
    await mkdir(dir, { recursive: true })
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen(join(dir, SOCKET), resolve)
    })
  }

  cut(): void {
    for (const link of this.#links) end(link)
  }

  heal(): void {
    this.delayMs = 0
    this.isBlackHole = false
    this.swallows = 0
  }

  async close(): Promise<void> {
    this.cut()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #open(client: Socket): void {
    const server = createConnection(join(this.#realDir, SOCKET))
    const link: Link = { client, server, isDead: false, isSwallowing: false }
    this.#links.add(link)
    this.#pipe(link, client, server, (chunk) => this.#watch(link, chunk))
    this.#pipe(link, server, client, () => this.#isSwallowed(link))
    for (const socket of [client, server]) {
      socket.on('error', () => {})
      socket.on('close', () => {
        this.#links.delete(link)
        end(link)
      })
    }
  }

  /** `takes` sees each chunk, and says whether it keeps it for itself. */
  #pipe(link: Link, from: Socket, to: Socket, takes: (chunk: Buffer) => boolean): void {
    let last: Promise<void> = Promise.resolve()
    let waiting = 0
    from.on('data', (chunk) => {
      if (this.isBlackHole) link.isDead = true
      if (link.isDead || takes(chunk as Buffer)) return
      if (this.delayMs === 0 && waiting === 0) {
        to.write(chunk)
        return
      }
      const atMs = performance.now() + this.delayMs
      waiting++
      last = last.then(async () => {
        await sleep(Math.max(0, atMs - performance.now()))
        waiting--
        if (!link.isDead) to.write(chunk)
      })
    })
  }

  #watch(link: Link, chunk: Buffer): boolean {
    if (this.swallows > 0 && COMMITS.some((text) => chunk.includes(text))) {
      this.swallows--
      link.isSwallowing = true
    }
    return false
  }

  /** The server has committed and answered; the proxy drops the answer. */
  #isSwallowed(link: Link): boolean {
    if (link.isSwallowing) end(link)
    return link.isSwallowing
  }
}

function end({ client, server }: Link): void {
  client.destroy()
  server.destroy()
}
