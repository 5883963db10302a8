// Markdown to HTML, as much of it as our own guides use: headings with anchors, paragraphs, lists, tables,
// quotes, fenced code, images, links. Everything that is not markup is escaped; HTML in a guide stays text.

export interface LinkResolver {
  /** The address of a link, or null where it leads nowhere that is served: then its text stands alone. */
  toHref(target: string): string | null
  /** The address of an image, or null: then its description stands there. */
  toImage(target: string): string | null
}

export interface Rendered {
  html: string
  /** The first heading, as text. */
  title: string
}

export function renderMarkdown(text: string, links: LinkResolver): Rendered {
  const html = renderBlocks(text.split('\n'), links)
  return { html, title: /^# (.*)$/m.exec(text)?.[1] ?? '' }
}

export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}

/** As the common hosts make them, so that links work here and there. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\w\s-]/g, '')
    .replaceAll(' ', '-')
}

const FENCE = /^```/
const HEADING = /^(#{1,6}) (.*)$/
const ITEM = /^([-*]|\d+\.) +/
const TABLE_RULE = /^\|[\s:|-]+\|$/

function renderBlocks(lines: readonly string[], links: LinkResolver): string {
  const out: string[] = []
  for (let at = 0; at < lines.length; ) {
    const end = endOfBlock(lines, at)
    if (end > at) out.push(renderBlock(lines.slice(at, end), links))
    at = Math.max(end, at + 1)
  }
  return out.join('\n')
}

/** The line after the block that begins here; the same line where there is none. */
function endOfBlock(lines: readonly string[], start: number): number {
  const first = lines[start] as string
  if (first.trim() === '') return start
  if (FENCE.test(first)) {
    const close = lines.findIndex((line, index) => index > start && FENCE.test(line))
    return close === -1 ? lines.length : close + 1
  }
  if (HEADING.test(first)) return start + 1
  if (first.startsWith('|')) return endWhile(lines, start, (line) => line.startsWith('|'))
  if (first.startsWith('>')) return endWhile(lines, start, (line) => line.startsWith('>'))
  if (ITEM.test(first)) return endOfList(lines, start)
  return endWhile(lines, start, (line, index) => index === start || !isBlockStart(line))
}

function endWhile(
  lines: readonly string[],
  start: number,
  goesOn: (line: string, index: number) => boolean,
): number {
  let end = start
  while (end < lines.length && goesOn(lines[end] as string, end)) end++
  return end
}

function isBlockStart(line: string): boolean {
  return (
    line.trim() === '' ||
    FENCE.test(line) ||
    HEADING.test(line) ||
    /^[|>]/.test(line) ||
    ITEM.test(line)
  )
}

/** A list goes on over empty lines, as long as what follows is an item or indented. */
function endOfList(lines: readonly string[], start: number): number {
  let end = start + 1
  for (; end < lines.length; end++) {
    const line = lines[end] as string
    if (line.trim() === '') {
      const next = lines.slice(end).find((later) => later.trim() !== '') ?? ''
      if (!next.startsWith(' ') && !ITEM.test(next)) break
    } else if (!line.startsWith(' ') && isBlockStart(line) && !ITEM.test(line)) break
  }
  return end
}

function renderBlock(lines: readonly string[], links: LinkResolver): string {
  const first = lines[0] as string
  if (FENCE.test(first)) return renderCode(lines)
  const heading = HEADING.exec(first)
  if (heading) return renderHeading(heading, links)
  if (first.startsWith('|') && TABLE_RULE.test(lines[1] ?? '')) return renderTable(lines, links)
  if (first.startsWith('>')) {
    const inner = lines.map((line) => line.replace(/^> ?/, ''))
    return `<blockquote>${renderBlocks(inner, links)}</blockquote>`
  }
  if (ITEM.test(first)) return renderList(lines, links)
  return `<p>${renderInline(lines.join('\n'), links)}</p>`
}

