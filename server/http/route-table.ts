// Every route that a server has, as it was declared. Tests of "every route" go by it, so that a new one
// cannot be forgotten.

import type { FastifyInstance } from 'fastify'
import type { Role } from '../core/operator.ts'

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

/** Before any route: it only hears of those that come after it. */
export function keepRouteTable(app: FastifyInstance): void {
  const table: RouteEntry[] = []
  app.decorate('routeTable', table)
  app.addHook('onRoute', ({ url, method, config }) => {
    for (const one of [method].flat()) table.push({ method: one, url, role: config?.role })
  })
}
