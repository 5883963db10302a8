// Real addresses over the History API. Paths are written without the /console before them; filters live
// in the query, so that every view can be sent to a colleague.

import { useSyncExternalStore } from 'react'

const BASE = '/console'
const CHANGED = 'paybell:navigated'

export interface Location {
  path: string
  query: URLSearchParams
  hash: string
}

let heardOf = ''
let navigations = 0
let location: Location = { path: '/', query: new URLSearchParams(), hash: '' }

/** The same object as long as the address stays. */
export function currentLocation(): Location {
  const { pathname, search, hash } = window.location
  const address = pathname + search + hash
  if (address !== heardOf) {
    heardOf = address
    const path = pathname.startsWith(BASE) ? pathname.slice(BASE.length) : pathname
    location = { path: path.replace(/\/+$/, '') || '/', query: new URLSearchParams(search), hash }
  }
  return location
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

/** False until the first change from one page of the console to another. */
export function hasNavigated(): boolean {
  return navigations > 0
}

export function useLocation(): Location {
  return useSyncExternalStore(subscribe, currentLocation)
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
 * The filters of the current page and how to change some of them. A change replaces the address by
 * default, so that the back button does not step through what was typed.
 */
export function useFilters(): {
  query: URLSearchParams
  setFilters(
    changes: Readonly<Record<string, string | null>>,
    options?: { isPushing?: boolean },
  ): void
} {
  const { query } = useLocation()
  return {
    query,
    setFilters: (changes, { isPushing = false } = {}) => {
      const now = currentLocation()
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
