// The guides as pages, from the files of docs/. Each is rendered when it is first asked for and kept; a
// file that has changed since is rendered again. Names come from the list, never from an address.

import { readFile, stat } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { escapeHtml } from '../../core/plain/text.ts'
import { type KeptFile, keepFile } from '../answers/kept-file.ts'
import type { Surface } from '../routes/server-deps.ts'
import { type Guide, type GuideGroup, readGuideGroups } from './guide-list.ts'
import { toHtmlPage } from './html-page.ts'
import { DOCS } from './shipped-folders.ts'

const IMAGE_BYTES_MAX = 4 * 1024 * 1024

export class GuidePages {
  readonly #groups: readonly GuideGroup[]
  readonly #cached = new Map<string, { modifiedAtMs: number; page: KeptFile }>()

  constructor(surface: Surface) {
    this.#groups = readGuideGroups().filter(
      ({ audience }) => surface !== 'public' || audience === 'everyone',
    )
  }

  /** The list of all guides that are served here. */
  index(): Promise<KeptFile> {
    const lists = this.#groups.map(
      ({ title, guides }) =>
        `<h2>${title}</h2><ul>${guides
          .map(
            ({ name, title, about }) =>
              `<li><a href="/guides/${name}">${escapeHtml(title)}</a>: ${escapeHtml(about)}</li>`,
          )
          .join('')}</ul>`,
    )
    const body = `<h1>Guides</h1>${lists.join('')}`
    return keepFile(toHtmlPage({ title: 'Guides', body, side: this.#side(null) }))
  }

  /** Null: no guide that is served here has this name, or the files are not installed. */
  async find(name: string): Promise<KeptFile | null> {
    const guide = this.#guides().find((each) => each.name === name)
    if (guide === undefined) return null
    const path = fileURLToPath(fileOf(guide))
    const found = await stat(path).catch(() => null)
    if (found === null) return null
    const cached = this.#cached.get(name)
    if (cached?.modifiedAtMs === found.mtimeMs) return cached.page
    const page = await this.#render(guide, await readFile(path, 'utf8'))
    this.#cached.set(name, { modifiedAtMs: found.mtimeMs, page })
    return page
  }

  async #render(guide: Guide, text: string): Promise<KeptFile> {
    const title = /^# (.*)$/m.exec(text)?.[1] ?? guide.title
    const body = await this.#toHtml(text)
    return keepFile(toHtmlPage({ title, body, side: this.#side(guide.name) }))
  }

  /** What docs/problems.md says of a code, after its status and title; empty where the files are not installed. */
  async problem(code: string): Promise<string> {
    const text = await readFile(new URL('problems.md', DOCS), 'utf8').catch(() => '')
    const section = text.split(/^## /m).find((each) => each.startsWith(`\`${code}\`\n`)) ?? ''
    return this.#toHtml(section.split('\n\n').slice(2).join('\n\n'))
  }

  async #toHtml(text: string): Promise<string> {
    // Loaded when a guide is first asked for: a process whose guides no one reads starts without it.
    const { renderMarkdown } = await import('./markdown.ts')
    return renderMarkdown(this.#named(text), {
      toHref: (target) => this.#toHref(target),
      toImage: (target) => {
        const image = /^console\/([a-z-]+\.png)$/.exec(target)?.[1]
        return image === undefined ? null : `/guides/images/${image}`
      },
    })
  }

  /** `[delivery.md](delivery.md)` is what a reader of files wants; here the link has the guide's title. */
  #named(text: string): string {
    return text.replaceAll(/\[(?:docs\/)?([\w-]+)\.md\](?=\()/g, (label, name: string) => {
      const guide = this.#guides().find((each) => each.name === name)
      return guide === undefined ? label : `[${guide.title}]`
    })
  }

  /** Links between guides lead to their pages; those to files that are not served are left out. */
  #toHref(target: string): string | null {
    if (/^(https:\/\/|#|\/)/.test(target)) return target
    const [path, anchor] = target.split('#', 2) as [string, string?]
    const name = /sdk\/README\.md$/.test(path)
      ? 'sdk'
      : /^(?:\.\.\/docs\/)?([\w-]+)\.md$/.exec(path)?.[1]
    if (path === 'README.md') return '/guides/'
    if (!this.#guides().some((guide) => guide.name === name)) return null
    return `/guides/${name}${anchor === undefined ? '' : `#${anchor}`}`
  }

  #guides(): readonly Guide[] {
    return this.#groups.flatMap(({ guides }) => guides)
  }

  #side(current: string | null): string {
    return this.#groups
      .map(({ title, guides }) => {
        const items = guides.map((guide) => {
          const isHere = guide.name === current ? ' aria-current="page"' : ''
          return `<li><a href="/guides/${guide.name}"${isHere}>${escapeHtml(guide.title)}</a></li>`
        })
        return `<h2>${title}</h2><ul>${items.join('')}</ul>`
      })
      .join('')
  }
}

/** An image of the guides, by a name that has been checked. */
export async function readGuideImage(name: string): Promise<Buffer | null> {
  const path = fileURLToPath(new URL(`console/${name}`, DOCS))
  const found = await stat(path).catch(() => null)
  return found === null || found.size > IMAGE_BYTES_MAX ? null : readFile(path)
}

function fileOf({ name }: Guide): URL {
  return new URL(name === 'sdk' ? '../sdk/README.md' : `${name}.md`, DOCS)
}
