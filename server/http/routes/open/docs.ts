// GET /docs: a viewer for /openapi.json that works offline. Everything it loads comes from this service; its
// own fonts, proxy, agent and telemetry are off, and the content security policy allows nothing else.

import type { FastifyReply } from 'fastify'
import { Remembered } from '../../../core/plain/remembered.ts'
import { sendKept } from '../../answers/kept-file.ts'
import type { Routes } from '../../basics/typed.ts'
import { loadViewer, type Viewer } from '../../pages/docs-viewer.ts'
import { HIDDEN } from '../../schemas/calls.ts'

const POLICY =
  "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; " +
  "style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; " +
  "connect-src 'self'; worker-src 'self' blob:; frame-ancestors 'none'"

const PAGE = '/docs/'

export function docsRoutes(): Routes {
  return (app) => {
    // Loaded at the first request, since most processes have none.
    const viewers = new Remembered<'viewer', Viewer>({ keysMax: 1 })
    for (const url of ['/', '/docs']) {
      app.get(url, HIDDEN, async (_request, reply) => reply.redirect(PAGE))
    }
    for (const [url, file, type, caching] of [
      [PAGE, 'page', 'text/html; charset=utf-8', 'no-cache'],
      // It never changes while the process runs.
      ['/docs/js/scalar.js', 'script', 'text/javascript; charset=utf-8', 'public, max-age=3600'],
    ] as const) {
      app.get(url, HIDDEN, async (request, reply) => {
        const viewer = await viewers.get('viewer', loadViewer)
        return sendKept(request, reply as FastifyReply, viewer[file], {
          'content-security-policy': POLICY,
          'content-type': type,
          'cache-control': caching,
        })
      })
    }
  }
}
