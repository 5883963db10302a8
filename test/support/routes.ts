// `paybell route` in this process, before cells of any kind.

import { pino } from 'pino'
import { Route } from '../../server/route/route.ts'
import { parseCells, type RouteConfig } from '../../server/route/route-config.ts'
import type { Owner } from './owner.ts'

export function routeConfig(
  addresses: Readonly<Record<number, string>>,
  key: string,
  more: Partial<RouteConfig> = {},
): RouteConfig {
  const cells = Object.entries(addresses).map(([cell, address]) => `${cell}=${address}`)
  return {
    host: '127.0.0.1',
    port: 0,
    operatorPort: null,
    baseUrl: null,
    cells: parseCells(cells.join(',')) ?? [],
    key,
    trustedProxies: [],
    drainSeconds: 0,
    logLevel: 'silent',
    ...more,
  }
}

export async function startRoute(
  t: Owner,
  config: RouteConfig,
  more: Partial<ConstructorParameters<typeof Route>[0]> = {},
): Promise<Route> {
  const log = pino({ level: process.env.PAYBELL_TEST_LOG ?? 'silent' })
  const route = new Route({ config, log, refreshEveryMs: 250, ...more })
  t.after(() => route.stop())
  await route.start()
  return route
}
