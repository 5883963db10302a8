// A guide's Markdown as HTML. HTML in a guide stays text: the rules that would know it are off, so everything that is
// not markup is escaped.

import { Marked, Renderer } from 'marked'
import { escapeHtml } from '../../core/plain/text.ts'

export interface LinkResolver {
  /** The address of a link, or null where it leads nowhere that is served: then its text stands alone. */
  toHref(target: string): string | null
  /** The address of an image, or null: then its description stands there. */
  toImage(target: string): string | null
}

const nothing = () => undefined

export function renderMarkdown(text: string, { toHref, toImage }: LinkResolver): string {
  const marked = new Marked({
    tokenizer: { html: nothing, tag: nothing, autolink: nothing, url: nothing },
    renderer: {
      heading({ depth, text, tokens }) {
        const inner = this.parser.parseInline(tokens)
        if (depth === 1) return `<h1>${inner}</h1>\n`
        const anchor = anchorOf(text)
        return `<h${depth} id="${anchor}">${inner} <a class="anchor" href="#${anchor}" aria-label="Link to this section">#</a></h${depth}>\n`
      },
      // Wide blocks scroll: by keyboard, too.
      code: ({ text }) => `<pre tabindex="0"><code>${escapeHtml(text)}</code></pre>\n`,
      table(token) {
        return `<div class="wide" tabindex="0">${Renderer.prototype.table.call(this, token)}</div>\n`
      },
      checkbox: () => '☐ ',
      link({ href, tokens }) {
        const inner = this.parser.parseInline(tokens)
        const address = toHref(href)
        return address === null ? inner : `<a href="${escapeHtml(address)}">${inner}</a>`
      },
      image({ href, text }) {
        const source = toImage(href)
        const words = escapeHtml(text)
        return source === null
          ? words
          : `<img src="${escapeHtml(source)}" alt="${words}" loading="lazy">`
      },
    },
  })
  return marked.parse(text, { async: false })
}

/** As the common hosts make them, so that links work here and there. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\w\s-]/g, '')
    .replaceAll(' ', '-')
}
