// `paybell serve`: production. Many processes on many machines may share one database; this one may be the child of another,
// which keeps its port (serve-by-processes.ts).

import { createApp } from '../../server/app.ts'
import { UnfinishedStop } from '../../server/lifecycle.ts'
import { StopSignals } from '../basics/stop-signals.ts'
import { drain } from './drain.ts'
import { keepCompiled } from './keep-compiled.ts'
import { prepareService } from './prepare-service.ts'
import { joinParent, type ParentLink } from './processes/parent-link.ts'
import { connectSupervisor } from './supervisor.ts'

/** What is left then of a process that has stopped is of no use. */
const LINGER_MS_MAX = 1_000

export async function serve(): Promise<void> {
  const parent = joinParent(process.env)
  try {
    await serveHere(parent)
  } finally {
    await parent?.leave()
    // A broker that is frozen answers no end of a connection, and would keep the process as long.
    setTimeout(() => process.exit(), LINGER_MS_MAX).unref()
  }
}

async function serveHere(parent: ParentLink | null): Promise<void> {
  const signals = parent?.signals ?? new StopSignals()
  const { config, logger } = await prepareService(process.env, signals, parent)
  const app = createApp({
    config,
    logger,
    databaseUrl: config.databaseUrl as string,
    masterKeys: config.masterKeys,
    operatorKey: config.operatorKey,
    ...(parent && { metricsOfAll: () => parent.metricsOfAll() }),
  })
  const supervisor = connectSupervisor({
    env: process.env,
    onFailure: (error) => logger.warn({ error: String(error) }, 'supervisor.not-told'),
  })
  keepCompiled()
  // From here on shards are held: whatever happens, they are given back.
  try {
    await Promise.race([app.start(), signals.requested])
    const hasStarted = !signals.isRequested
    if (hasStarted) {
      logger.info({ baseUrl: app.baseUrl() }, 'paybell.ready')
      parent?.ready(app)
      await supervisor.ready()
    }
    const signal = await signals.requested
    logger.info({ signal }, 'paybell.stopping')
    // Not waited for: what systemd takes to hear of it is no part of the time that a stop has.
    void supervisor.stopping()
    if (hasStarted) {
      const isReplaced = parent?.isReplaced() ?? false
      await drain(app, { seconds: config.drainSeconds, signals, logger, isReplaced })
    }
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
