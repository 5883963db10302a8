// `paybell serve`: production. Many processes on many machines may share one database.

import type { Logger } from 'pino'
import { createApp } from '../../server/app.ts'
import { type Config, describeConfig, loadConfig } from '../../server/config/config.ts'
import { UnfinishedStop } from '../../server/lifecycle.ts'
import { migrate } from '../../server/store/schema/migrate.ts'
import { StopSignals } from '../basics/stop-signals.ts'
import { namingDatabase } from './database-failure.ts'
import { drain } from './drain.ts'
import { createLogger } from './logger.ts'
import { connectSupervisor } from './supervisor.ts'
import { waitForDatabase } from './wait-for-database.ts'
import { warnOfMisspelt } from './warn-misspelt.ts'

export async function serve(): Promise<void> {
  const signals = new StopSignals()
  const config = loadConfig('production', process.env)
  const logger = createLogger(config)
  logger.info(describeConfig(config), 'paybell.starting')
  warnOfMisspelt(process.env, logger)
  const databaseUrl = config.databaseUrl as string
  if (config.allowedNetworks.length > 0) {
    logger.warn({ networks: config.allowedNetworks }, 'callbacks.private-networks-allowed')
  }
  await signals.endAtOnceDuring(namingDatabase(prepareDatabase(config, logger)))

  const app = createApp({
    config,
    logger,
    databaseUrl,
    masterKeys: config.masterKeys,
    operatorKey: config.operatorKey,
  })
  const supervisor = connectSupervisor({
    env: process.env,
    onFailure: (error) => logger.warn({ error: String(error) }, 'supervisor.not-told'),
  })
  // From here on shards are held: whatever happens, they are given back.
  try {
    await Promise.race([app.start(), signals.requested])
    const hasStarted = !signals.isRequested
    if (hasStarted) {
      logger.info({ baseUrl: app.baseUrl() }, 'paybell.ready')
      await supervisor.ready()
    }
    const signal = await signals.requested
    logger.info({ signal }, 'paybell.stopping')
    // Not waited for: what systemd takes to hear of it is no part of the time that a stop has.
    void supervisor.stopping()
    if (hasStarted) await drain(app, { seconds: config.drainSeconds, signals, logger })
  } finally {
    // What is still under way at the limit would keep the process alive, and has nothing more to say.
    await app.stop().catch((error) => {
      if (error instanceof UnfinishedStop) process.exit(1)
      throw error
    })
    supervisor.close()
    logger.info('paybell.stopped')
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
