// Where a callback's URL leads, by the rules of registration: what is stored may have been written under another policy
// (a sandbox's data, a network since closed) or damaged. A parse costs microseconds, so origins are judged once each. Of
// most URLs the rest is plain, and is sent as it stands: of very many endpoints at one origin none is judged by itself.

import { CALLBACK_URL_CHARACTERS_MAX, checkCallbackUrl } from '../../core/network/callback-url.ts'
import type { TargetPolicy } from '../../core/network/network-rules.ts'
import { BoundedMap } from '../../core/plain/bounded-map.ts'
import type { Target } from './exchange.ts'
import { type Place, toPlace, withTls } from './origin-pool.ts'
import { toBeginning } from './request-bytes.ts'
import type { TlsSettings } from './tls-settings.ts'

const ORIGINS_MAX = 10_000
const ODD_MAX = 1_000

/** Ends where the path begins, and not in a query; no user, no fragment. */
const PLAIN_ORIGIN = /^https?:\/\/[^/?#@\\\s]+$/
/** What a URL parser leaves alone: no segment that begins with a dot, nothing to be encoded, no empty query. */
const PLAIN_REST = /^(?:\/(?!\.)[\w.~-]*)+(?:\?[\w.~%=&+:,/-]+)?$/
const SCHEME_CHARACTERS_MIN = 'https://'.length

interface Origin {
  place: Place
  host: string
}

export class Targets {
  readonly #policy: TargetPolicy
  /** By their text; null: callbacks do not go there. Without TLS settings: those would outlive the bound on their contexts. */
  readonly #origins = new BoundedMap<string, Origin | null>(ORIGINS_MAX)
  /** By their text likewise: URLs that are not plain. */
  readonly #odd = new BoundedMap<string, Target | null>(ODD_MAX)

  constructor(policy: TargetPolicy) {
    this.#policy = policy
  }

  /** Null when callbacks do not go there. */
  of(url: string, tls: TlsSettings | null): Target | null {
    const restAt = url.indexOf('/', SCHEME_CHARACTERS_MIN)
    const rest = restAt === -1 ? '' : url.slice(restAt)
    if (url.length > CALLBACK_URL_CHARACTERS_MAX || !PLAIN_REST.test(rest)) {
      return this.#ofOdd(url, tls)
    }
    const text = url.slice(0, restAt)
    if (!PLAIN_ORIGIN.test(text)) return this.#ofOdd(url, tls)
    let origin = this.#origins.get(text)
    if (origin === undefined) {
      const check = checkCallbackUrl(`${text}/`, this.#policy)
      origin = check.ok ? { place: toPlace(check.url, null), host: check.url.host } : null
      this.#origins.set(text, origin)
    }
    if (origin === null) return null
    return { place: withTls(origin.place, tls), beginning: toBeginning(rest, origin.host) }
  }

  #ofOdd(url: string, tls: TlsSettings | null): Target | null {
    let target = this.#odd.get(url)
    if (target === undefined) {
      target = toTarget(url, null, this.#policy)
      this.#odd.set(url, target)
    }
    return target && { ...target, place: withTls(target.place, tls) }
  }
}

/** As every URL is judged, the plain ones too. */
export function toTarget(
  text: string,
  tls: TlsSettings | null,
  policy: TargetPolicy,
): Target | null {
  const check = checkCallbackUrl(text, policy)
  if (!check.ok) return null
  const { pathname, search, host } = check.url
  return { place: toPlace(check.url, tls), beginning: toBeginning(pathname + search, host) }
}
