// The way to a database over TCP, which a test can turn into a black hole: connections stand, and nothing
// comes through them any more. Without a database it is a host that is there and never answers.

import { once } from 'node:events'
import { type AddressInfo, createConnection, createServer, type Socket } from 'node:net'
import pg from 'pg'
import type { Owner } from './owner.ts'

export interface TcpProxy {
  port: number
  /** The database's address, by way of the proxy. */
  url: string
  /** From now on nothing comes through; connections are taken all the same. */
  isSilent: boolean
  /** What each connection has begun with. */
  firstBytes: readonly Buffer[]
  /** Ends what is open. */
  cut(): void
}

export async function startTcpProxy(
  t: Owner,
  databaseUrl: string,
  options: {
    /** Connections are led to this database, whose name is as long as the one they ask for. */
    insteadOf?: string
    /** Nothing comes through from the statement on that has this text. */
    silentFrom?: string
    /** By default any free one. */
    port?: number
  } = {},
): Promise<TcpProxy> {
  const target = new pg.Client({ connectionString: databaseUrl })
  const firstBytes: Buffer[] = []
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const real = target.host.startsWith('/')
      ? createConnection(`${target.host}/.s.PGSQL.${target.port}`)
      : createConnection(target.port, target.host)
    client.once('data', (chunk) => {
      const { insteadOf } = options
      const at = insteadOf ? chunk.indexOf(insteadOf) : -1
      if (at >= 0) (chunk as Buffer).write(target.database ?? '', at)
      firstBytes.push(chunk as Buffer)
    })
    for (const [from, to] of [
      [client, real],
      [real, client],
    ] as const) {
      sockets.add(from)
      from.on('data', (chunk) => {
        if (options.silentFrom && chunk.includes(options.silentFrom)) proxy.isSilent = true
        if (!proxy.isSilent) to.write(chunk)
      })
      from.on('error', () => {})
      from.on('close', () => {
        sockets.delete(from)
        // A machine that is gone does not say goodbye either.
        if (!proxy.isSilent) to.destroy()
      })
    }
  }).listen(options.port ?? 0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const url = new URL(databaseUrl)
  url.searchParams.delete('host')
  // A database that is silent is away as soon as in production.
  url.searchParams.delete('connect_timeout')
  url.host = `127.0.0.1:${port}`
  const proxy: TcpProxy = {
    port,
    url: url.href,
    isSilent: false,
    firstBytes,
    cut() {
      for (const socket of sockets) socket.destroy()
    },
  }
  t.after(async () => {
    proxy.cut()
    server.close()
    await once(server, 'close')
  })
  return proxy
}
