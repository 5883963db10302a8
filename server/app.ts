// The composition: settings in, a running service out. Clock, dice, network and store are made here and
// passed down; no other file makes its own. Every part uses only those above it.

import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import type { Logger } from 'pino'
import { type Config, targetsOf } from './config/config.ts'
import { policiesOf } from './config/policies.ts'
import type { CallbackRequest } from './core/delivery/callback-request.ts'
import { LEASE_POLICY, type LeasePolicy } from './core/delivery/lease.ts'
import { isListenerUrl } from './core/delivery/listener.ts'
import { UuidMaker } from './core/plain/uuid.ts'
import { Engine } from './delivery/engine.ts'
import { engineOptions, SLOTS } from './delivery/engine-options.ts'
import { CautiousClock } from './delivery/seams/cautious-clock.ts'
import { postgresDeliveryStore } from './delivery/seams/postgres-delivery-store.ts'
import type { SiblingChannel, SiblingEnd } from './delivery/seams/sibling-channel.ts'
import { CallbackClient } from './delivery/sending/callback-client.ts'
import { createIdentifiedSend } from './delivery/sending/identified-send.ts'
import { sleeperOf } from './delivery/sleeper.ts'
import type { Routes } from './http/basics/typed.ts'
import { Doors } from './http/doors.ts'
import type { RouteEntry } from './http/route-table.ts'
import type { ServerDeps } from './http/routes/server-deps.ts'
import { Lifecycle, Phase, settleAll, UnfinishedStop } from './lifecycle.ts'
import { createGatherer } from './operations/accepting/create-gatherer.ts'
import { createAccess } from './operations/access/access.ts'
import { AccountDirectory } from './operations/access/account-directory.ts'
import type { OperatorKeys } from './operations/access/live-operator-keys.ts'
import { WebhookKeys } from './operations/access/webhook-keys.ts'
import { ShownCertificates } from './operations/certificates/shown-certificates.ts'
import { clearPredecessor } from './operations/deliveries/clear-predecessor.ts'
import { JOB_RUNNER_DEFAULTS, JobRunner } from './operations/deliveries/job-runner.ts'
import { ListenerRelay } from './operations/endpoints/listener-relay.ts'
import { signAssertion } from './operations/endpoints/sign-assertion.ts'
import { CallbackLinks } from './operations/shared/callback-links.ts'
import type { Deps } from './operations/shared/deps.ts'
import { createEndpointChanges } from './operations/shared/endpoint-changes.ts'
import { setTimer, setUnheldTimer } from './operations/shared/timers.ts'
import { configuredSources } from './sources/configured-sources.ts'
import { takeNatsLease, takeSources } from './store/connection/consumer-lease.ts'
import { DatabaseClock } from './store/connection/database-clock.ts'
import { createPool } from './store/connection/db.ts'
import { addressOf } from './store/connection/session.ts'
import { openSignSession } from './store/connection/sign-session.ts'
import { WakeUps } from './store/owed/wake-ups.ts'
import { Sealer } from './store/secrets/sealing.ts'
import { readDatabaseTime, setClock } from './telemetry/database-time.ts'
import type { Figures } from './telemetry/joined-figures.ts'
import { Readiness } from './telemetry/readiness.ts'
import { Telemetry } from './telemetry/telemetry.ts'
import { reportUntrustedKeys } from './telemetry/untrusted-keys.ts'
import type { Timing } from './timing.ts'
import { ensureNoticeEndpoint } from './upkeep/ensure-notice-endpoint.ts'
import { SealingFormPolls } from './upkeep/sealing-form-polls.ts'
import { Upkeep } from './upkeep/upkeep.ts'
import { VERSION } from './version.ts'

export interface AppOptions {
  config: Config
  logger: Logger
  databaseUrl: string
  masterKeys: readonly Buffer[]
  operatorKey: string | null
  /** Where it is one of several under one parent: the metrics of all of them. */
  metricsOfAll?: () => Promise<string>
  /** No other process uses this database, so leases of a dead predecessor need not expire first. */
  isAlone?: boolean
  /** Makes the routes that only a sandbox has. */
  sandbox?: (parts: { clock: DatabaseClock; keys: OperatorKeys }) => Routes
  /** What to type for `paybell` beside a sandbox. */
  command?: string
  leasePolicy?: LeasePolicy
  timing?: Partial<Timing>
}

export interface PaybellApp {
  deps: Deps
  baseUrl(): string
  /** The address of the operator's routes and console: another one, when they have a port of their own. */
  operatorUrl(): string
  /** The metrics of this process, to be joined with those of others. */
  figures(): Promise<Figures>
  /** What of them stays when the process is gone; also after a stop. */
  countedFigures(): Promise<Figures>
  /** Connects it with another process of this machine, to hand accepted deliveries over. */
  joinSibling(channel: SiblingChannel): SiblingEnd
  /** Every route that is served; known once started. */
  routes(): readonly RouteEntry[]
  /** If it fails, everything has been stopped again. */
  start(): Promise<void>
  /** Reports not ready but goes on with everything, so that a load balancer can stop sending first. Where another process
   *  has its place, it leaves the ports to that one instead. */
  drain(how?: { isReplaced: boolean }): void
  /** May be called during a start, and more than once. Rejects with an UnfinishedStop at its limit. */
  stop(): Promise<void>
}

