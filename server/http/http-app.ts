// The bare server: Fastify with our limits, where every failure below the routes is answered as a problem.

import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'
import Fastify, { type FastifyBaseLogger, LogController } from 'fastify'
import { answerClientError, answerConnect } from './answers/client-errors.ts'
import { sendFailure } from './answers/failures.ts'
import { SECURITY_HEADERS } from './answers/security-headers.ts'
import { compileOnFirstUse } from './answers/serializers.ts'
import type { App, TypeBoxProvider } from './basics/typed.ts'
import type { ServerDeps } from './routes/server-deps.ts'
import { closeSocketsAfterAnswers } from './sockets/closing-sockets.ts'
import { refusalLevel } from './watching/request-log.ts'

const HEADER_BYTES_MAX = 16 * 1_024
const BODY_BYTES_MAX = 64 * 1_024

export function createHttpApp(deps: ServerDeps): App {
  const { logger, config } = deps
  const level = refusalLevel(config.mode)
  const app = Fastify({
    loggerInstance: withoutChildren(logger),
    // We write one wide line per request ourselves (request-log.ts).
    logController: new LogController({ disableRequestLogging: true }),
    // We make the request id: one from a caller could forge another's trail in the log.
    requestIdHeader: false,
    genReqId: () => randomUUID(),
    schemaController: { compilersFactory: { buildSerializer: compileOnFirstUse } },
    bodyLimit: BODY_BYTES_MAX,
    requestTimeout: 30_000,
    keepAliveTimeout: 72_000,
    // While closing, further requests are answered; the sockets close after the answer.
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
      // We answer these ourselves (security-headers.ts), with a problem.
      requireHostHeader: false,
    },
    frameworkErrors: (error, request, reply) => {
      // No hook has run, nor will one, because the address led to no route.
      const { statusCode: status } = sendFailure(
        error,
        request,
        reply.headers(SECURITY_HEADERS),
        deps.baseUrl(),
      )
      const line = { requestId: request.id, status, code: request.problemCode }
      logger[level](line, 'request.unreadable')
    },
    clientErrorHandler: (error, socket) => {
      answerClientError(error, socket, { baseUrl: deps.baseUrl(), logger, level })
    },
  }).withTypeProvider<TypeBoxProvider>()
  // RFC 9110 §10.1.1 lets a server ignore expectations; Node's own 417 would have no body.
  app.server.on('checkExpectation', (request, response) => {
    app.server.emit('request', request, response)
  })
  app.server.on('connect', (_request, socket: Socket) => {
    answerConnect(socket, { baseUrl: deps.baseUrl(), logger, level })
  })
  closeSocketsAfterAnswers(app, () => deps.isDraining())
  app.decorateRequest('route', null)
  // Fastify makes this object anew whenever it is asked for.
  app.addHook('onRequest', (request, _reply, done) => {
    request.route = request.routeOptions
    done()
  })
  app.decorateRequest('caller', null)
  app.decorateRequest('operator', null)
  app.decorateRequest('accountId', null)
  app.decorateRequest('clientAssertion', null)
  app.decorateRequest('problemCode', null)
  app.decorateRequest('logged', null)
  app.decorateRequest('span', null)
  return app
}

/** Fastify would make a logger for each request. Nearly none writes a line with it; ours name the request's id themselves. */
function withoutChildren(logger: FastifyBaseLogger): FastifyBaseLogger {
  const shared: FastifyBaseLogger = Object.create(logger)
  shared.child = () => shared
  return shared
}
