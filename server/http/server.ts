// The HTTP server with every route there is, built apart from `listen`:
//   const app = await buildServer(deps, 'all' | 'public' | 'operator')
//   await app.listen({ host, port }); …; await app.close()
// Throw a ServiceError anywhere: it becomes a problem.

import { RateBuckets } from '../operations/parts/rate-buckets.ts'
import { authenticateClient, authenticateOperator, resolveAccount } from './authenticate.ts'
import { acceptBodies } from './body.ts'
import { sendFailure } from './failures.ts'
import { createHttpApp } from './http-app.ts'
import { LargeWork } from './large-work.ts'
import { sendMovedOn } from './moved-clients.ts'
import { describeInterface } from './openapi.ts'
import { requireRoles } from './operator-roles.ts'
import { logRequests } from './request-log.ts'
import { countRequests } from './request-metrics.ts'
import { traceRequests } from './request-spans.ts'
import { keepRouteTable } from './route-table.ts'
import { consoleRoutes } from './routes/console.ts'
import { deliveryRoutes } from './routes/deliveries.ts'
import { deliveryActionRoutes } from './routes/delivery-actions.ts'
import { docsRoutes } from './routes/docs.ts'
import { documentRoutes } from './routes/documents.ts'
import { eventRoutes } from './routes/events.ts'
import { guideRoutes } from './routes/guides.ts'
import { housekeepingRoutes } from './routes/housekeeping.ts'
import { listenerRoutes } from './routes/listeners.ts'
import { missingEventRoutes } from './routes/missing-events.ts'
import { noticeRoutes } from './routes/notices.ts'
import { operatorAuditRoutes } from './routes/operator-audit.ts'
import { operatorAuditSealRoutes } from './routes/operator-audit-seal.ts'
import { operatorBulkRoutes } from './routes/operator-bulk.ts'
import { operatorCellRoutes } from './routes/operator-cells.ts'
import { operatorClientRoutes } from './routes/operator-clients.ts'
import { operatorDeliveryRoutes } from './routes/operator-deliveries.ts'
import { operatorDeliveryActionRoutes } from './routes/operator-delivery-actions.ts'
import { operatorEndpointRoutes } from './routes/operator-endpoints.ts'
import { operatorJobRoutes } from './routes/operator-jobs.ts'
import { operatorKeyRoutes } from './routes/operator-keys.ts'
import { operatorPaymentErasureRoutes } from './routes/operator-payment-erasure.ts'
import { operatorPaymentViewRoutes } from './routes/operator-payment-views.ts'
import { operatorPaymentRoutes } from './routes/operator-payments.ts'
import { operatorRetryRoutes } from './routes/operator-retries.ts'
import { operatorSettingsRoutes } from './routes/operator-settings.ts'
import { operatorStatementRoutes } from './routes/operator-statements.ts'
import { operatorStatsRoutes } from './routes/operator-stats.ts'
import { ownPaymentRoutes } from './routes/own-payments.ts'
import { problemPageRoutes } from './routes/problem-pages.ts'
import { receiverToolRoutes } from './routes/receiver-tools.ts'
import { retryRoutes } from './routes/retries.ts'
import { operatorSearchRoutes, searchRoutes } from './routes/search.ts'
import { securityTxtRoutes } from './routes/security-txt.ts'
import { statementRoutes } from './routes/statements.ts'
import { subscriptionRoutes } from './routes/subscriptions.ts'
import { tokenRoutes } from './routes/tokens.ts'
import { webhookKeyRoutes } from './routes/webhook-keys.ts'
import { webhookRoutes } from './routes/webhooks.ts'
import { tellAllowedMethods } from './routing.ts'
import { setSecurityHeaders } from './security-headers.ts'
import type { ServerDeps, Surface } from './server-deps.ts'
import type { App, Routes } from './typed.ts'
import { createValidatorCompiler } from './validation.ts'

export async function buildServer(deps: ServerDeps, surface: Surface = 'all'): Promise<App> {
  const app = createHttpApp(deps)
  const work = new LargeWork()
  await prepare(app, deps, work)
  for (const add of openRoutes(deps, surface)) await add(app)
  if (surface !== 'operator') await addClientInterface(app, deps, work)
  if (deps.sandbox) await deps.sandbox(app)
  if (surface !== 'public') await addOperatorInterface(app, deps, operatorRoutes(deps, work))
  await app.ready()
  return app
}

