// The frame of the pages that the server writes itself: guides and problems. No script, no request to
// elsewhere, light and dark as the reader's system is; the policy allows this one style and nothing else.

import { createHash } from 'node:crypto'
import { escapeHtml } from '../../core/plain/text.ts'

export interface HtmlPage {
  title: string
  /** HTML. */
  body: string
  /** HTML of a list beside the text. */
  side?: string
}

const STYLE = `
:root{color-scheme:light dark;--text:#1d1f21;--muted:#565b61;--line:#dedfda;--back:#fff;--panel:#f3f3f0;--link:#0b5c8f}
@media (prefers-color-scheme:dark){:root{--text:#e6e8ea;--muted:#a5abb3;--line:#32363d;--back:#14161a;--panel:#1f2329;--link:#74baf0}}
*{box-sizing:border-box}
body{margin:0;background:var(--back);color:var(--text);font:16px/1.6 system-ui,sans-serif}
a{color:var(--link)}
.skip{position:absolute;left:-999px}.skip:focus{left:1rem;top:1rem}
.top{display:flex;flex-wrap:wrap;gap:.25rem 1.25rem;padding:.75rem 1.25rem;border-bottom:1px solid var(--line)}
.top a{text-decoration:none}.top strong{margin-right:.75rem}
.frame{display:grid;grid-template-columns:15rem minmax(0,1fr);max-width:72rem;margin:0 auto}
.frame.single{display:block;max-width:46rem}
.side{padding:1.5rem 1rem 3rem;border-right:1px solid var(--line);font-size:.92rem}
.side h2{border:0;padding:0;font-size:.8rem;margin:1.25rem 0 .25rem;color:var(--muted);text-transform:uppercase;letter-spacing:.04em}
.side ul{list-style:none;margin:0;padding:0}.side a{display:block;padding:.15rem .5rem;border-radius:4px;text-decoration:none}
.side a[aria-current]{background:var(--panel);color:var(--text);font-weight:600}
main{padding:1rem 2rem 4rem;min-width:0;overflow-wrap:break-word}
h1,h2,h3,h4{line-height:1.25}h2{margin-top:2.25rem;padding-top:.5rem;border-top:1px solid var(--line)}
.anchor{text-decoration:none;color:var(--muted);font-weight:400;opacity:0}
h2:hover .anchor,h3:hover .anchor,.anchor:focus{opacity:1}
code{font:.88em ui-monospace,monospace;background:var(--panel);padding:.1em .3em;border-radius:3px}
pre{background:var(--panel);border:1px solid var(--line);border-radius:6px;padding:.8rem 1rem;overflow-x:auto}
pre code{background:none;padding:0}
.wide{overflow-x:auto}table{border-collapse:collapse;font-size:.94rem}
th,td{border:1px solid var(--line);padding:.35rem .6rem;text-align:left;vertical-align:top}th{background:var(--panel)}
td code,th code{white-space:nowrap}
blockquote{margin:1rem 0;padding:.1rem 1rem;border-left:4px solid var(--line);color:var(--muted)}
img{max-width:100%;height:auto;border:1px solid var(--line);border-radius:6px}
@media (max-width:48rem){.frame{display:flex;flex-direction:column-reverse}.side{border-right:0;border-top:1px solid var(--line);padding:.5rem 1rem}main{padding:.5rem 1rem 3rem}}
`

const DIGEST = createHash('sha256').update(STYLE).digest('base64')

export const HTML_PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': policyWith("'none'"),
}

/** Of a page with a form for this service, whose answer leads on to `next`, an origin. */
export function formPageHeaders(next: string) {
  return {
    ...HTML_PAGE_HEADERS,
    'content-security-policy': policyWith(`'self' ${next}`),
    // Without a referrer, browsers send a form without its origin.
    'referrer-policy': 'same-origin',
  }
}

function policyWith(formAction: string): string {
  return [
    "default-src 'none'",
    `style-src 'sha256-${DIGEST}'`,
    "img-src 'self'",
    "base-uri 'none'",
    `form-action ${formAction}`,
    "frame-ancestors 'none'",
  ].join('; ')
}

const TOP =
  '<a class="skip" href="#text">To the text</a><nav class="top" aria-label="Paybell"><strong>Paybell</strong>' +
  '<a href="/guides/">Guides</a><a href="/docs/">API reference</a><a href="/problems">Problems</a><a href="/console">Console</a></nav>'

export function toHtmlPage({ title, body, side }: HtmlPage): string {
  const text = `<main id="text">${body}</main>`
  const frame =
    side === undefined
      ? `<div class="frame single">${text}</div>`
      : `<div class="frame"><nav class="side" aria-label="Guides">${side}</nav>${text}</div>`
  return (
    '<!doctype html><html lang="en"><head><meta charset="utf-8">' +
    '<meta name="viewport" content="width=device-width, initial-scale=1">' +
    `<title>${escapeHtml(title)} · Paybell</title><style>${STYLE}</style></head>` +
    `<body>${TOP}${frame}</body></html>`
  )
}

/** A person in a browser gets a page that leads on; programs get a problem, as everywhere else. */
export function wantsPage(accept: string | undefined): boolean {
  return /\btext\/html\b/.test(accept ?? '')
}

export function toMissingPage(text: string, link: { href: string; text: string }): string {
  const body = `<h1>Not found</h1><p>${escapeHtml(text)} <a href="${link.href}">${link.text}</a></p>`
  return toHtmlPage({ title: 'Not found', body })
}
