// The HTTP server, built apart from `listen`:
//   const app = await buildServer(deps, 'all' | 'public' | 'operator')
//   await app.listen({ host, port }); …; await app.close()
// `deps.routes` adds routes of the client interface (behind a token) and of the operator's (behind
// a key with the role that they name, under /operator/v1). Throw a ServiceError anywhere: it becomes a problem.

import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'
import type { Tracer } from '@opentelemetry/api'
import Fastify, { type FastifyBaseLogger, LogController } from 'fastify'
import type { Access } from '../operations/parts/access.ts'
import { ClientDirectory } from '../operations/parts/client-directory.ts'
import type { Deps } from '../operations/parts/deps.ts'
import { Keyring } from '../operations/parts/keyring.ts'
import type { OperatorKeys } from '../operations/parts/operator-keys.ts'
import { RateBuckets } from '../operations/parts/rate-buckets.ts'
import { TokenVerifier } from '../operations/parts/verify-token.ts'
import { sandboxClockRoutes, type TimeScale } from '../sandbox/clock-routes.ts'
import type { DemoReceivers } from '../sandbox/demo-receivers.ts'
import { sandboxReceiverRoutes } from '../sandbox/receiver-routes.ts'
import { authenticateClient, authenticateOperator, resolveAccount } from './authenticate.ts'
import { acceptBodies } from './body.ts'
import { answerClientError, answerConnect } from './client-errors.ts'
import { sendFailure } from './failures.ts'
import { LargeWork } from './large-work.ts'
import { describeInterface } from './openapi.ts'
import { requireRoles } from './operator-roles.ts'
import { logRequests, refusalLevel } from './request-log.ts'
import { type AnsweredRequest, countRequests } from './request-metrics.ts'
import { traceRequests } from './request-spans.ts'
import { keepRouteTable } from './route-table.ts'
import { consoleRoutes } from './routes/console.ts'
import { deliveryRoutes } from './routes/deliveries.ts'
import { docsRoutes } from './routes/docs.ts'
import { eventRoutes } from './routes/events.ts'
import { housekeepingRoutes } from './routes/housekeeping.ts'
import { operatorAuditRoutes } from './routes/operator-audit.ts'
import { operatorClientRoutes } from './routes/operator-clients.ts'
import { operatorDeliveryRoutes } from './routes/operator-deliveries.ts'
import { operatorEndpointRoutes } from './routes/operator-endpoints.ts'
import { operatorKeyRoutes } from './routes/operator-keys.ts'
import { operatorPaymentErasureRoutes } from './routes/operator-payment-erasure.ts'
import { operatorPaymentViewRoutes } from './routes/operator-payment-views.ts'
import { operatorSettingsRoutes } from './routes/operator-settings.ts'
import { problemPageRoutes } from './routes/problem-pages.ts'
import { receiverToolRoutes } from './routes/receiver-tools.ts'
import { subscriptionRoutes } from './routes/subscriptions.ts'
import { tokenRoutes } from './routes/tokens.ts'
import { webhookRoutes } from './routes/webhooks.ts'
import { tellAllowedMethods } from './routing.ts'
import { SECURITY_HEADERS, setSecurityHeaders } from './security-headers.ts'
import { compileOnFirstUse } from './serializers.ts'
import type { App, Routes, TypeBoxProvider } from './typed.ts'
import { createValidatorCompiler } from './validation.ts'

export interface Readiness {
  ready: boolean
  /** Why not, in plain words without secrets or inner addresses. */
  reasons: readonly string[]
}

