// GET /problems/<code>: where the `type` of every problem leads. Plain pages from the table that the
// problems themselves come from.

import { ServiceError } from '../../core/errors.ts'
import { isErrorCode, PROBLEMS } from '../problems.ts'
import type { Routes } from '../typed.ts'

export function problemPageRoutes(): Routes {
  return (app) => {
    app.route({
      method: 'GET',
      url: '/problems',
      schema: { hide: true },
      handler: async (_request, reply) => {
        const rows = Object.entries(PROBLEMS).map(
          ([code, { status, title }]) =>
            `<li><a href="/problems/${code}"><code>${code}</code></a> (${status}) ${escapeHtml(title)}</li>`,
        )
        return sendPage(reply, 'Problems', `<ul>${rows.join('')}</ul>`)
      },
    })

    app.route<{ Params: { code: string } }>({
      method: 'GET',
      url: '/problems/:code',
      schema: { hide: true },
      handler: async (request, reply) => {
        const { code } = request.params
        if (!isErrorCode(code)) {
          throw new ServiceError('not-found', 'No problem has this code.')
        }
        const { status, title, meaning, remedy } = PROBLEMS[code]
        return sendPage(
          reply,
          title,
          `<p><code>${code}</code>, HTTP status ${status}</p>` +
            `<h2>What it means</h2><p>${escapeHtml(meaning)}</p>` +
            `<h2>What to do</h2><p>${escapeHtml(remedy)}</p>` +
            '<p><a href="/problems">All problems</a></p>',
        )
      },
    })
  }
}

// Styled inline, because the page loads nothing else; the content security policy allows just that.
const STYLE =
  'body{font:16px/1.5 system-ui,sans-serif;max-width:40rem;margin:3rem auto;padding:0 1rem}'

interface Sendable {
  headers(headers: Record<string, string>): { send(body: string): unknown }
}

function sendPage(reply: Sendable, title: string, body: string): unknown {
  return reply
    .headers({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
      'cache-control': 'public, max-age=3600',
    })
    .send(
      `<!doctype html><html lang="en"><meta charset="utf-8"><title>${escapeHtml(title)} · Paybell</title>` +
        `<style>${STYLE}</style><h1>${escapeHtml(title)}</h1>${body}</html>`,
    )
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
