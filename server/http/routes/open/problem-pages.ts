// GET /problems/<code>: where the `type` of every problem leads. Plain pages, each a section of the guide to problems.

import { ServiceError } from '../../../core/plain/errors.ts'
import { escapeHtml } from '../../../core/plain/text.ts'
import { isErrorCode, PROBLEMS } from '../../basics/problems.ts'
import type { Routes } from '../../basics/typed.ts'
import { GuidePages } from '../../pages/guide-pages.ts'
import { HTML_PAGE_HEADERS, toHtmlPage, toMissingPage, wantsPage } from '../../pages/html-page.ts'
import { HIDDEN } from '../../schemas/calls.ts'
import type { Surface } from '../server-deps.ts'

export function problemPageRoutes(surface: Surface): Routes {
  const guides = new GuidePages(surface)
  return (app) => {
    app.get('/problems', HIDDEN, async (_request, reply) => {
      const rows = Object.entries(PROBLEMS).map(
        ([code, { status, title }]) =>
          `<li><a href="/problems/${code}"><code>${code}</code></a> (${status}) ${escapeHtml(title)}</li>`,
      )
      return sendPage(reply, 'Problems', `<ul>${rows.join('')}</ul>`)
    })

    app.get('/problems/', HIDDEN, async (_request, reply) => reply.redirect('/problems'))

    app.get<{ Params: { code: string } }>('/problems/:code', HIDDEN, async (request, reply) => {
      const { code } = request.params
      if (!isErrorCode(code)) {
        if (!wantsPage(request.headers.accept)) {
          throw new ServiceError('not-found', 'No problem has this code.')
        }
        const all = { href: '/problems', text: 'All problems' }
        reply.code(404).headers(HTML_PAGE_HEADERS)
        return reply.send(toMissingPage('No problem has this code.', all))
      }
      const { status, title } = PROBLEMS[code]
      return sendPage(
        reply,
        title,
        `<p><code>${code}</code>, HTTP status ${status}</p>` +
          (await guides.problem(code)) +
          `<p><a href="/guides/problems#${code}">In the guide</a> · <a href="/problems">All problems</a></p>`,
      )
    })
  }
}

function sendPage(reply: Sendable, title: string, body: string): unknown {
  return reply
    .headers({ ...HTML_PAGE_HEADERS, 'cache-control': 'public, max-age=3600' })
    .send(toHtmlPage({ title, body: `<h1>${escapeHtml(title)}</h1>${body}` }))
}

interface Sendable {
  headers(headers: Record<string, string>): { send(body: string): unknown }
}
