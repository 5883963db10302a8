// The address of a database, which may name several hosts, as libpq's URLs do: those of one PostgreSQL of
// which one at a time takes writes. Pure: nothing is resolved and nothing is asked. It also says which cell
// of the database is meant, so that no connection can be opened without knowing.

import { FIRST_CELL, parseCell } from './cell.ts'

/** One database, and where it may be found. */
export interface DatabaseAddress {
  /** A URL for each host, in the order given. */
  urls: readonly string[]
  /** A connection to a host that takes no writes is worth nothing: the next host is tried. */
  mustTakeWrites: boolean
  /** Whose schema all sessions work in. */
  cell: number
  /** How long opening a connection may take; null where the address does not say. */
  connectMsMax: number | null
}

/** Ours alone: the driver never sees it, and an operator sets PAYBELL_CELL instead. */
const CELL = 'paybell_cell'

/** In seconds, as libpq has it. */
const CONNECT_TIMEOUT = 'connect_timeout'
const CONNECT_SECONDS_MAX = 600

/** Without writes Paybell does nothing, so these two mean the same to it, and the others are refused. */
const SESSION_ATTRIBUTES = ['read-write', 'primary']

/** The driver takes these for `verify-full` and prints a warning at each start that it does. */
const AS_VERIFY_FULL = ['prefer', 'require', 'verify-ca']

/** The same database, and a cell of it: another one than it may name already. */
export function addressOfCell(url: string, cell: number): string {
  const bare = url.replace(/[?&]paybell_cell=\d+$/, '')
  return cell === FIRST_CELL ? bare : `${bare}${bare.includes('?') ? '&' : '?'}${CELL}=${cell}`
}

/** Undefined for what is no such address. */
export function parseDatabaseUrl(text: string): DatabaseAddress | undefined {
  const match = /^(postgres(?:ql)?:\/\/)([^/?#]*@)?([^/?#@]*)(\/[^?#]*)?(?:\?([^#]*))?$/.exec(text)
  if (match === null) return undefined
  const [, scheme, user = '', authority = '', path = '', query = ''] = match
  const search = new URLSearchParams(query)
  const attributes = search.get('target_session_attrs')
  if (attributes !== null && !SESSION_ATTRIBUTES.includes(attributes)) return undefined
  search.delete('target_session_attrs')
  const tls = search.get('sslmode')
  if (tls !== null && AS_VERIFY_FULL.includes(tls) && search.get('uselibpqcompat') !== 'true') {
    search.set('sslmode', 'verify-full')
  }
  const cell = parseCell(search.get(CELL) ?? String(FIRST_CELL))
  if (cell === undefined) return undefined
  search.delete(CELL)
  const connectMsMax = takeConnectMsMax(search)
  const hosts = splitHosts(authority, search)
  if (hosts === undefined) return undefined
  const urls = hosts.map(({ host, extra }) => {
    const all = new URLSearchParams([...search, ...extra])
    // URLSearchParams writes a space as a plus, which the driver would keep.
    const tail = all.size > 0 ? `?${all.toString().replaceAll('+', '%20')}` : ''
    return `${scheme}${user}${host}${path}${tail}`
  })
  // A user without a host is well-formed for PostgreSQL, whose host may be in the query.
  if (!urls.every((url) => URL.canParse(url.replace(/@(?=[/?]|$)/, '@localhost')))) return undefined
  return { urls, mustTakeWrites: urls.length > 1 || attributes !== null, cell, connectMsMax }
}

/** The driver does not know it. A wait without end, libpq's zero, is none of ours. */
function takeConnectMsMax(search: URLSearchParams): number | null {
  const seconds = Number(search.get(CONNECT_TIMEOUT))
  search.delete(CONNECT_TIMEOUT)
  return seconds >= 1 && seconds <= CONNECT_SECONDS_MAX ? seconds * 1_000 : null
}

interface Host {
  /** The text between the user and the path. */
  host: string
  /** What the query says of it. */
  extra: readonly [string, string][]
}

/** `a:1,b:2` before the path, or `host=a,b&port=1,2` in the query, which may name folders of sockets, too. */
function splitHosts(authority: string, search: URLSearchParams): readonly Host[] | undefined {
  const named = search.get('host')?.split(',')
  const ports = search.get('port')?.split(',')
  search.delete('host')
  search.delete('port')
  const list = named ?? authority.split(',')
  // One port is for all of them; otherwise each has its own.
  if (ports && ports.length > 1 && ports.length !== list.length) return undefined
  if (list.length > 1 && list.includes('')) return undefined
  return list.map((name, index) => {
    const port = ports?.[index] ?? ports?.[0]
    const extra: [string, string][] = port ? [['port', port]] : []
    if (named) extra.unshift(['host', name])
    return { host: named ? authority : name, extra }
  })
}
