// The composition: settings in, a running service out. Clock, dice, network and store are made here
// and handed down; nothing below this file reaches for them by itself.

import { randomBytes, randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import type { Logger } from 'pino'
import { type Config, targetsOf } from './config/config.ts'
import { CurrentPolicies } from './config/policies.ts'
import type { RetryPolicy } from './core/backoff.ts'
import type { CircuitPolicy } from './core/circuit.ts'
import { LEASE_POLICY, type LeasePolicy } from './core/lease.ts'
import { isListenerUrl } from './core/listener.ts'
import { UuidMaker } from './core/uuid.ts'
import { CautiousClock } from './delivery/cautious-clock.ts'
import { CHANGE_WATCH_LIMITS } from './delivery/change-watch.ts'
import { DUE_READER_LIMITS, type DueReaderLimits } from './delivery/due-reader.ts'
import { Engine, type EngineOptions } from './delivery/engine.ts'
import { postgresDeliveryStore } from './delivery/postgres-delivery-store.ts'
import { RECORDER_LIMITS } from './delivery/recorder.ts'
import { CallbackClient, type CallbackRequest } from './delivery/sending/callback-client.ts'
import { describeListenFailure } from './http/listen-failure.ts'
import type { RouteEntry } from './http/route-table.ts'
import { deliveryActionRoutes } from './http/routes/delivery-actions.ts'
import { listenerRoutes } from './http/routes/listeners.ts'
import { operatorDeliveryActionRoutes } from './http/routes/operator-delivery-actions.ts'
import { operatorPaymentRoutes } from './http/routes/operator-payments.ts'
import { operatorStatsRoutes } from './http/routes/operator-stats.ts'
import { buildServer, type ServerDeps } from './http/server.ts'
import type { App } from './http/typed.ts'
import { Lifecycle, settleAll } from './lifecycle.ts'
import { createAccess } from './operations/parts/access.ts'
import type { Deps } from './operations/parts/deps.ts'
import { JOB_RUNNER_DEFAULTS, JobRunner } from './operations/parts/job-runner.ts'
import { ListenerRelay } from './operations/parts/listener-relay.ts'
import { OneAtATime } from './operations/parts/one-at-a-time.ts'
import { DemoReceivers } from './sandbox/demo-receivers.ts'
import { NatsSource, type NatsSpans } from './sources/nats-source.ts'
import { DatabaseClock } from './store/database-clock.ts'
import { createPool } from './store/db.ts'
import { freeAllLeases, readDatabaseTimeMs } from './store/leases.ts'
import { deleteOldOffers } from './store/listener-offers.ts'
import { LOCKS } from './store/locks.ts'
import { Sealer } from './store/sealing.ts'
import { holdLock } from './store/session-lock.ts'
import { WakeUps } from './store/wake-ups.ts'
import { probeWrite } from './store/write-refusals.ts'
import { createGatherer } from './telemetry/acceptance.ts'
import { AttemptCounter } from './telemetry/attempt-counter.ts'
import { attemptedEvent, attemptLine, countingExhausted } from './telemetry/attempt-reports.ts'
import { DatabaseGaugeReader } from './telemetry/database-gauges.ts'
import { LiveStream } from './telemetry/live-stream.ts'
import { Metrics } from './telemetry/metrics.ts'
import { Readiness } from './telemetry/readiness.ts'
import { findTracer, Tracing } from './telemetry/tracing.ts'
import { WriteWatch, watchingRenewals } from './telemetry/write-watch.ts'
import { ensureNoticeEndpoint } from './upkeep/notice-endpoint.ts'
import { setUnheldTimer } from './upkeep/rounds.ts'
import { SealingForm } from './upkeep/sealing-form.ts'
import { Upkeep } from './upkeep/upkeep.ts'
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
  attempt: { deadlineMs: number; connectTimeoutMs: number }
  pollEveryMs: number
  careEveryMs: number
  dueReader: DueReaderLimits
  statementTimeoutMs: number
  nats: Partial<NatsSpans>
}

