// The guides at the public port of a route with two ports: those that clients need. A cell with one port shows all of
// them, because it does not know at which port of the route it is asked.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { ServiceError } from '../core/plain/errors.ts'
import { SECURITY_HEADERS } from '../http/answers/security-headers.ts'
import { GuidePages } from '../http/pages/guide-pages.ts'
import { HTML_PAGE_HEADERS } from '../http/pages/html-page.ts'

const NAME = /^\/guides\/([\w-]*)$/

export class PublicGuides {
  readonly #pages = new GuidePages('public')

  /** Whether this answers it; images are the same everywhere. */
  has({ method }: IncomingMessage, path: string): boolean {
    return (method === 'GET' || method === 'HEAD') && NAME.test(path)
  }

  async send(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
    const name = NAME.exec(path)?.[1] ?? ''
    const page = name === '' ? await this.#pages.index() : await this.#pages.find(name)
    if (page === null) throw new ServiceError('not-found', 'No guide has this name here.')
    response
      .writeHead(200, {
        ...SECURITY_HEADERS,
        ...HTML_PAGE_HEADERS,
        'cache-control': 'public, max-age=300',
        'content-length': page.bytes.length,
      })
      .end(request.method === 'HEAD' ? undefined : page.bytes)
  }
}
