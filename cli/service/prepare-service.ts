// What comes before a process serves, or starts those that do: its settings, its log, and a database that is there and migrated.

import type { Logger } from 'pino'
import {
  type Config,
  describeConfig,
  type Environment,
  loadConfig,
} from '../../server/config/config.ts'
import { migrate } from '../../server/store/schema/migrate.ts'
import type { StopSignals } from '../basics/stop-signals.ts'
import { namingDatabase } from './database-failure.ts'
import { createLogger } from './logger.ts'
import type { ParentLink } from './processes/parent-link.ts'
import { waitForDatabase } from './wait-for-database.ts'
import { warnOfMisspelt } from './warn-misspelt.ts'

export async function prepareService(
  env: Environment,
  signals: StopSignals,
  parent: Pick<ParentLink, 'number' | 'isPrepared'> | null = null,
): Promise<{ config: Config; logger: Logger }> {
  const config = loadConfig('production', env)
  const logger = createLogger(config, parent?.number)
  // The parent has said it for all.
  if (parent === null) describe(config, env, logger)
  // One that is started later may be of a newer version, or find the database away.
  if (!parent?.isPrepared) {
    await signals.endAtOnceDuring(namingDatabase(prepareDatabase(config, logger)))
  }
  return { config, logger }
}

function describe(config: Config, env: Environment, logger: Logger): void {
  logger.info(describeConfig(config), 'paybell.starting')
  warnOfMisspelt(env, logger)
  if (config.allowedNetworks.length > 0) {
    logger.warn({ networks: config.allowedNetworks }, 'callbacks.private-networks-allowed')
  }
}

async function prepareDatabase(config: Config, logger: Logger): Promise<void> {
  const databaseUrl = config.databaseUrl as string
  const waitSeconds = config.databaseWaitSeconds
  const faults = await waitForDatabase({ databaseUrl, waitSeconds, logger })
  for (const fault of faults) logger.warn({ fault }, 'database.not-durable')
  const applied = await migrate(databaseUrl, new Date(), {
    onPartitions: ({ moved, left }) => logger.warn({ moved, left }, 'partitions.left'),
  })
  if (applied.length > 0) logger.info({ applied }, 'database.migrated')
}
