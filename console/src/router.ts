// Real addresses over the History API. Paths are written without the /console that they stand under;
// filters live in the query, so that every view can be sent to somebody.

import { useSyncExternalStore } from 'react'

const BASE = '/console'
const CHANGED = 'paybell:navigated'

export interface Place {
  path: string
  query: URLSearchParams
  hash: string
}

let heardOf = ''
let navigations = 0
let place: Place = { path: '/', query: new URLSearchParams(), hash: '' }

/** The same object as long as the address stays. */
export function currentPlace(): Place {
  const { pathname, search, hash } = window.location
  const address = pathname + search + hash
  if (address !== heardOf) {
    heardOf = address
    const path = pathname.startsWith(BASE) ? pathname.slice(BASE.length) : pathname
    place = { path: path.replace(/\/+$/, '') || '/', query: new URLSearchParams(search), hash }
  }
  return place
}

/** What belongs into an `href`. */
export function toHref(to: string): string {
  return BASE + (to === '/' ? '/' : to)
}

export function navigate(to: string, { isReplacing = false } = {}): void {
  if (isReplacing) window.history.replaceState(null, '', toHref(to))
  else window.history.pushState(null, '', toHref(to))
  navigations++
  window.dispatchEvent(new Event(CHANGED))
}

/** False until somebody has gone from one page of the console to another. */
export function hasNavigated(): boolean {
  return navigations > 0
}

export function usePlace(): Place {
  return useSyncExternalStore(subscribe, currentPlace)
}

function subscribe(onChange: () => void): () => void {
  window.addEventListener('popstate', onChange)
  window.addEventListener('hashchange', onChange)
  window.addEventListener(CHANGED, onChange)
  return () => {
    window.removeEventListener('popstate', onChange)
    window.removeEventListener('hashchange', onChange)
    window.removeEventListener(CHANGED, onChange)
  }
}

/** `{state: 'PENDING', q: ''}` → `?state=PENDING`; what is empty is left out. */
export function toQuery(values: Readonly<Record<string, string | null | undefined>>): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(values)) if (value) query.set(name, value)
  const text = query.toString()
  return text === '' ? '' : `?${text}`
}

/**
 * The filters of the page at hand and how to change some of them. A change replaces the address by
 * default: typing into a filter is not a way that anybody wants to walk back.
 */
export function useFilters(): {
  query: URLSearchParams
  setFilters(
    changes: Readonly<Record<string, string | null>>,
    options?: { isPushing?: boolean },
  ): void
} {
  const { query } = usePlace()
  return {
    query,
    setFilters: (changes, { isPushing = false } = {}) => {
      const now = currentPlace()
      const values = { ...Object.fromEntries(now.query), ...changes }
      navigate(now.path + toQuery(values), { isReplacing: !isPushing })
    },
  }
}

/** The values of `:names` when the path matches the pattern, otherwise null. */
export function matchPath(pattern: string, path: string): Record<string, string> | null {
  const expected = pattern.split('/')
  const given = path.split('/')
  if (expected.length !== given.length) return null
  const params: Record<string, string> = {}
  for (const [index, part] of expected.entries()) {
    const value = given[index] ?? ''
    if (part.startsWith(':')) params[part.slice(1)] = decode(value)
    else if (part !== value) return null
  }
  return params
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
