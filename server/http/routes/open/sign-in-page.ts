// The frame of the pages that a person meets between the console and the company.

import { toHtmlPage } from '../../pages/html-page.ts'

/** `body`: HTML. */
export function toSignInPage(title: string, body: string): string {
  const back = '<p><a href="/console/">Back to the sign-in</a></p>'
  return toHtmlPage({ title, body: `<h1>${title}</h1>${body}${back}` })
}
