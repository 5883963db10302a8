// `paybell route`: one address for all cells. It has no database, and loads nothing of the service that has one.

import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { pino } from 'pino'
import { Route } from '../../server/route/route.ts'
import { loadRouteConfig } from '../../server/route/route-config.ts'
import { StopSignals } from '../basics/stop-signals.ts'
import { drain } from './drain.ts'

export async function route(): Promise<void> {
  const signals = new StopSignals()
  const config = loadRouteConfig(process.env, (path) => readFileSync(path, 'utf8'))
  const log = pino({ level: config.logLevel, base: { pid: process.pid, hostname: hostname() } })
  const app = new Route({ config, log })
  await signals.endAtOnceDuring(app.start())
  log.info({ baseUrl: app.baseUrl, cells: config.cells.map(({ cell }) => cell) }, 'route.ready')
  const signal = await signals.requested
  log.info({ signal }, 'route.stopping')
  await drain(app, { seconds: config.drainSeconds, signals, logger: log })
  await app.stop()
  log.info('route.stopped')
}
