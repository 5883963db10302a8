// Sets the clock of the service by the time of the database, and says so in the log where that has jumped ahead.

import type { Pool } from 'pg'
import type { Logger } from 'pino'
import type { DatabaseClock } from '../store/connection/database-clock.ts'
import { readDatabaseTimeMs } from '../store/owed/leases.ts'

/** Reads the time from the database, because the machine's own clock may be wrong by days. */
export async function readDatabaseTime(
  pool: Pool,
  clock: DatabaseClock,
  logger: Logger,
): Promise<void> {
  const askedAtMs = clock.monotonicMs()
  setClock(clock, logger, await readDatabaseTimeMs(pool), askedAtMs, clock.monotonicMs())
}

export function setClock(
  clock: DatabaseClock,
  logger: Logger,
  ...reading: Parameters<DatabaseClock['adjust']>
): void {
  const aheadMs = clock.adjust(...reading)
  if (aheadMs > 0) logger.warn({ aheadMs }, 'database-clock.jumped-ahead')
}
