// `paybell serve`: production. Many processes on many machines may share one database.

import { pino } from 'pino'
import { createApp } from '../app.ts'
import { describeConfig, loadConfig } from '../config.ts'
import { checkDatabase } from '../store/check-database.ts'
import { migrate } from '../store/migrate.ts'
import { untilSignal } from './run.ts'

export async function serve(): Promise<void> {
  const config = loadConfig('production', process.env)
  const logger = pino({ level: config.logLevel })
  logger.info(describeConfig(config), 'paybell.starting')
  const databaseUrl = config.databaseUrl as string
  for (const fault of await checkDatabase(databaseUrl))
    logger.warn({ fault }, 'database.not-durable')
  if (config.allowedNetworks.length > 0) {
    logger.warn({ networks: config.allowedNetworks }, 'callbacks.private-networks-allowed')
  }
  const applied = await migrate(databaseUrl, new Date(), {
    onPartitions: ({ moved, left }) => logger.warn({ moved, left }, 'partitions.left'),
  })
  if (applied.length > 0) logger.info({ applied }, 'database.migrated')

  const stopAsked = untilSignal()
  const app = createApp({
    config,
    logger,
    databaseUrl,
    masterKeys: config.masterKeys,
    operatorKey: config.operatorKey as string,
  })
  await app.start()
  logger.info({ baseUrl: app.baseUrl() }, 'paybell.ready')
  const signal = await stopAsked
  logger.info({ signal }, 'paybell.stopping')
  await app.stop()
  logger.info('paybell.stopped')
}
