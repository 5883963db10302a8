// The console's session is a row of one cell, and a browser knows one cookie of a name: between route and browser each
// cell's has a name of its own, `paybell_session_7`, behind the prefix that it has where all is HTTPS. Pure.

const OWN_NAME = /^(__Host-)?paybell_(?:session|embedded)(?=[_=])/
const OF_CELL = /^(__Host-)?paybell_(?:session|embedded)_(\d{1,4})=/

/** The cells that this browser has a session of. One that another site may have planted counts only without better. */
export function sessionCells(cookie: string | undefined): readonly number[] {
  const found = pairsOf(cookie).flatMap((pair) => {
    const [, prefix, cell] = OF_CELL.exec(pair) ?? []
    return cell === undefined ? [] : [{ isSafe: prefix !== undefined, cell: Number(cell) }]
  })
  const safe = found.filter(({ isSafe }) => isSafe)
  return [...new Set((safe.length > 0 ? safe : found).map(({ cell }) => cell))]
}

/** The Cookie header as the cell gets it: its own session under the usual name, and no other's. */
export function cookieFor(cell: number, cookie: string): string {
  const suffix = `_${cell}=`
  return pairsOf(cookie)
    .flatMap((pair) => {
      const name = OWN_NAME.exec(pair)?.[0]
      if (name === undefined) return [pair]
      const rest = pair.slice(name.length)
      return rest.startsWith(suffix) ? [`${name}=${rest.slice(suffix.length)}`] : []
    })
    .join('; ')
}

/** A Set-Cookie of the cell as the browser gets it. */
export function setCookieFrom(cell: number, header: string): string {
  return header.replace(OWN_NAME, (name) => `${name}_${cell}`)
}

function pairsOf(cookie = ''): readonly string[] {
  return cookie.split(';').map((pair) => pair.trim())
}
