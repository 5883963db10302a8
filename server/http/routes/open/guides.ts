// GET /guides: the documentation of docs/, as pages of the running service, so that who is given its address
// finds the answers there.

import type { FastifyReply, FastifyRequest } from 'fastify'
import { ServiceError } from '../../../core/plain/errors.ts'
import { type KeptFile, sendKept } from '../../answers/kept-file.ts'
import type { Routes } from '../../basics/typed.ts'
import { GuidePages, readGuideImage } from '../../pages/guide-pages.ts'
import { HTML_PAGE_HEADERS, toMissingPage, wantsPage } from '../../pages/html-page.ts'
import { HIDDEN } from '../../schemas/calls.ts'
import type { Surface } from '../server-deps.ts'

const IMAGE_NAME = /^[a-z-]{1,60}\.png$/
const CACHED = 'public, max-age=300'

export function guideRoutes(surface: Surface): Routes {
  return (app) => {
    const pages = new GuidePages(surface)
    app.get('/guides', HIDDEN, async (_request, reply) => reply.redirect('/guides/'))
    app.get('/guides/', HIDDEN, async (request, reply) => send(request, reply, await pages.index()))
    app.get<{ Params: { name: string } }>('/guides/:name', HIDDEN, async (request, reply) => {
      const page = await pages.find(request.params.name)
      if (page !== null) return send(request, reply, page)
      if (!wantsPage(request.headers.accept)) {
        throw new ServiceError('not-found', 'No guide has this name here. /guides/ lists them.')
      }
      const all = { href: '/guides/', text: 'All guides' }
      return reply
        .code(404)
        .headers(HTML_PAGE_HEADERS)
        .send(toMissingPage('No guide has this name.', all))
    })
    app.get<{ Params: { name: string } }>(
      '/guides/images/:name',
      HIDDEN,
      async (request, reply) => {
        const { name } = request.params
        const image = IMAGE_NAME.test(name) ? await readGuideImage(name) : null
        if (image === null) throw new ServiceError('not-found', 'The guides have no such image.')
        return reply.headers({ 'content-type': 'image/png', 'cache-control': CACHED }).send(image)
      },
    )
  }
}

function send(request: FastifyRequest, reply: FastifyReply, page: KeptFile) {
  return sendKept(request, reply, page, { ...HTML_PAGE_HEADERS, 'cache-control': CACHED })
}