export interface PaybellApp {
  deps: Deps
  /** Null except in the sandbox. */
  receivers: DemoReceivers | null
  baseUrl(): string
  /** Where the operator's routes and console are: elsewhere, when they have a port of their own. */
  operatorUrl(): string
  /** Every route that is served, once it is started. */
  routes(): readonly RouteEntry[]
  /** One that fails has stopped everything again. */
  start(): Promise<void>
  /** Says that it is not ready, and goes on with everything: whoever sends traffic can turn away first. */
  drain(): void
  /** Also during a start, and more than once. */
  stop(): Promise<void>
}

const SLOTS = 512
/** Of the deliveries in memory: a sixth of the room is for endpoints that answer, whatever the others do. */
const UNPROVEN_MAX = (DUE_READER_LIMITS.inMemoryMax / 6) * 5
const HOUR_MS = 3_600_000
/** For what listeners are forwarding while we stop: longer than most receivers take. */
const LISTENERS_SETTLE_MS = 2_000

export function createApp(options: AppOptions): PaybellApp {
  const { logger, spans = {} } = options
  const config = { ...options.config, operatorKey: options.operatorKey }
  const clock = new DatabaseClock()
  const cautious = new CautiousClock()
  const cautiousMs = () => cautious.nowMs()
  const pool = createPool({
    url: options.databaseUrl,
    connectionsMax: config.databaseConnections,
    onIdleError: (error) => {
      if (!life.isStopping) logger.warn({ error: error.message }, 'database.connection-lost')
    },
    applicationName: 'paybell',
    ...(spans.statementTimeoutMs ? { statementTimeoutMs: spans.statementTimeoutMs } : {}),
  })
  const ids = new UuidMaker(() => clock.nowMs(), randomBytes)
  const targets = targetsOf(config)
  const sealer = new Sealer(options.masterKeys)
  const sender = new CallbackClient({
    policy: targets,
    monotonicMs: () => clock.monotonicMs(),
    cautiousMs,
    // Lanes bound what is in flight. A limit per origin would let endpoints that hang hold up the
    // others of the same host.
    connectionsPerOrigin: 2 * SLOTS,
    ...spans.attempt,
    ...(config.extraCa === null ? {} : { extraCa: config.extraCa }),
  })
  // Callbacks that are fetched take the same way as those that are sent, up to here.
  const exchange = new ListenerRelay(
    { pool, clock, newId: () => ids.next() },
    {
      deadlineMs: spans.attempt?.deadlineMs ?? LEASE_POLICY.attemptMsMax,
      onError: (error) => logger.warn({ error: String(error) }, 'listeners.not-reached'),
    },
  )
  const send = (request: CallbackRequest) =>
    isListenerUrl(request.url) ? exchange.send(request) : sender.send(request)
  const leases = options.leasePolicy ?? LEASE_POLICY
  const processId = randomUUID()
  const wakeUps = new WakeUps({
    url: options.databaseUrl,
    processId,
    onWakeUp: (wakeUp) => engine.wake(wakeUp),
    onGap: (lostForMs) =>
      engine.wake({
        shards: engine.shards,
        endpoints: [],
        leases: true,
        sinceMs: clock.nowMs() - lostForMs - 1_000,
      }),
    onError: (error) => logger.warn({ error: error.message }, 'wake-ups.connection-lost'),
  })
  const gauges = new DatabaseGaugeReader(pool, clock)
  const stream = new LiveStream()
  const attemptCounter = new AttemptCounter({
    pool,
    clock,
    processId,
    onError: (error) => logger.warn({ error: String(error) }, 'attempt-steps.not-saved'),
  })
  const metrics = new Metrics(VERSION, {
    engine: () => engine,
    pool,
    nowMs: () => clock.nowMs(),
    database: () => gauges.read(),
    isReady: async () => (await readiness.check()).ready,
  })
  const tracer = findTracer(VERSION)
  const onError = (error: unknown) => logger.warn({ error: String(error) }, 'traces.not-saved')
  const tracing = tracer && new Tracing(tracer, { pool, clock, onError })
  const store = postgresDeliveryStore(
    pool,
    sealer,
    { id: processId, host: hostname(), version: VERSION },
    leases,
  )
  const policies = new CurrentPolicies(config, policyOverrides(spans))
  const engineOptions: EngineOptions = {
    policies,
    leases,
    lanes: {
      policy: {
        inFlightMax: SLOTS / 8,
        slowMs: 1_000,
        ratePerSecond: config.endpointRatePerSecond,
        backlogPerSecond: 2_000,
        bytesPerTurn: 64 * 1024,
      },
      slots: SLOTS,
      perLaneMax: UNPROVEN_MAX / 8,
      perBrokenLaneMax: 100,
      unprovenMax: UNPROVEN_MAX,
      lanesMax: 20_000,
      keepMsMax: 30_000,
    },
    payloads: { cacheBytesMax: 64 * 1024 * 1024, fileBytesMax: 64 * 1024 * 1024 },
    recorder: RECORDER_LIMITS,
    dueReader: spans.dueReader ?? DUE_READER_LIMITS,
    changes: CHANGE_WATCH_LIMITS,
    pollEveryMs: spans.pollEveryMs ?? 1_000,
    slowCheckEveryMs: 250,
    // The sandbox may be made faster while it runs: it cares as often as the fastest needs, so that what
    // has run out is exhausted before its endpoint is disabled.
    careEveryMs: spans.careEveryMs ?? (config.mode === 'sandbox' ? 1_000 : 60_000),
    // Told with every renewal of the leases.
    onDatabaseTime: (...reading) => {
      clock.adjust(...reading)
      metrics.heartbeat(reading[0])
    },
  }
  const writes = new WriteWatch({
    monotonicMs: () => clock.monotonicMs(),
    probe: () => probeWrite(pool),
  })
  const engine = new Engine(
    {
      clock,
      cautiousMs,
      random: Math.random,
      setTimer: (ms, run) => {
        const timer = setTimeout(run, ms)
        return () => clearTimeout(timer)
      },
      store: watchingRenewals(countingExhausted(store, metrics), writes),
      send: tracing ? (request) => tracing.send(request, send) : send,
      wakeUps,
      log: logger,
      onDisabled: () => metrics.countDisabled(),
      onNotAttempted: () => metrics.countNotAttempted(),
      onAttempt: (report) => {
        metrics.countAttempt(report)
        // Ten thousand a second: the line is not even made when nobody wants it.
        if (logger.isLevelEnabled('info')) logger.info(attemptLine(report), 'delivery.attempted')
        attemptCounter.count(
          report.atMs + report.durationMs,
          report.state === 'DELIVERED',
          report.durationMs,
        )
        if (stream.isWatched) stream.attempted(attemptedEvent(report))
      },
    },
    engineOptions,
  )
  const deps: Deps = {
    pool,
    clock,
    config,
    policies,
    sealer,
    targets,
    newId: () => ids.next(),
    engine,
    endpointChanges: new OneAtATime(),
    send,
  }
  const access = createAccess(deps)
  const { accounts } = access
  const gatherer = createGatherer(deps, { accounts, metrics, logger, tracing, stream, writes })
  const jobs = new JobRunner(deps, { ...JOB_RUNNER_DEFAULTS, runnerId: processId, log: logger })
  let isDraining = false
  const readiness = new Readiness(pool, sealer, {
    isDraining: () => isDraining || life.isStopping,
    refusedWrites: () => writes.findReasons(),
  })
  const sealingForm = new SealingForm(deps)
  const source =
    config.nats &&
    new NatsSource({
      settings: config.nats,
      gatherer,
      turn: { take: (onLost) => holdLock(options.databaseUrl, LOCKS.natsConsumer, onLost) },
      log: logger,
      ...(spans.nats ? { spans: spans.nats } : {}),
    })

  const receivers = config.mode === 'sandbox' ? new DemoReceivers(() => clock.nowMs()) : null

  /** For what is decided from now on; what was decided stays. Never outside the sandbox. */
  function changeTimeScale(timeScale: number): void {
    policies.changeTimeScale(timeScale)
    logger.info({ timeScale }, 'time-scale.changed')
  }

  let baseUrl = config.baseUrl ?? ''
  let operatorUrl: string | undefined
  const serverDeps: ServerDeps = {
    ...deps,
    access,
    logger,
    version: VERSION,
    baseUrl: () => baseUrl,
    readiness: () => readiness.check(),
    isDraining: () => isDraining,
    metrics: () => metrics.text(),
    onAnswered: (request) => metrics.countRequest(request),
    tracer,
    receivers,
    timeScale:
      config.mode === 'sandbox'
        ? { current: () => policies.current.timeScale, change: changeTimeScale }
        : null,
    routes: {
      client: [deliveryActionRoutes({ ...deps, jobs }), listenerRoutes({ ...deps, exchange })],
      operator: [
        operatorPaymentRoutes({ ...deps, baseUrl: () => baseUrl, gatherer, accounts }),
        operatorDeliveryActionRoutes({ ...deps, jobs }),
        operatorStatsRoutes({
          ...deps,
          version: VERSION,
          inFlight: () => engine.inFlight,
          stream,
        }),
      ],
    },
  }
  const upkeep = new Upkeep(deps, {
    logger,
    metrics,
    random: Math.random,
    setTimer: setUnheldTimer,
  })
  const servers: App[] = []

  async function listen(surface: 'all' | 'public' | 'operator', port: number): Promise<string> {
    const { host } = config
    const server = await buildServer(serverDeps, surface)
    servers.push(server)
    const setting = surface === 'operator' ? 'PAYBELL_OPERATOR_PORT' : 'PORT'
    const address = await server.listen({ host, port }).catch((error) => {
      throw describeListenFailure(error, { setting, host, port })
    })
    logger.info({ surface, address }, 'server.listening')
    return address
  }

  async function openDoors(): Promise<void> {
    const isSplit = config.operatorPort !== null
    const address = await listen(isSplit ? 'public' : 'all', config.port)
    if (config.baseUrl === null) baseUrl = address
    if (config.operatorPort !== null) operatorUrl = await listen('operator', config.operatorPort)
  }

  async function closeDoors(): Promise<void> {
    const cutOff = setTimeout(() => {
      for (const { server } of servers) server.closeAllConnections()
    }, 10_000)
    try {
      // What is being forwarded is answered through our own doors: they stay open for it a little.
      await exchange.settle(LISTENERS_SETTLE_MS)
    } finally {
      await settleAll([...servers.map((server) => server.close()), source?.stop()])
      clearTimeout(cutOff)
    }
  }

  const life = new Lifecycle({
    up: [
      async () => {
        // Nothing is accepted or sent by the machine's own clock, which may be wrong by days.
        const askedAtMs = clock.monotonicMs()
        clock.adjust(await readDatabaseTimeMs(pool), askedAtMs, clock.monotonicMs())
      },
      async () => {
        if (!options.isAlone) return
        await freeAllLeases(pool)
        // Nobody waits for what a predecessor has offered.
        await deleteOldOffers(pool, new Date(clock.nowMs() + HOUR_MS))
      },
      () => sealingForm.start(),
      () => wakeUps.start(),
      () => engine.start(),
      () => ensureNoticeEndpoint(deps),
      () => {
        upkeep.start()
        jobs.start()
        attemptCounter.start()
      },
      openDoors,
      () => source?.start(),
    ],
    down: [
      // First nobody is let in any more, then what is under way ends, then the store goes.
      () => settleAll([upkeep.stop(), engine.stop(), closeDoors()]),
      () => exchange.stop(),
      () => sealingForm.stop(),
      () => jobs.stop(),
      () => attemptCounter.stop(),
      () => wakeUps.stop(),
      () => sender.close(),
      () => pool.end(),
    ],
  })

  return {
    deps,
    receivers,
    baseUrl: () => baseUrl,
    operatorUrl: () => operatorUrl ?? baseUrl,
    routes: () => servers.flatMap((server) => server.routeTable),
    start: () => life.start(),
    drain: () => {
      isDraining = true
    },
    stop: () => life.stop(),
  }
}

/** What tests compress of the policies. */
function policyOverrides({ retry, circuit, patienceMs, disableAfterMs }: Partial<Spans>) {
  return {
    ...(retry ? { retry } : {}),
    ...(circuit ? { circuit } : {}),
    ...(patienceMs === undefined ? {} : { patienceMs }),
    ...(disableAfterMs === undefined ? {} : { disableAfterMs }),
  }
}
