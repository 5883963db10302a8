// Where a request goes, by what it shows without its body: the client of its token, the account or the id that it
// names. Pure. Nothing is verified here: the cell that gets the request does that, and one that shows nothing of use
// goes to the first cell, which refuses it as it would without a route.

import type { CellDirectory } from '../core/network/cell-directory.ts'
import { DOCUMENTS_PATH, parseLink } from '../core/payments/document-link.ts'
import { isUuid } from '../core/plain/uuid.ts'

export interface ShownRequest {
  method: string
  /** Without the query. */
  path: string
  query: URLSearchParams
  /** The `sub` of the token, unverified; null for an operator's key, or none. */
  clientId: string | null
  accountId: string | null
  /** What X-Paybell-Cell says. */
  named: number | null
  /** Cells that this browser is signed in to. */
  sessions: readonly number[]
}

export type ListName =
  | 'clients'
  | 'endpoints'
  | 'jobs'
  | 'keys'
  | 'deliveries'
  | 'audit'
  | 'payments'
  | 'search'

export type Destination =
  /** One cell, and no other. */
  | { to: 'cell'; cell: number }
  /** Whichever answers: pages and documentation are the same in all. */
  | { to: 'any' }
  /** The cell that made the id; where it is unknown there, the others: its client may have moved. */
  | { to: 'finder'; first: number | null }
  /** The cell of the client that the body, or HTTP Basic, names. */
  | { to: 'token' }
  | { to: 'session' }
  | { to: 'batch' }
  | { to: 'list'; list: ListName }
  /** Public keys of all cells. */
  | { to: 'keys' }
  | { to: 'directory' }
  /** Nothing says which: the caller has to. */
  | { to: 'unnamed' }

const OPERATOR = '/operator/v1/'
const CLIENT = /^(?:\/api)?\/v1\//
const CLIENT_KEYS = /^\/\.well-known\/clients\/([^/]+)\/jwks\.json$/
const LISTS: readonly string[] = [
  'clients',
  'endpoints',
  'jobs',
  'keys',
  'deliveries',
  'audit',
  'payments',
  'search',
] satisfies ListName[]
/** Their ids tell their cell. */
const STAMPED = [
  'endpoints',
  'deliveries',
  'events',
  'jobs',
  'keys',
  'signing-keys',
  'webhook-keys',
]

export function destinationOf(shown: ShownRequest, directory: CellDirectory): Destination {
  const { path, named } = shown
  if (path === `${OPERATOR}cells`) return { to: 'directory' }
  if (path === '/console/session') return { to: 'session' }
  if (path === '/.well-known/jwks.json' || path === '/.well-known/webhook-keys.json') {
    return named === null ? { to: 'keys' } : { to: 'cell', cell: named }
  }
  if (named !== null) return { to: 'cell', cell: named }
  const [, keyOwner] = CLIENT_KEYS.exec(path) ?? []
  if (keyOwner !== undefined) return { to: 'cell', cell: directory.cellOfClient(keyOwner) }
  if (path.startsWith(OPERATOR)) return operatorDestination(shown, directory)
  if (path === '/auth/token') return { to: 'token' }
  if (path.startsWith(`${DOCUMENTS_PATH}/`)) {
    // The cell that made the endpoint has its client, or knows where it went; the one that made the event may have had
    // the client before the endpoint was there.
    const linked = parseLink(path.slice(DOCUMENTS_PATH.length + 1))
    return { to: 'finder', first: directory.cellOfId(linked?.endpointId ?? '') }
  }
  if (shown.clientId !== null) return { to: 'cell', cell: directory.cellOfClient(shown.clientId) }
  const [session] = shown.sessions
  if (session !== undefined && CLIENT.test(path)) return { to: 'cell', cell: session }
  return { to: 'any' }
}

function operatorDestination(shown: ShownRequest, directory: CellDirectory): Destination {
  const { method, path, query, accountId } = shown
  const [thing = '', id, ...rest] = path.slice(OPERATOR.length).split('/')
  const isReading = method === 'GET' || method === 'HEAD'
  if (thing === 'payments') {
    if (id === 'batch') return { to: 'batch' }
    if (method === 'PUT') {
      return { to: 'cell', cell: directory.cellOfAccount(accountId ?? '') }
    }
  }
  if (id !== undefined && isUuid(id)) {
    if (thing === 'clients') return { to: 'cell', cell: directory.cellOfClient(id) }
    // Payments have the ids that their source has given them.
    if (thing === 'payments') return { to: 'finder', first: null }
    if (STAMPED.includes(thing)) return { to: 'finder', first: directory.cellOfId(id) }
  }
  if (!isReading || id !== undefined || rest.length > 0 || !LISTS.includes(thing)) {
    return { to: 'unnamed' }
  }
  const clientId = query.get('clientId')
  if (clientId !== null) return { to: 'cell', cell: directory.cellOfClient(clientId) }
  const account = query.get('accountId')
  if (account !== null) return { to: 'cell', cell: directory.cellOfAccount(account) }
  return { to: 'list', list: thing as ListName }
}
