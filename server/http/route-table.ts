// Every route of a server, as it was declared. Tests of "every route" use it, so that a new one cannot be
// forgotten.

import type { FastifyInstance } from 'fastify'
import type { Role } from '../core/plain/operator.ts'

export interface RouteEntry {
  method: string
  /** The pattern: `/v1/webhooks/:id`. */
  url: string
  role: Role | undefined
}

declare module 'fastify' {
  interface FastifyInstance {
    routeTable: readonly RouteEntry[]
  }
}

/** Call before any route: it sees only routes that are added after it. */
export function keepRouteTable(app: FastifyInstance): void {
  const table: RouteEntry[] = []
  app.decorate('routeTable', table)
  app.addHook('onRoute', ({ url, method, config }) => {
    for (const one of [method].flat()) table.push({ method: one, url, role: config?.role })
  })
}
