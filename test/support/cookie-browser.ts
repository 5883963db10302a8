// As much of a browser as signing in needs: it keeps cookies for each origin and follows redirects, one at a time where a
// test wants to change one on the way.

export interface Visit {
  url: string
  status: number
  headers: Headers
  text: string
}

export class CookieBrowser {
  readonly #cookies = new Map<string, Map<string, string>>()
  readonly #standIns: Readonly<Record<string, string>>

  /** `standIns`: where an origin is really served. */
  constructor(standIns: Readonly<Record<string, string>> = {}) {
    this.#standIns = standIns
  }

  /** One request. */
  async visit(url: string, init: RequestInit = {}): Promise<Visit> {
    const { origin, pathname, search } = new URL(url)
    const jar = this.cookiesOf(origin)
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
    const answer = await fetch(`${this.#standIns[origin] ?? origin}${pathname}${search}`, {
      ...init,
      redirect: 'manual',
      headers: { accept: 'text/html', ...init.headers, ...(cookie === '' ? {} : { cookie }) },
    })
    for (const line of answer.headers.getSetCookie()) keep(jar, line)
    return { url, status: answer.status, headers: answer.headers, text: await answer.text() }
  }

  /** Follows redirects; `change` may lead elsewhere, or stop with null. */
  async walk(
    url: string,
    change: (next: string) => string | null = (next) => next,
  ): Promise<Visit> {
    for (let next = url, steps = 0; ; steps += 1) {
      if (steps > 20) throw new Error(`it redirects in circles: ${next}`)
      const visit = await this.visit(next)
      const location = visit.headers.get('location')
      const wanted = location === null ? null : change(new URL(location, next).href)
      if (wanted === null) return visit
      next = wanted
    }
  }

  cookiesOf(origin: string): Map<string, string> {
    const jar = this.#cookies.get(origin) ?? new Map<string, string>()
    this.#cookies.set(origin, jar)
    return jar
  }
}

function keep(jar: Map<string, string>, line: string): void {
  const [pair = '', ...attributes] = line.split(';').map((part) => part.trim())
  const at = pair.indexOf('=')
  const isOver = attributes.some((one) => /^max-age=0$/i.test(one) || /^expires=.*1970/i.test(one))
  if (isOver) jar.delete(pair.slice(0, at))
  else jar.set(pair.slice(0, at), pair.slice(at + 1))
}
