// Sends one request of a caller to a cell, and follows a client that has moved, to each cell once at most. The answer is
// passed on as it comes.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { CELL_HEADER, MOVED_HEADER, parseCell } from '../core/network/cell.ts'
import { ServiceError } from '../core/plain/errors.ts'
import { isUuid } from '../core/plain/uuid.ts'
import { lingerAfterAnswer } from '../http/sockets/lingering-close.ts'
import { answerHeaders, requestHeaders } from './forwarded-headers.ts'
import type { KnownCells } from './known-cells.ts'
import { isRepeatable, type RequestBody } from './request-body.ts'
import { type CellAnswer, CellFailure, type CellSide, type RoutedCell } from './routed-cell.ts'

/** One request of a caller. */
export interface Call {
  request: IncomingMessage
  response: ServerResponse
  side: CellSide
  /** With the query. */
  path: string
  body: RequestBody
  /** By which the slots of a cell are shared: where it comes from, and its credential. */
  callers: readonly string[]
  /** The caller has gone. */
  signal: AbortSignal
}

/** Twice is as good as once, and the second answer as good as the first: after a DELETE it would be 404. */
const REPEATED = ['GET', 'HEAD', 'PUT']

export class CellSender {
  readonly #cells: KnownCells
  readonly #isTrusted: (address: string) => boolean
  readonly #onFollowed: () => void

  constructor(cells: KnownCells, isTrusted: (address: string) => boolean, onFollowed: () => void) {
    this.#cells = cells
    this.#isTrusted = isTrusted
    this.#onFollowed = onFollowed
  }

  /** The answer of the cell, or of the one that has its client now. */
  async send(call: Call, cell: RoutedCell, path = call.path): Promise<CellAnswer> {
    const tried = new Set<RoutedCell>()
    for (let at = cell; ; this.#onFollowed()) {
      tried.add(at)
      const answer = await this.#sendOnce(call, at, path)
      const to = answer.status === 308 ? this.#movedTo(answer, at) : undefined
      if (to === undefined) return answer
      answer.body.destroy()
      // The cell's own word for whom it has authenticated, never ours: all that a request shows may be forged.
      const moved = answer.headers[MOVED_HEADER]
      if (typeof moved === 'string' && isUuid(moved)) this.#cells.learn(moved, at.cell, to.cell)
      void this.#cells.refreshSoon()
      if (!isRepeatable(call.body) || tried.has(to)) throw movedNow()
      at = to
    }
  }

  /** A part of a batch. It has no length of its own, and cannot be sent twice. */
  sendPart(call: Call, cell: RoutedCell, body: Readable): Promise<CellAnswer> {
    const given = requestHeaders(call.request, cell.cell, this.#isTrusted)
    const headers = given.filter((_, at) => given[at - (at % 2)] !== 'content-length')
    const { side, path, callers, signal } = call
    return cell.send({ side, method: 'POST', path, headers, body, callers, signal })
  }

  /** A connection that was idle may be closed in the moment in which it is used: what can be repeated is. */
  async #sendOnce(call: Call, cell: RoutedCell, path: string): Promise<CellAnswer> {
    const { method = 'GET' } = call.request
    const sent = {
      side: call.side,
      method,
      path,
      headers: requestHeaders(call.request, cell.cell, this.#isTrusted),
      body: call.body,
      callers: call.callers,
      signal: call.signal,
    }
    try {
      return await cell.send(sent)
    } catch (error) {
      const isLost = error instanceof CellFailure && error.kind === 'lost'
      if (!isLost || !isRepeatable(call.body) || !REPEATED.includes(method)) throw error
      return cell.send(sent)
    }
  }

  /** Only cells of our own settings: a Location alone leads nowhere. */
  #movedTo(answer: CellAnswer, from: RoutedCell): RoutedCell | undefined {
    const number = parseCell(String(answer.headers[CELL_HEADER] ?? ''))
    const cell = number === undefined ? undefined : this.#cells.find(number)
    return cell === from ? undefined : cell
  }
}

export async function passOn({ request, response }: Call, answer: CellAnswer): Promise<void> {
  response.writeHead(answer.status, answerHeaders(answer.headers, answer.cell))
  lingerAfterAnswer(request)
  await pipeline(answer.body, response)
}

function movedNow(): ServiceError {
  return new ServiceError(
    'overloaded',
    'This client has just moved to another cell. Send it again.',
    {
      retryAfterSeconds: 1,
    },
  )
}
