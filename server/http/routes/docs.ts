// GET /docs: a viewer for /openapi.json that works offline. Everything it loads comes from this
// service; its own fonts, proxy, agent and telemetry are off, and the policy lets nothing else in.

import scalar from '@scalar/fastify-api-reference'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { ServiceError } from '../../core/errors.ts'
import type { Routes } from '../typed.ts'

const POLICY =
  "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; " +
  "style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; " +
  "connect-src 'self'; worker-src 'self' blob:; frame-ancestors 'none'"

export function docsRoutes(): Routes {
  return async (app) => {
    await app.register(scalar, {
      routePrefix: '/docs',
      hooks: { onRequest: prepare },
      configuration: {
        url: '../openapi.json',
        pageTitle: 'Paybell API',
        theme: 'default',
        withDefaultFonts: false,
        proxyUrl: '',
        telemetry: false,
        agent: { disabled: true },
        mcp: { disabled: true },
        hideClientButton: true,
        showDeveloperTools: 'never',
        persistAuth: false,
      },
    })
    app.route({
      method: 'GET',
      url: '/',
      schema: { hide: true },
      handler: async (_request, reply) => reply.redirect('/docs/'),
    })
  }
}

async function prepare(request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  if (request.routeOptions.url === '/docs') return reply.redirect('/docs/')
  // The viewer builds a URL of the host, which HTTP/1.0 may leave out and a proxy may garble.
  if (!URL.canParse(`http://${request.hostname}`)) {
    throw new ServiceError('malformed-request', 'Send one Host header that names a host.')
  }
  // The bundle of 4 MB never changes while the process runs.
  const isBundle = request.routeOptions.url?.endsWith('.js')
  reply.headers({
    'content-security-policy': POLICY,
    'cache-control': isBundle ? 'public, max-age=3600' : 'no-cache',
  })
  return undefined
}