export interface ServerDeps extends Deps {
  /** One for all servers of the process. */
  access: Access
  logger: FastifyBaseLogger
  version: string
  /** The service's public address, without a slash at the end; known once it listens. */
  baseUrl(): string
  readiness(): Promise<Readiness> | Readiness
  /** True while the process is about to stop: kept connections are let go with their next answer. */
  isDraining?(): boolean
  /** Prometheus text. */
  metrics(): Promise<string> | string
  /** Told of each answer. */
  onAnswered?(request: AnsweredRequest): void
  /** Null, or left out, while nobody traces. */
  tracer?: Tracer | null
  /** Null, or left out, except in the sandbox. */
  receivers?: DemoReceivers | null
  /** The same. */
  timeScale?: TimeScale | null
  routes?: { client?: readonly Routes[]; operator?: readonly Routes[] }
}

/** With an operator port there are two servers: each knows nothing of the other's addresses. */
export type Surface = 'all' | 'public' | 'operator'

const HEADER_BYTES_MAX = 16 * 1_024
const BODY_BYTES_MAX = 64 * 1_024
const REAP_EVERY_MS = 50

export async function buildServer(deps: ServerDeps, surface: Surface = 'all'): Promise<App> {
  const app = createApp(deps)
  // First of all: what follows belongs to the span.
  if (deps.tracer) traceRequests(app, deps.tracer)
  if (deps.onAnswered) countRequests(app, deps.onAnswered)
  setSecurityHeaders(app)
  logRequests(app, deps.config.mode)
  keepRouteTable(app)
  tellAllowedMethods(app)
  const work = new LargeWork()
  acceptBodies(app, work)
  const policy = { targets: deps.targets, sharedKeyLengthMin: deps.config.sharedKeyLengthMin }
  app.setValidatorCompiler(createValidatorCompiler(policy))
  app.setErrorHandler((error, request, reply) => sendFailure(error, request, reply, deps.baseUrl()))
  await describeInterface(app, deps.baseUrl, policy)
  const { keys, sessions } = deps.access
  app.decorate('consoleSessions', sessions)
  const open = [
    housekeepingRoutes(deps, keys, surface),
    problemPageRoutes(),
    docsRoutes(),
    consoleRoutes({ ...deps, surface }),
  ]
  for (const add of open) await add(app)
  if (surface !== 'operator') await addClientInterface(app, deps, work)
  if (deps.receivers) await sandboxReceiverRoutes(deps.receivers, keys)(app)
  if (deps.timeScale) await sandboxClockRoutes(deps.timeScale, keys)(app)
  if (surface !== 'public') await addOperatorInterface(app, deps, keys)
  await app.ready()
  return app
}

function createApp(deps: ServerDeps): App {
  const { logger, config } = deps
  const app = Fastify({
    loggerInstance: logger,
    // One wide line per request is ours to write (request-log.ts).
    logController: new LogController({
      disableRequestLogging: true,
      requestIdLogLabel: 'requestId',
    }),
    // A request id is ours: a caller's own could forge another's trail in the log.
    requestIdHeader: false,
    genReqId: () => randomUUID(),
    schemaController: { compilersFactory: { buildSerializer: compileOnFirstUse } },
    bodyLimit: BODY_BYTES_MAX,
    requestTimeout: 30_000,
    keepAliveTimeout: 72_000,
    // While closing, what still arrives is answered; the sockets close behind it.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    trustProxy: config.trustedProxies.length > 0 ? [...config.trustedProxies] : false,
    // Long ids reach their handlers, which answer 404 like for any other unknown id.
    routerOptions: { maxParamLength: HEADER_BYTES_MAX },
    http: {
      maxHeaderSize: HEADER_BYTES_MAX,
      headersTimeout: 10_000,
      connectionsCheckingInterval: 2_000,
      insecureHTTPParser: false,
      // Answered by us (security-headers.ts), in the one shape.
      requireHostHeader: false,
    },
    frameworkErrors: (error, request, reply) => {
      // No hook has run, nor will one: the address did not even lead to a route.
      const { statusCode: status } = sendFailure(
        error,
        request,
        reply.headers(SECURITY_HEADERS),
        deps.baseUrl(),
      )
      const line = { requestId: request.id, status, code: request.problemCode }
      logger[refusalLevel(config.mode)](line, 'request.unreadable')
    },
    clientErrorHandler: (error, socket) => {
      const level = refusalLevel(config.mode)
      answerClientError(error, socket, { baseUrl: deps.baseUrl(), logger, level })
    },
  }).withTypeProvider<TypeBoxProvider>()
  // RFC 9110 §10.1.1 lets a server ignore expectations; Node's own 417 would have no body.
  app.server.on('checkExpectation', (request, response) => {
    app.server.emit('request', request, response)
  })
  app.server.on('connect', (_request, socket: Socket) => {
    const level = refusalLevel(config.mode)
    answerConnect(socket, { baseUrl: deps.baseUrl(), logger, level })
  })
  closeSocketsBehindAnswers(app, () => deps.isDraining?.() ?? false)
  app.decorateRequest('caller', null)
  app.decorateRequest('operator', null)
  app.decorateRequest('accountId', null)
  app.decorateRequest('problemCode', null)
  app.decorateRequest('logged', null)
  app.decorateRequest('span', null)
  return app
}

