// What a request shows about where it belongs. Nothing of it is verified: it only chooses the cell that verifies.

import type { IncomingMessage } from 'node:http'
import { CELL_HEADER, parseCell } from '../core/network/cell.ts'
import type { CellDirectory } from '../core/network/cell-directory.ts'
import { ServiceError } from '../core/plain/errors.ts'
import { isUuid } from '../core/plain/uuid.ts'
import { readAssertion } from '../core/proofs/client-assertion.ts'
import { TOKEN_BYTES_MAX } from '../core/proofs/token.ts'
import { sessionCells } from './console-cookies.ts'
import type { ShownRequest } from './destination.ts'
import type { KnownCells } from './known-cells.ts'

/** Throws where X-Paybell-Cell names no cell. */
export function readShown(request: IncomingMessage, cells: KnownCells): ShownRequest {
  const url = request.url ?? '/'
  if (!url.startsWith('/')) {
    throw new ServiceError('malformed-request', 'The address must begin with a slash.')
  }
  const end = url.search(/[?#]/)
  const { authorization, accountid, cookie } = request.headers
  return {
    method: request.method ?? 'GET',
    path: end < 0 ? url : url.slice(0, end),
    query: new URLSearchParams(end < 0 ? '' : url.slice(end + 1)),
    clientId: readSubject(authorization),
    accountId: typeof accountid === 'string' && isUuid(accountid) ? accountid : null,
    named: readNamed(request.headers[CELL_HEADER], cells),
    sessions:
      authorization === undefined
        ? sessionCells(cookie).filter((cell) => cells.find(cell) !== undefined)
        : [],
  }
}

function readNamed(given: string | string[] | undefined, cells: KnownCells): number | null {
  if (given === undefined) return null
  const cell = parseCell(String(given))
  if (cell !== undefined && cells.find(cell) !== undefined) return cell
  throw new ServiceError('cell-required', 'X-Paybell-Cell names no cell that there is.')
}

/** The `sub` of an access token. */
function readSubject(authorization: string | undefined): string | null {
  if (authorization === undefined || authorization.length > TOKEN_BYTES_MAX + 16) return null
  const payload = /^bearer +[\w-]+\.([\w-]+)\.[\w-]+$/i.exec(authorization)?.[1]
  const { sub } = readObject(Buffer.from(payload ?? '', 'base64url').toString())
  return typeof sub === 'string' && isUuid(sub) ? sub : null
}

/** The cell of the client that asks for a token: as JSON, as a form, or as HTTP Basic. */
export function cellOfTokenRequest(
  request: IncomingMessage,
  body: Buffer | null,
  directory: CellDirectory,
): number {
  const basic = /^basic +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1]
  const text = body?.toString() ?? ''
  const given =
    basic === undefined
      ? (readObject(text).clientId ?? clientOfForm(new URLSearchParams(text)))
      : decodeBasic(basic)
  return directory.cellOfClient(typeof given === 'string' ? given : '')
}

/** An assertion has it, too, and need not be accompanied by it. */
function clientOfForm(form: URLSearchParams): string | null {
  const assertion = form.get('client_assertion')
  const asserted = assertion === null ? null : readAssertion(assertion)
  return asserted?.clientId ?? form.get('client_id')
}

/** RFC 6749 §2.3.1: both halves are encoded as in forms. A client id is a uuid, which needs none of it. */
function decodeBasic(text: string): string {
  return Buffer.from(text, 'base64').toString().split(':', 1)[0] ?? ''
}

function readObject(text: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(text))
  } catch {
    return {}
  }
}