function renderCode(lines: readonly string[]): string {
  const inner = lines.slice(1, FENCE.test(lines.at(-1) ?? '') ? -1 : undefined)
  // Wide blocks scroll: by keyboard, too.
  return `<pre tabindex="0"><code>${escapeHtml(inner.join('\n'))}</code></pre>`
}

function renderHeading([, marks, text]: RegExpExecArray, links: LinkResolver): string {
  const level = (marks as string).length
  const anchor = anchorOf(text as string)
  const inner = renderInline(text as string, links)
  if (level === 1) return `<h1>${inner}</h1>`
  return `<h${level} id="${escapeHtml(anchor)}">${inner} <a class="anchor" href="#${escapeHtml(anchor)}" aria-label="Link to this section">#</a></h${level}>`
}

function renderTable(lines: readonly string[], links: LinkResolver): string {
  const row = (line: string, cell: 'th' | 'td') =>
    `<tr>${cellsOf(line)
      .map((text) => `<${cell}>${renderInline(text, links)}</${cell}>`)
      .join('')}</tr>`
  const body = lines.slice(2).map((line) => row(line, 'td'))
  return `<div class="wide" tabindex="0"><table><thead>${row(lines[0] as string, 'th')}</thead><tbody>${body.join('')}</tbody></table></div>`
}

/** `\|` is a bar of the text. */
function cellsOf(line: string): string[] {
  const inner = line.trim().replace(/^\|/, '').replace(/\|$/, '')
  return inner.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|'))
}

function renderList(lines: readonly string[], links: LinkResolver): string {
  const items: string[][] = []
  let indent = 2
  for (const line of lines) {
    const mark = ITEM.exec(line)
    if (mark) {
      indent = mark[0].length
      items.push([line.slice(indent).replace(/^\[ \] /, '☐ ')])
    } else items.at(-1)?.push(line.slice(0, indent).trim() === '' ? line.slice(indent) : line)
  }
  const tag = /^\d/.test(lines[0] as string) ? 'ol' : 'ul'
  const inner = items.map((item) => `<li>${unwrapped(renderBlocks(item, links))}</li>`)
  return `<${tag}>${inner.join('')}</${tag}>`
}

/** An item of one paragraph needs none. */
function unwrapped(html: string): string {
  const isOne = html.startsWith('<p>') && html.indexOf('<p>', 1) === -1 && html.endsWith('</p>')
  return isOne ? html.slice(3, -4) : html
}

const INLINE =
  /(`+)(.+?)\1|!\[([^\]]*)\]\(([^)\s]+)\)|\[((?:`[^`]*`|[^\]])*)\]\(([^)\s]+)\)|\*\*(.+?)\*\*|\*([^\s*][^*]*)\*/gs

function renderInline(text: string, links: LinkResolver): string {
  let html = ''
  let at = 0
  for (const match of text.matchAll(INLINE)) {
    html += escapeHtml(text.slice(at, match.index)) + renderSpan(match, links)
    at = match.index + match[0].length
  }
  return html + escapeHtml(text.slice(at))
}

function renderSpan(match: RegExpExecArray, links: LinkResolver): string {
  const [, , code, alt, image, label, target, strong, emphasis] = match
  if (code !== undefined) return `<code>${escapeHtml(code)}</code>`
  if (image !== undefined) {
    const source = links.toImage(image)
    const words = escapeHtml(alt ?? '')
    return source === null
      ? words
      : `<img src="${escapeHtml(source)}" alt="${words}" loading="lazy">`
  }
  if (target !== undefined) {
    const href = links.toHref(target)
    const inner = renderInline(label ?? '', links)
    return href === null ? inner : `<a href="${escapeHtml(href)}">${inner}</a>`
  }
  if (strong !== undefined) return `<strong>${renderInline(strong, links)}</strong>`
  return `<em>${renderInline(emphasis ?? '', links)}</em>`
}
