// GET /docs: a viewer for /openapi.json that works offline. Everything it loads comes from this service; its
// own fonts, proxy, agent and telemetry are off, and the content security policy allows nothing else.

import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify'
import { ServiceError } from '../../core/errors.ts'
import type { Routes } from '../typed.ts'

const POLICY =
  "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; " +
  "style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; " +
  "connect-src 'self'; worker-src 'self' blob:; frame-ancestors 'none'"

const PAGE = '/docs/'
const BUNDLE = '/docs/js/scalar.js'

export function docsRoutes(): Routes {
  return async (app) => {
    let viewer: Promise<FastifyInstance> | null = null
    for (const url of ['/', '/docs']) {
      app.route({
        method: 'GET',
        url,
        schema: { hide: true },
        handler: async (_request, reply) => reply.redirect(PAGE),
      })
    }
    for (const url of [PAGE, BUNDLE]) {
      app.route({
        method: 'GET',
        url,
        schema: { hide: true },
        onRequest: prepare,
        handler: async (request, reply) => {
          viewer ??= openViewer()
          const answer = await (await viewer).inject({ url, headers: { host: request.hostname } })
          return reply
            .type(String(answer.headers['content-type']))
            .send(answer.rawPayload as unknown as never)
        },
      })
    }
  }
}

/** Loaded at the first request, since most processes have none: it takes 26 MB and 0.2 s. */
async function openViewer(): Promise<FastifyInstance> {
  const { default: scalar } = await import('@scalar/fastify-api-reference')
  const viewer = fastify()
  await viewer.register(scalar, {
    routePrefix: '/docs',
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
  return viewer
}

async function prepare(request: FastifyRequest, reply: FastifyReply): Promise<void> {
  // The viewer builds a URL from the Host, which HTTP/1.0 may omit and a proxy may garble.
  if (!URL.canParse(`http://${request.hostname}`)) {
    throw new ServiceError('malformed-request', 'Send one Host header that names a host.')
  }
  reply.headers({
    'content-security-policy': POLICY,
    // The bundle of 4 MB never changes while the process runs.
    'cache-control': request.routeOptions.url === BUNDLE ? 'public, max-age=3600' : 'no-cache',
  })
}