/** What every route has in common. */
async function prepare(app: App, deps: ServerDeps, work: LargeWork): Promise<void> {
  // First, so that the span covers everything that follows.
  if (deps.tracer) traceRequests(app, deps.tracer)
  countRequests(app, (request) => deps.onAnswered(request))
  setSecurityHeaders(app)
  logRequests(app, deps.config.mode)
  keepRouteTable(app)
  tellAllowedMethods(app)
  acceptBodies(app, work)
  const policy = { targets: deps.targets, sharedKeyLengthMin: deps.config.sharedKeyLengthMin }
  app.setValidatorCompiler(createValidatorCompiler(policy))
  app.setErrorHandler((error, request, reply) => {
    const answer = (failure: unknown) => sendFailure(failure, request, reply, deps.baseUrl())
    return deps.access.moves.explain(error)?.then(answer) ?? answer(error)
  })
  await describeInterface(app, deps.baseUrl, policy)
  app.decorate('consoleSessions', deps.access.sessions)
  app.decorate('isAtHttps', deps.config.baseUrl?.startsWith('https:') ?? false)
}

function openRoutes(deps: ServerDeps, surface: Surface): readonly Routes[] {
  return [
    housekeepingRoutes(deps, deps.access.keys, surface),
    problemPageRoutes(),
    securityTxtRoutes(deps),
    docsRoutes(),
    guideRoutes(surface),
    consoleRoutes({ ...deps, surface }),
  ]
}

/** Needs a token, except for the route that gives one and for links, which are credentials of their own. */
async function addClientInterface(app: App, deps: ServerDeps, work: LargeWork): Promise<void> {
  const { tokens, moves } = deps.access
  const requests = new RateBuckets({
    burst: 2 * deps.config.requestsPerSecond,
    perSecond: deps.config.requestsPerSecond,
    keysMax: 50_000,
    monotonicMs: () => deps.clock.monotonicMs(),
  })
  await app.register(async (scope: App) => tokenRoutes(deps, deps.access)(scope))
  await app.register(async (scope: App) => webhookKeyRoutes(deps.webhookKeys)(scope))
  await app.register(async (scope: App) => documentRoutes(deps)(scope))
  await app.register(async (scope: App) => {
    scope.addHook('onRequest', authenticateClient(tokens, requests, moves))
    scope.addHook('onRequest', resolveAccount(deps.accounts))
    const routes = [
      webhookRoutes(deps),
      subscriptionRoutes(deps),
      eventRoutes(deps),
      deliveryRoutes(deps),
      ownPaymentRoutes(deps),
      searchRoutes(deps),
      receiverToolRoutes(deps, work),
      deliveryActionRoutes(deps),
      missingEventRoutes(deps),
      noticeRoutes(deps),
      retryRoutes(deps),
      statementRoutes(deps),
      listenerRoutes(deps),
    ]
    for (const add of routes) await add(scope)
  })
}

/** Each route needs a key with the role that it names. */
export async function addOperatorInterface(
  app: App,
  { access, accounts }: Pick<ServerDeps, 'access' | 'accounts'>,
  routes: readonly Routes[],
): Promise<void> {
  await app.register(
    async (scope: App) => {
      requireRoles(scope)
      sendMovedOn(scope, access.moves, accounts)
      scope.addHook('onRequest', authenticateOperator(access.keys))
      for (const add of routes) await add(scope)
    },
    { prefix: '/operator/v1' },
  )
}

function operatorRoutes(deps: ServerDeps, work: LargeWork): readonly Routes[] {
  return [
    operatorClientRoutes(deps),
    operatorKeyRoutes(deps, deps.access.keys),
    operatorAuditRoutes(deps),
    operatorAuditSealRoutes(deps),
    operatorSettingsRoutes(deps),
    operatorPaymentViewRoutes(deps),
    operatorPaymentErasureRoutes(deps),
    operatorDeliveryRoutes(deps),
    operatorSearchRoutes(deps),
    operatorEndpointRoutes(deps),
    operatorStatementRoutes(deps),
    operatorPaymentRoutes(deps, work),
    operatorDeliveryActionRoutes(deps),
    operatorBulkRoutes(deps),
    operatorJobRoutes(deps),
    operatorRetryRoutes(deps),
    operatorStatsRoutes(deps),
    operatorCellRoutes(deps),
  ]
}
