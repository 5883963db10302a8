// The ports that the process listens on: one for everything, or a second one for the operator's side.

import { Server } from 'node:net'
import type { App } from './basics/typed.ts'
import type { RouteEntry } from './route-table.ts'
import type { ServerDeps, Surface } from './routes/server-deps.ts'
import { buildServer } from './server.ts'
import { describeListenFailure } from './sockets/listen-failure.ts'

/** Connections that are still open then are cut off. */
const CLOSE_MS_MAX = 10_000

export class Doors {
  readonly #config: ServerDeps['config']
  readonly #servers: App[] = []
  #baseUrl: string
  #operatorUrl: string | null = null

  constructor(config: ServerDeps['config']) {
    this.#config = config
    this.#baseUrl = config.baseUrl ?? ''
  }

  /** The service's public address, without a slash at the end; known once it listens. */
  get baseUrl(): string {
    return this.#baseUrl
  }

  /** The address of the operator's routes and console: another one, when they have a port of their own. */
  get operatorUrl(): string {
    return this.#operatorUrl ?? this.#baseUrl
  }

  /** Every route that is served, once the doors are open. */
  get routes(): readonly RouteEntry[] {
    return this.#servers.flatMap((server) => server.routeTable)
  }

  async open(deps: ServerDeps): Promise<void> {
    const { port, operatorPort, baseUrl } = this.#config
    const address = await this.#listen(deps, operatorPort === null ? 'all' : 'public', port)
    if (baseUrl === null) this.#baseUrl = address
    if (operatorPort !== null) {
      this.#operatorUrl = await this.#listen(deps, 'operator', operatorPort)
    }
  }

  /** Takes no new connections, because another process has the ports; those that are open go on. */
  leavePorts(): void {
    // The server's own close would end kept connections besides, on which a request may be on its way.
    for (const { server } of this.#servers) Server.prototype.close.call(server)
  }

  /** Waits for `before` first, within the same time limit: it waits for answers that come through these ports. */
  async close(before: Promise<void>): Promise<void> {
    const cutOff = setTimeout(() => {
      for (const { server } of this.#servers) server.closeAllConnections()
    }, CLOSE_MS_MAX)
    try {
      await before
    } finally {
      await this.#closeServers().finally(() => clearTimeout(cutOff))
    }
  }

  /** Closes both, even if one fails to close. */
  async #closeServers(): Promise<void> {
    const ends = await Promise.allSettled(this.#servers.map((server) => server.close()))
    for (const end of ends) if (end.status === 'rejected') throw end.reason
  }

  async #listen(deps: ServerDeps, surface: Surface, port: number): Promise<string> {
    const { host } = this.#config
    const server = await buildServer(deps, surface)
    this.#servers.push(server)
    const setting = surface === 'operator' ? 'PAYBELL_OPERATOR_PORT' : 'PORT'
    const address = await server.listen({ host, port }).catch((error) => {
      throw describeListenFailure(error, { setting, host, port })
    })
    deps.logger.info({ surface, address }, 'server.listening')
    return address
  }
}
