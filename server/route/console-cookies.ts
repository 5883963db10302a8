// The console's session is a row of one cell, and a browser knows one cookie of a name: between route and browser each
// cell's has a name of its own, `paybell_session_7`. Pure.

const COOKIE = 'paybell_session'
const OF_CELL = /^\s*paybell_session_(\d{1,4})=/

/** The cells that this browser has a session of. */
export function sessionCells(cookie: string | undefined): readonly number[] {
  const found = (cookie ?? '').split(';').flatMap((pair) => OF_CELL.exec(pair)?.[1] ?? [])
  return [...new Set(found.map(Number))]
}

/** The Cookie header as the cell gets it: its own session under the usual name, and no other's. */
export function cookieFor(cell: number, cookie: string): string {
  const own = `${COOKIE}_${cell}=`
  return cookie
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(own) || !/^paybell_session(_\d+)?=/.test(pair))
    .map((pair) => (pair.startsWith(own) ? `${COOKIE}=${pair.slice(own.length)}` : pair))
    .join('; ')
}

/** A Set-Cookie of the cell as the browser gets it. */
export function setCookieFrom(cell: number, header: string): string {
  return header.startsWith(`${COOKIE}=`)
    ? `${COOKIE}_${cell}${header.slice(COOKIE.length)}`
    : header
}
