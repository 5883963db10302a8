// `paybell sandbox` (`npm start`): the whole service on this machine, with a real PostgreSQL of its own,
// a client to play with, and everything printed that the first call needs.

import { randomBytes } from 'node:crypto'
import type { Logger } from 'pino'
import { createApp, type PaybellApp } from '../../server/app.ts'
import { type Config, loadConfig } from '../../server/config/config.ts'
import { addressOfCell } from '../../server/core/network/database-url.ts'
import { superviseEmbedded } from '../../server/embedded/supervisor.ts'
import { createSignInLink } from '../../server/operations/access/console-session.ts'
import { onboardClient } from '../../server/operations/clients/onboard-client.ts'
import { openAccount } from '../../server/operations/clients/open-account.ts'
import type { Deps } from '../../server/operations/shared/deps.ts'
import { DemoReceivers } from '../../server/sandbox/demo-receivers.ts'
import { sandboxRoutes } from '../../server/sandbox/sandbox-routes.ts'
import { seedSandbox } from '../../server/sandbox/seed-sandbox.ts'
import { openAsAppRole } from '../../server/store/schema/app-role.ts'
import { checkDatabase } from '../../server/store/schema/check-database.ts'
import { migrate } from '../../server/store/schema/migrate.ts'
import { findClientsOfAccounts } from '../../server/store/secrets/accounts.ts'
import { StopSignals } from '../basics/stop-signals.ts'
import { namingDatabase } from './database-failure.ts'
import { drain } from './drain.ts'
import { createLogger } from './logger.ts'
import {
  loadClient,
  loadKeys,
  removeSandboxFile,
  type SandboxClient,
  saveClient,
  saveSandboxFile,
} from './sandbox-credentials.ts'
import { makeDataDir } from './sandbox-data-dir.ts'
import { warnOfMisspelt } from './warn-misspelt.ts'
import { commandOf, printWelcome } from './welcome.ts'

export async function sandbox(): Promise<void> {
  const startedAt = performance.now()
  const signals = new StopSignals()
  const config = loadConfig('sandbox', process.env)
  const logger = createLogger(config)
  warnOfMisspelt(process.env, logger)
  const dataDir = await makeDataDir(config.dataDir)

  const database = await openDatabase(config, dataDir, logger)
  try {
    await removeSandboxFile(dataDir)
    const keys = await loadKeys(dataDir)
    await migrate(database.url, new Date())
    // The service itself works under a role that cannot rewrite the audit.
    const databaseUrl = database.isOurs
      ? await openAsAppRole(database.url, 'paybell_app', randomBytes(24).toString('base64url'))
      : database.url
    const operatorKey = config.operatorKey ?? keys.operatorKey
    const receivers = new DemoReceivers()
    const command = commandOf(process.env)
    const app = createApp({
      config,
      logger,
      databaseUrl,
      masterKeys: config.masterKeys.length > 0 ? config.masterKeys : [keys.masterKey],
      operatorKey,
      isAlone: database.isOurs,
      sandbox: sandboxRoutes(receivers),
      command,
    })
    try {
      await Promise.race([app.start(), signals.requested])
      if (signals.isRequested) return
      const { isNew, ...client } = await ensureClient(app.deps, dataDir)
      const baseUrl = app.baseUrl()
      const signInUrl = `${app.operatorUrl()}/console/sign-in#${await createSignInLink(app.deps)}`
      const path = await saveSandboxFile(dataDir, { baseUrl, operatorKey, ...client })
      printWelcome({
        baseUrl,
        signInUrl,
        operatorKey,
        ...client,
        path,
        database: database.about,
        readyInMs: performance.now() - startedAt,
        command,
      })
      // Last, so that no caller waits for it, and only at the very first start.
      const seeding = isNew && isLookedAt(config) ? seed(app, receivers, logger) : undefined
      await signals.requested
      await seeding
      await drain(app, { seconds: config.drainSeconds, signals, logger })
    } finally {
      await app.stop()
    }
  } finally {
    await database.stop()
  }
}

interface OpenDatabase {
  url: string
  about: string
  /** This process started it and is its only user. */
  isOurs: boolean
  stop(): Promise<void>
}

async function openDatabase(
  config: Config,
  dataDir: string,
  logger: Logger,
): Promise<OpenDatabase> {
  if (config.databaseUrl !== null) {
    const url = config.databaseUrl
    const faults = await namingDatabase(checkDatabase(url))
    for (const fault of faults) logger.warn({ fault }, 'database.not-durable')
    return { url, about: 'PostgreSQL of DATABASE_URL', isOurs: false, stop: async () => {} }
  }
  const embedded = await superviseEmbedded({
    dataDir,
    log: ({ msg, ...fields }) => logger.info(fields, msg),
  })
  return {
    url: addressOfCell(embedded.url, config.cell),
    about: `PostgreSQL ${embedded.version}, embedded`,
    isOurs: true,
    stop: () => embedded.stop(),
  }
}

/** The same client at every start, unless the database no longer knows it. */
async function ensureClient(
  deps: Deps,
  dataDir: string,
): Promise<SandboxClient & { isNew: boolean }> {
  const stored = await loadClient(dataDir)
  if (stored && (await findClientsOfAccounts(deps.pool, [stored.accountId])).size > 0) {
    return { ...stored, isNew: false }
  }
  const { client, secret } = await onboardClient(deps, 'Sandbox client')
  const account = await openAccount(deps, client.id, 'Sandbox account')
  const made = { clientId: client.id, clientSecret: secret, accountId: account.id }
  await saveClient(dataDir, made)
  return { ...made, isNew: true }
}

/** A person wants something to look at; a script or a test counts, and wants the printed client alone. */
function isLookedAt({ sandboxSeed }: Config): boolean {
  return sandboxSeed === 'on' || (sandboxSeed === 'terminal' && process.stdout.isTTY === true)
}

/** A sandbox without something to look at works all the same. */
async function seed(app: PaybellApp, receivers: DemoReceivers, logger: Logger): Promise<void> {
  try {
    await seedSandbox(app.deps, receivers, app.baseUrl())
  } catch (error) {
    logger.warn({ error: String(error) }, 'sandbox.not-seeded')
  }
}