/** How long a stop waits for callbacks that listeners are forwarding: longer than most receivers take. */
const LISTENERS_SETTLE_MS = 2_000
/** The longest attempt takes 15 s. docs/operations.md promises 20 s, of which two are left to end the process, on a slow machine. */
const STOP_MS_MAX = 18_000

export function createApp(options: AppOptions): PaybellApp {
  const { logger, databaseUrl, leasePolicy: leases = LEASE_POLICY, timing = {} } = options
  const config = { ...options.config, operatorKey: options.operatorKey }
  assert.equal(addressOf(databaseUrl).cell, config.cell, 'the address is that of another cell')
  const processId = randomUUID()
  const phase = new Phase()

  // Time, ids, secrets, the database.
  const clock = new DatabaseClock()
  const cautious = new CautiousClock()
  const cautiousMs = () => cautious.nowMs()
  const ids = new UuidMaker(() => clock.nowMs(), randomBytes, config.cell)
  const newId = () => ids.next()
  const policies = policiesOf(config, timing)
  const sealer = new Sealer(options.masterKeys)
  const targets = targetsOf(config)
  const pool = openPool(options, phase)
  const onUntrustedKeys = reportUntrustedKeys(logger)
  const webhookKeys = new WebhookKeys({ pool, clock, config, sealer, newId, onUntrustedKeys })
  const doors = new Doors(config)
  const callbackLinks = new CallbackLinks(pool, sealer, () => doors.baseUrl)
  const base = {
    pool,
    clock,
    config,
    policies,
    sealer,
    targets,
    newId,
    webhookKeys,
    onUntrustedKeys,
    callbackLinks,
  }

  // Sending, and what is said about it.
  const client = new CallbackClient({
    policy: targets,
    nowMs: () => clock.nowMs(),
    monotonicMs: () => clock.monotonicMs(),
    cautiousMs,
    // Lanes bound what is in flight. A limit per origin would let endpoints that hang hold up the
    // others of the same host.
    connectionsPerOrigin: 2 * SLOTS,
    ...timing.attempt,
    ...(config.extraCa === null ? {} : { extraCa: config.extraCa }),
  })
  const shownCertificates = new ShownCertificates(base)
  const sendOut = createIdentifiedSend(client, {
    find: (clientKey, choice) => shownCertificates.find(clientKey, choice),
    sign: (clientKey, oauth2) => signAssertion(base, clientKey, oauth2),
  })
  const relay = new ListenerRelay(base, {
    cautiousMs,
    deadlineMs: timing.attempt?.deadlineMs ?? LEASE_POLICY.attemptMsMax,
    onError: (error) => logger.warn({ error: String(error) }, 'listeners.not-reached'),
  })
  const send = (request: CallbackRequest) =>
    isListenerUrl(request.url) ? relay.send(request) : sendOut(request)
  const telemetry = new Telemetry({
    version: VERSION,
    cell: config.isCellNamed ? config.cell : null,
    pool,
    clock,
    processId,
    logger,
  })
  const { metrics, stream, tracing, writes, onForgedHours } = telemetry
  const wakeUps = new WakeUps({
    url: databaseUrl,
    processId,
    onError: (error) => logger.warn({ error: error.message }, 'wake-ups.connection-lost'),
  })
  const thisProcess = { id: processId, host: hostname(), version: VERSION }
  const engine = new Engine(
    {
      clock,
      cautiousMs,
      random: Math.random,
      setTimer,
      store: telemetry.watch(postgresDeliveryStore(pool, sealer, thisProcess, leases)),
      openSign: (onEnd) =>
        openSignSession({ url: databaseUrl, openMsMax: leases.sign.provenMs }, onEnd),
      send: telemetry.traced(send),
      signers: () => webhookKeys.signers(),
      wakeUps,
      documentLink: (delivery) => callbackLinks.toSend(delivery),
      log: logger,
      onDisabled: () => metrics.countDisabled(),
      onNotAttempted: () => metrics.countNotAttempted(),
      onSigned: () => metrics.countSigned(),
      onAttempt: (report) => telemetry.attempted(report),
    },
    engineOptions({
      policies,
      leases,
      mode: config.mode,
      ratePerSecond: config.endpointRatePerSecond,
      // Read with every renewal of the leases.
      onDatabaseTime: (...reading) => {
        setClock(clock, logger, ...reading)
        metrics.heartbeat(reading[0])
      },
      timing,
    }),
  )

  // What callers may ask, and what they ask through.
  const endpointChanges = createEndpointChanges(config)
  const deps: Deps = { ...base, engine, send, endpointChanges, shownCertificates, onForgedHours }
  const access = createAccess(deps)
  const accounts = new AccountDirectory(pool)
  const gatherer = telemetry.gathering(
    createGatherer(deps, accounts, access.moves, (accept) => telemetry.accepting(accept)),
  )
  const jobs = new JobRunner(deps, { ...JOB_RUNNER_DEFAULTS, runnerId: processId, log: logger })
  const readiness = new Readiness(pool, sealer, {
    cell: config.isCellNamed ? config.cell : null,
    isDraining: () => phase.isUnready,
    refusedWrites: () => writes.findReasons(),
    knownRefusals: () => writes.knownReasons(),
  })
  const sources = configuredSources({
    config,
    gatherer,
    takeNatsLease: (onLost) => takeNatsLease({ url: databaseUrl, cautiousMs, onLost }),
    takeSources: (names) => takeSources(pool, names),
    cautiousMs,
    log: logger,
    figures: metrics,
    timing: timing.sources ?? {},
  })
  const keys = { signing: access.keyring, webhook: webhookKeys }
  const sealingForm = new SealingFormPolls(deps, logger)
  const isMarkWrong = () => sealingForm.isWrong
  telemetry.show({ engine, sources: sources.list, readiness, keys, isMarkWrong })
  const serverDeps: ServerDeps = {
    ...deps,
    webhookKeys,
    access,
    accounts,
    gatherer,
    jobs,
    relay,
    stream,
    inFlight: () => engine.inFlight,
    logger,
    version: VERSION,
    baseUrl: () => doors.baseUrl,
    readiness: () => readiness.check(),
    isDraining: () => phase.isLeaving,
    metrics: () => options.metricsOfAll?.() ?? metrics.text(),
    onAnswered: (request) => metrics.countRequest(request),
    tracer: tracing?.tracer ?? null,
    sandbox: options.sandbox?.({ clock, keys: access.keys }) ?? null,
    command: options.command,
  }
  // What recurs.
  const upkeep = new Upkeep(deps, {
    logger,
    version: VERSION,
    onNotices: (count) => metrics.countNotices(count),
    random: Math.random,
    setTimer: setUnheldTimer,
  })

  const settleRelay = () => relay.settle(LISTENERS_SETTLE_MS)
  const life = new Lifecycle(phase, {
    up: [
      () => readDatabaseTime(pool, clock, logger),
      () => (options.isAlone ? clearPredecessor(deps) : undefined),
      () => sealingForm.start(),
      () => wakeUps.start(sleeperOf(engine, clock)),
      () => engine.start(),
      () => ensureNoticeEndpoint(deps),
      () => upkeep.start(),
      () => jobs.start(),
      () => telemetry.start(),
      () => doors.open(serverDeps),
      () => sources.start(),
    ],
    down: [
      // First nothing new is accepted, then work under way ends, then the store closes. Listeners answer
      // through our own ports, so these stay open a little for callbacks that are being forwarded.
      () => settleAll([upkeep.stop(), engine.stop(), sources.stop(), doors.close(settleRelay())]),
      () => relay.stop(),
      () => sealingForm.stop(),
      () => jobs.stop(),
      () => telemetry.stop(),
      () => wakeUps.stop(),
      () => client.close(),
      () => pool.end(),
    ],
    downMsMax: timing.stopMsMax ?? STOP_MS_MAX,
  })

  return {
    deps,
    baseUrl: () => doors.baseUrl,
    operatorUrl: () => doors.operatorUrl,
    figures: () => metrics.figures(),
    countedFigures: () => metrics.countedFigures(),
    joinSibling: (channel) => engine.joinSibling(channel),
    routes: () => doors.routes,
    start: () => life.start(),
    drain: (how) => {
      phase.drain(how)
      if (how?.isReplaced) doors.leavePorts()
    },
    stop: () =>
      life.stop().catch((error) => {
        // The next owners of their shards send these again, under the same webhook-id.
        if (error instanceof UnfinishedStop) {
          logger.error({ error: error.message, unrecorded: engine.unsettled }, 'paybell.cut-off')
        }
        throw error
      }),
  }
}

function openPool({ databaseUrl, config, logger, timing }: AppOptions, phase: Phase) {
  const statementTimeoutMs = timing?.statementTimeoutMs
  return createPool({
    url: databaseUrl,
    connectionsMax: config.databaseConnections,
    onIdleError: (error) => {
      if (!phase.isStopping) logger.warn({ error: error.message }, 'database.connection-lost')
    },
    applicationName: 'paybell',
    ...(statementTimeoutMs === undefined ? {} : { statementTimeoutMs }),
  })
}
