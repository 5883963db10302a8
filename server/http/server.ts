// The HTTP server with every route there is, built apart from `listen`:
//   const app = await buildServer(deps, 'all' | 'public' | 'operator')
//   await app.listen({ host, port }); …; await app.close()
// Throw a ServiceError anywhere: it becomes a problem.

import { RateBuckets } from '../operations/access/rate-buckets.ts'
import { CompanySignIn } from '../operations/people/company-sign-in.ts'
import { sendFailure } from './answers/failures.ts'
import { setSecurityHeaders } from './answers/security-headers.ts'
import { LargeWork } from './basics/large-work.ts'
import { requireRoles } from './basics/operator-roles.ts'
import type { App, Routes } from './basics/typed.ts'
import { createValidatorCompiler } from './basics/validation.ts'
import { createHttpApp } from './http-app.ts'
import { describeInterface } from './pages/openapi.ts'
import {
  authenticateClient,
  authenticateOperator,
  resolveAccount,
} from './requests/authenticate.ts'
import { acceptBodies } from './requests/body.ts'
import { sendMovedOn } from './requests/moved-clients.ts'
import { keepRouteTable } from './route-table.ts'
import { deliveryRoutes, operatorDeliveryRoutes } from './routes/both/deliveries.ts'
import {
  deliveryActionRoutes,
  operatorDeliveryActionRoutes,
} from './routes/both/delivery-actions.ts'
import { eventRoutes, operatorEventRoutes } from './routes/both/events.ts'
import { operatorRetryRoutes, retryRoutes } from './routes/both/retries.ts'
import { operatorSearchRoutes, searchRoutes } from './routes/both/search.ts'
import { operatorStatementRoutes, statementRoutes } from './routes/both/statements.ts'
import { clientCertificateRoutes } from './routes/client/client-certificates.ts'
import { documentRoutes } from './routes/client/documents.ts'
import { listenerRoutes } from './routes/client/listeners.ts'
import { missingEventRoutes } from './routes/client/missing-events.ts'
import { noticeRoutes } from './routes/client/notices.ts'
import { ownPaymentRoutes } from './routes/client/own-payments.ts'
import { ownStatsRoutes } from './routes/client/own-stats.ts'
import { receiverToolRoutes } from './routes/client/receiver-tools.ts'
import { subscriptionRoutes } from './routes/client/subscriptions.ts'
import { tokenRoutes } from './routes/client/tokens.ts'
import { webhookRoutes } from './routes/client/webhooks.ts'
import { assertionKeyRoutes } from './routes/open/assertion-keys.ts'
import { companySignInRoutes } from './routes/open/company-sign-in.ts'
import { consoleRoutes } from './routes/open/console.ts'
import { docsRoutes } from './routes/open/docs.ts'
import { egressRoutes } from './routes/open/egress.ts'
import { guideRoutes } from './routes/open/guides.ts'
import { housekeepingRoutes } from './routes/open/housekeeping.ts'
import { problemPageRoutes } from './routes/open/problem-pages.ts'
import { securityTxtRoutes } from './routes/open/security-txt.ts'
import { webhookKeyRoutes } from './routes/open/webhook-keys.ts'
import { operatorAuditRoutes } from './routes/operator/operator-audit.ts'
import { operatorAuditSealRoutes } from './routes/operator/operator-audit-seal.ts'
import { operatorBulkRoutes } from './routes/operator/operator-bulk.ts'
import { operatorCellRoutes } from './routes/operator/operator-cells.ts'
import { operatorCertificateRoutes } from './routes/operator/operator-certificates.ts'
import { operatorClientKeyRoutes } from './routes/operator/operator-client-keys.ts'
import { operatorClientRoutes } from './routes/operator/operator-clients.ts'
import { operatorEndpointRoutes } from './routes/operator/operator-endpoints.ts'
import { operatorJobRoutes } from './routes/operator/operator-jobs.ts'
import { operatorKeyRoutes } from './routes/operator/operator-keys.ts'
import { operatorPaymentErasureRoutes } from './routes/operator/operator-payment-erasure.ts'
import { operatorPaymentViewRoutes } from './routes/operator/operator-payment-views.ts'
import { operatorPaymentRoutes } from './routes/operator/operator-payments.ts'
import { operatorSettingsRoutes } from './routes/operator/operator-settings.ts'
import { operatorSigningKeyRoutes } from './routes/operator/operator-signing-keys.ts'
import { operatorStatsRoutes } from './routes/operator/operator-stats.ts'
import type { ServerDeps, Surface } from './routes/server-deps.ts'
import { tellAllowedMethods } from './routing.ts'
import { logRequests } from './watching/request-log.ts'
import { countRequests } from './watching/request-metrics.ts'
import { traceRequests } from './watching/request-spans.ts'

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
  app.decorate('isEmbeddable', deps.config.embedOrigins.length > 0)
}

function openRoutes(deps: ServerDeps, surface: Surface): readonly Routes[] {
  const { oidc } = deps.config
  const company = oidc && new CompanySignIn(deps, oidc, deps.access.sessions)
  return [
    housekeepingRoutes(deps, deps.access.keys, surface),
    problemPageRoutes(surface),
    securityTxtRoutes(deps),
    docsRoutes(),
    guideRoutes(surface),
    consoleRoutes({ ...deps, surface, company }),
    companySignInRoutes(deps, surface, company),
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
  await app.register(async (scope: App) => assertionKeyRoutes(deps)(scope))
  await app.register(async (scope: App) => egressRoutes(deps)(scope))
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
      ownStatsRoutes(deps),
      searchRoutes(deps),
      receiverToolRoutes(deps, work),
      deliveryActionRoutes(deps),
      missingEventRoutes(deps),
      noticeRoutes(deps),
      retryRoutes(deps),
      statementRoutes(deps),
      listenerRoutes(deps),
      clientCertificateRoutes(deps),
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
    operatorClientKeyRoutes(deps),
    operatorKeyRoutes(deps, deps.access.keys),
    operatorSigningKeyRoutes(deps),
    operatorCertificateRoutes(deps),
    operatorAuditRoutes(deps),
    operatorAuditSealRoutes(deps),
    operatorSettingsRoutes(deps),
    operatorPaymentViewRoutes(deps),
    operatorPaymentErasureRoutes(deps),
    operatorDeliveryRoutes(deps),
    operatorEventRoutes(deps),
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
