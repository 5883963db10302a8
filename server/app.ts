// The composition: settings in, a running service out. Clock, dice, network and store are made here
// and handed down; nothing below this file reaches for them by itself.

import { randomBytes, randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import type { Logger } from 'pino'
import type { Config } from './config.ts'
import { DAY_MS, type RetryPolicy, retryPolicy } from './core/backoff.ts'
import { type CircuitPolicy, circuitPolicy } from './core/circuit.ts'
import { outcomeCode } from './core/delivery.ts'
import { LEASE_POLICY, type LeasePolicy } from './core/lease.ts'
import { UuidMaker } from './core/uuid.ts'
import { DatabaseClock } from './database-clock.ts'
import { CallbackClient } from './delivery/callback-client.ts'
import { DUE_READER_LIMITS, type DueReaderLimits } from './delivery/due-reader.ts'
import { Engine } from './delivery/engine.ts'
import type { AttemptReport } from './delivery/environment.ts'
import { postgresDeliveryStore } from './delivery/postgres-delivery-store.ts'
import { RECORDER_LIMITS } from './delivery/recorder.ts'
import { operatorPaymentRoutes } from './http/routes/operator-payments.ts'
import { buildServer, type ServerDeps } from './http/server.ts'
import type { App } from './http/typed.ts'
import { Metrics } from './metrics.ts'
import { AccountDirectory } from './operations/account-directory.ts'
import type { Deps } from './operations/deps.ts'
import { rotateSigningKeyIfOld } from './operations/keyring.ts'
import { PaymentGatherer } from './operations/payment-gatherer.ts'
import { recordPayments } from './operations/record-payments.ts'
import { Readiness } from './readiness.ts'
import { createPool } from './store/db.ts'
import { freeAllLeases, readDatabaseTimeMs } from './store/leases.ts'
import { ensurePartitions } from './store/partitions.ts'
import { dropOldHistory } from './store/retention.ts'
import { Sealer } from './store/sealing.ts'
import { WakeUps } from './store/wake-ups.ts'
import { VERSION } from './version.ts'

export interface AppOptions {
  config: Config
  logger: Logger
  databaseUrl: string
  masterKeys: readonly Buffer[]
  operatorKey: string
  /** Nobody else can be on this database: shards of a predecessor that died need not run out. */
  isAlone?: boolean
  leasePolicy?: LeasePolicy
  spans?: Partial<Spans>
}

/** Spans that are fixed in operation, and compressed where real processes are tested to the end. */
export interface Spans {
  retry: RetryPolicy
  circuit: CircuitPolicy
  patienceMs: number
  disableAfterMs: number
  attempt: { deadlineMs: number; connectTimeoutMs: number; tickMs: number }
  pollEveryMs: number
  careEveryMs: number
  dueReader: DueReaderLimits
  statementTimeoutMs: number
}

export interface PaybellApp {
  deps: Deps
  baseUrl(): string
  start(): Promise<void>
  stop(): Promise<void>
}

const SLOTS = 512
const HOUR_MS = 3_600_000
const UPKEEP_EVERY_MS = HOUR_MS
const SIGNING_KEY_AGE_MS_MAX = 30 * DAY_MS

export function createApp(options: AppOptions): PaybellApp {
  const { logger, spans = {} } = options
  const config = { ...options.config, operatorKey: options.operatorKey }
  const clock = new DatabaseClock()
  let isStopping = false
  const pool = createPool({
    url: options.databaseUrl,
    connectionsMax: 16,
    onIdleError: (error) => {
      if (!isStopping) logger.warn({ error: error.message }, 'database.connection-lost')
    },
    applicationName: 'paybell',
    ...(spans.statementTimeoutMs ? { statementTimeoutMs: spans.statementTimeoutMs } : {}),
  })
  const ids = new UuidMaker(() => clock.nowMs(), randomBytes)
  const targets = {
    loopbackAllowed: config.mode === 'sandbox',
    // The sandbox relaxes loopback and nothing else.
    allowedNetworks: config.mode === 'production' ? config.allowedNetworks : [],
  }
  const sealer = new Sealer(options.masterKeys)
  const sender = new CallbackClient({
    policy: targets,
    monotonicMs: () => clock.monotonicMs(),
    // Lanes bound what is in flight. A limit per origin would let endpoints that hang hold up the
    // others of the same host.
    connectionsPerOrigin: 2 * SLOTS,
    ...spans.attempt,
    ...(config.extraCa === null ? {} : { extraCa: config.extraCa }),
  })
  const leases = options.leasePolicy ?? LEASE_POLICY
  const processId = randomUUID()
  const wakeUps = new WakeUps({
    url: options.databaseUrl,
    processId,
    onWakeUp: (wakeUp) => engine.wake(wakeUp),
    onGap: () => engine.wake({ shards: engine.shards, endpoints: [] }),
    onError: (error) => logger.warn({ error: error.message }, 'wake-ups.connection-lost'),
  })
  const metrics = new Metrics(VERSION, () => engine)
  const engine = new Engine(
    {
      clock,
      random: Math.random,
      setTimer: (ms, run) => {
        const timer = setTimeout(run, ms)
        return () => clearTimeout(timer)
      },
      store: postgresDeliveryStore(
        pool,
        sealer,
        { id: processId, host: hostname(), version: VERSION },
        leases,
      ),
      send: (request) => sender.send(request),
      wakeUps,
      log: logger,
      onDisabled: () => metrics.countDisabled(),
      onAttempt: (report) => {
        metrics.countAttempt(report)
        // Ten thousand a second: the line is not even made when nobody wants it.
        if (logger.isLevelEnabled('info')) logger.info(attemptLine(report), 'delivery.attempted')
      },
    },
    {
      retry: spans.retry ?? retryPolicy(config.timeScale),
      leases,
      lanes: {
        policy: {
          inFlightMax: SLOTS / 8,
          circuit: spans.circuit ?? circuitPolicy(config.timeScale),
          slowMs: 1_000,
          ratePerSecond: config.endpointRatePerSecond,
          bytesPerTurn: 64 * 1024,
        },
        slots: SLOTS,
        perLaneMax: DUE_READER_LIMITS.inMemoryMax / 8,
        perBrokenLaneMax: 100,
        lanesMax: 20_000,
        keepMsMax: 30_000,
        // "7d" is for never giving way: no update fails for longer than its 7 days.
        patienceMs:
          spans.patienceMs ??
          (config.orderPatienceMs >= 7 * DAY_MS
            ? Number.POSITIVE_INFINITY
            : config.orderPatienceMs / config.timeScale),
      },
      payloads: { cacheBytesMax: 64 * 1024 * 1024, fileBytesMax: 64 * 1024 * 1024 },
      recorder: RECORDER_LIMITS,
      dueReader: spans.dueReader ?? DUE_READER_LIMITS,
      pollEveryMs: spans.pollEveryMs ?? 1_000,
      slowCheckEveryMs: 250,
      careEveryMs: spans.careEveryMs ?? Math.max(1_000, 60_000 / config.timeScale),
      // A little more than the 7 days: what waited behind an exhausted update gets its chance first.
      disableAfterMs: spans.disableAfterMs ?? (7 * DAY_MS + HOUR_MS) / config.timeScale + 2_000,
      onDatabaseTime: (...reading) => clock.adjust(...reading),
    },
  )
  const deps: Deps = { pool, clock, config, sealer, targets, newId: () => ids.next(), engine }
  const accounts = new AccountDirectory(pool)
  const gatherer = new PaymentGatherer((changes) => recordPayments(deps, accounts, changes))
  const readiness = new Readiness(pool, sealer)

  let baseUrl = config.baseUrl ?? ''
  const serverDeps: ServerDeps = {
    ...deps,
    logger,
    baseUrl: () => baseUrl,
    readiness: () => readiness.check(),
    metrics: () => metrics.text(),
    routes: {
      operator: [operatorPaymentRoutes({ ...deps, baseUrl: () => baseUrl, gatherer, accounts })],
    },
  }
  const servers: App[] = []
  let upkeepTimer: NodeJS.Timeout | undefined

  /** What has to happen now and then, in whichever process: partitions ahead, old ones gone,
   *  fresh signing keys. */
  async function upkeep(): Promise<void> {
    try {
      await ensurePartitions(pool, new Date(clock.nowMs()))
      const dropped = await dropOldHistory(pool, new Date(clock.nowMs()), config.retentionDays)
      if (dropped.partitions.length > 0) logger.info(dropped, 'history.dropped')
      await rotateSigningKeyIfOld(deps, SIGNING_KEY_AGE_MS_MAX)
    } catch (error) {
      logger.error({ error: String(error) }, 'upkeep.failed')
    }
  }

  async function listen(surface: 'all' | 'public' | 'operator', port: number): Promise<string> {
    const server = await buildServer(serverDeps, surface)
    servers.push(server)
    const address = await server.listen({ host: config.host, port })
    logger.info({ surface, address }, 'server.listening')
    return address
  }

  return {
    deps,
    baseUrl: () => baseUrl,
    async start() {
      // Nothing is accepted or sent by the machine's own clock, which may be wrong by days.
      const askedAtMs = clock.monotonicMs()
      clock.adjust(await readDatabaseTimeMs(pool), askedAtMs, clock.monotonicMs())
      if (options.isAlone) await freeAllLeases(pool)
      await wakeUps.start()
      await engine.start()
      upkeepTimer = setInterval(() => void upkeep(), UPKEEP_EVERY_MS)
      upkeepTimer.unref()
      const isSplit = config.operatorPort !== null
      const address = await listen(isSplit ? 'public' : 'all', config.port)
      if (config.baseUrl === null) baseUrl = address
      if (config.operatorPort !== null) await listen('operator', config.operatorPort)
    },
    async stop() {
      isStopping = true
      clearInterval(upkeepTimer)
      // First nobody is let in any more, then what is under way ends, then the store goes.
      const cutOff = setTimeout(() => {
        for (const { server } of servers) server.closeAllConnections()
      }, 10_000)
      await Promise.all([...servers.map((server) => server.close()), engine.stop()])
      clearTimeout(cutOff)
      await wakeUps.stop()
      await sender.close()
      await pool.end()
    },
  }
}

function attemptLine(report: AttemptReport): object {
  const { outcome, nextAttemptAtMs, atMs, ...line } = report
  return {
    ...line,
    at: new Date(atMs).toISOString(),
    outcome: outcomeCode(outcome),
    status: outcome.kind === 'answered' ? outcome.status : undefined,
    nextAttemptAt: nextAttemptAtMs === null ? null : new Date(nextAttemptAtMs).toISOString(),
  }
}
