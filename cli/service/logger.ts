// The log of the service: a JSON line for each thing that happens. Every line says its cell, so that those of
// several can be kept in one place.

import { hostname } from 'node:os'
import { type Logger, pino } from 'pino'
import type { Config } from '../../server/config/config.ts'

export function createLogger(
  { logLevel, cell }: Pick<Config, 'logLevel' | 'cell'>,
  /** Where it is one of several that one parent has started. */
  processNumber?: number,
): Logger {
  const base = { pid: process.pid, hostname: hostname(), cell }
  return pino({
    level: logLevel,
    base: processNumber === undefined ? base : { ...base, process: processNumber },
  })
}
