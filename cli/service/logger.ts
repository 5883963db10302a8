// The log of the service: a JSON line for each thing that happens. Every line says its cell, so that those of
// several can be kept in one place.

import { hostname } from 'node:os'
import { type Logger, pino } from 'pino'
import type { Config } from '../../server/config/config.ts'

export function createLogger({ logLevel, cell }: Pick<Config, 'logLevel' | 'cell'>): Logger {
  return pino({ level: logLevel, base: { pid: process.pid, hostname: hostname(), cell } })
}
