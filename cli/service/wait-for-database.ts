// `paybell serve` and its database may start in any order, and a failover may be under way: the start
// waits for a database that is away, or takes no writes yet, as long as the settings say. A fault that
// waiting does not mend, such as a wrong password, ends the start at once.

import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { isDatabaseAway } from '../../server/store/connection/db.ts'
import { checkDatabase } from '../../server/store/schema/check-database.ts'
import { plural } from '../basics/terminal.ts'
import { DatabaseFailure, remedyOf } from './database-failure.ts'
import { reasonOf } from './reason.ts'

const TRY_EVERY_MS = 1_000
/** So often the log says that we still wait, besides when the reason changes. */
const SAY_EVERY_MS = 15_000

export interface Waiting {
  databaseUrl: string
  waitSeconds: number
  logger: Logger
}

/** What is not durable about the database, a sentence each. Signals are the caller’s to hear. */
export async function waitForDatabase(waiting: Waiting): Promise<readonly string[]> {
  const { databaseUrl, waitSeconds, logger } = waiting
  const startedAtMs = performance.now()
  let said = { reason: '', atMs: 0 }
  for (;;) {
    try {
      const faults = await checkDatabase(databaseUrl)
      if (said.reason !== '') logger.info('database.reached')
      return faults
    } catch (error) {
      const nowMs = performance.now()
      if (!isDatabaseAway(error) || waitSeconds === 0) throw error
      const reason = reasonOf(error)
      if (nowMs - startedAtMs >= waitSeconds * 1_000) {
        const within = `${plural(waitSeconds, 'second')} (PAYBELL_DATABASE_WAIT_SECONDS)`
        throw new DatabaseFailure(
          `the database could not be used within ${within}: ${reason}. ${remedyOf(error) ?? ''}`,
          { cause: error },
        )
      }
      if (reason !== said.reason || nowMs - said.atMs >= SAY_EVERY_MS) {
        said = { reason, atMs: nowMs }
        const remedy = remedyOf(error) ?? undefined
        logger.warn({ reason, remedy, waitSeconds }, 'database.awaited')
      }
    }
    await delay(TRY_EVERY_MS)
  }
}