/**
 * A request that is under way when the server closes would leave its socket to the keep-alive time-out,
 * and the whole stop to wait for it: 72 s, where 16 are promised.
 */
function closeSocketsBehindAnswers(app: App, isDraining: () => boolean): void {
  let isClosing = false
  // Opened ahead, as clients do, and never asked anything: Node does not call them idle.
  const silent = new Set<Socket>()
  app.server.on('connection', (socket: Socket) => {
    silent.add(socket)
    socket.once('close', () => silent.delete(socket))
  })
  app.server.on('request', (request) => silent.delete(request.socket))
  app.addHook('preClose', async () => {
    isClosing = true
    // Also those whose header was out already.
    const reaper = setInterval(() => {
      app.server.closeIdleConnections()
      for (const socket of silent) socket.destroy()
    }, REAP_EVERY_MS)
    reaper.unref()
    app.server.once('close', () => clearInterval(reaper))
  })
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (isClosing || isDraining()) reply.header('connection', 'close')
    done()
  })
}

async function addClientInterface(app: App, deps: ServerDeps, work: LargeWork): Promise<void> {
  const keyring = new Keyring(deps)
  const directory = new ClientDirectory(deps)
  const verifier = new TokenVerifier(deps, { keyring, directory })
  const requests = new RateBuckets({
    burst: 2 * deps.config.requestsPerSecond,
    perSecond: deps.config.requestsPerSecond,
    keysMax: 50_000,
    monotonicMs: () => deps.clock.monotonicMs(),
  })
  await app.register(async (scope: App) => tokenRoutes(deps, keyring, deps.access.logins)(scope))
  await app.register(async (scope: App) => {
    scope.addHook('onRequest', authenticateClient(verifier, requests))
    scope.addHook('onRequest', resolveAccount(deps.access.accounts))
    const routes = [
      webhookRoutes(deps),
      subscriptionRoutes(deps),
      eventRoutes(deps),
      deliveryRoutes(deps),
      receiverToolRoutes(deps, work),
      ...(deps.routes?.client ?? []),
    ]
    for (const add of routes) await add(scope)
  })
}

async function addOperatorInterface(app: App, deps: ServerDeps, keys: OperatorKeys): Promise<void> {
  await app.register(
    async (scope: App) => {
      requireRoles(scope)
      scope.addHook('onRequest', authenticateOperator(keys))
      const routes = [
        operatorClientRoutes(deps),
        operatorKeyRoutes(deps, keys),
        operatorAuditRoutes(deps),
        operatorSettingsRoutes(deps),
        operatorPaymentViewRoutes(deps),
        operatorPaymentErasureRoutes(deps),
        operatorDeliveryRoutes(deps),
        operatorEndpointRoutes(deps),
        ...(deps.routes?.operator ?? []),
      ]
      for (const add of routes) await add(scope)
    },
    { prefix: '/operator/v1' },
  )
}
