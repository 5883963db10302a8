// One request of a caller, from its arrival to its answer: where it goes, and what becomes of the answer. Every failure
// ends here as a problem; one that comes after the first byte of the answer closes the connection.

import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { ServiceError } from '../core/plain/errors.ts'
import { toProblem } from '../http/basics/problems.ts'
import { readPatiently } from '../http/requests/patient-body.ts'
import type { Surface } from '../http/routes/server-deps.ts'
import { sendJson, sendProblem } from './answers.ts'
import { sendBatch, sendJoined } from './batch.ts'
import { BatchPart } from './batch-part.ts'
import { type Call, type CellSender, passOn } from './cell-sender.ts'
import { type Destination, destinationOf, type ShownRequest } from './destination.ts'
import { callerNetwork } from './forwarded-headers.ts'
import { readKeySets } from './key-sets.ts'
import type { KnownCells } from './known-cells.ts'
import { Refused, readList } from './lists.ts'
import {
  BATCH_BODY,
  type BodyLimit,
  isRepeatable,
  openBody,
  type RequestBody,
  SIGN_IN_BODY,
  USUAL_BODY,
} from './request-body.ts'
import { type CellAnswer, CellFailure, type CellSide, type RoutedCell } from './routed-cell.ts'
import { answerSession } from './sessions.ts'
import { cellOfTokenRequest, readShown } from './shown-request.ts'
import type { WaitingBodies } from './waiting-bodies.ts'

export interface RouterParts {
  cells: KnownCells
  sender: CellSender
  waiting: WaitingBodies
  isTrusted(address: string): boolean
  baseUrl(): string
  onFailure(error: unknown): void
}

export class Router {
  readonly #parts: RouterParts
  readonly #keySets = new Map<string, Map<number, unknown>>()

  constructor(parts: RouterParts) {
    this.#parts = parts
  }

  async handle(
    request: IncomingMessage,
    response: ServerResponse,
    surface: Surface,
  ): Promise<void> {
    const gone = new AbortController()
    response.once('close', () => {
      if (!response.writableFinished) gone.abort()
    })
    try {
      const shown = readShown(request, this.#parts.cells)
      const { directory } = this.#parts.cells
      const destination = destinationOf(shown, directory)
      const address = callerNetwork(request, this.#parts.isTrusted)
      const { waiting } = this.#parts
      const body = await openBody(request, { waiting, address, limit: bodyLimit(destination) })
      const call = {
        request,
        response,
        side: sideOf(shown, surface),
        path: request.url ?? '/',
        body,
        callers: callersOf(request, address),
        signal: gone.signal,
      }
      if (destination.to === 'session') await this.#session(call, shown, surface)
      else await this.#answer(call, shown, destination)
    } catch (error) {
      this.#fail(error, request, response, gone.signal)
    }
  }

  async #answer(
    call: Call,
    shown: ShownRequest,
    destination: Exclude<Destination, { to: 'session' }>,
  ): Promise<void> {
    const { directory } = this.#parts.cells
    switch (destination.to) {
      case 'cell':
        return passOn(call, await this.#send(call, this.#cell(destination.cell)))
      case 'any':
        return this.#find(call, shown, null, { isEverywhere: true })
      case 'finder':
        return this.#find(call, shown, destination.first, { isEverywhere: false })
      case 'token': {
        const kept = isRepeatable(call.body) ? call.body : null
        const cell = this.#cell(cellOfTokenRequest(call.request, kept, directory))
        return passOn(call, await this.#send(call, cell))
      }
      case 'batch':
        return this.#batch(call)
      case 'list':
        return this.#list(call, shown, destination)
      case 'keys':
        return this.#keys(call, shown)
      case 'directory':
        return this.#directory(call, shown)
      case 'unnamed':
        throw new ServiceError(
          'cell-required',
          'There are several cells. Name the one that is meant in the header X-Paybell-Cell.',
        )
    }
  }

  #send(call: Call, cell: RoutedCell, path = call.path): Promise<CellAnswer> {
    return this.#parts.sender.send(call, cell, path)
  }

  #cell(number: number): RoutedCell {
    const cell = this.#parts.cells.find(number)
    if (cell === undefined) throw new CellFailure(number, 'away')
    return cell
  }

  /** Where no cell knows an id, and one could not be asked, the truth is not known: that is no 404. */
  async #find(
    call: Call,
    shown: ShownRequest,
    first: number | null,
    { isEverywhere }: { isEverywhere: boolean },
  ): Promise<void> {
    const { cells } = this.#parts
    const order = cells.inTurn().filter(({ cell }) => cell !== first)
    if (first !== null) order.unshift(this.#cell(first))
    const { sessions } = shown
    const open = order.filter(({ cell }) => sessions.length === 0 || sessions.includes(cell))
    const asking = isRepeatable(call.body) ? open : open.slice(0, 1)
    let failure: CellFailure | null = null
    for (const [at, cell] of asking.entries()) {
      try {
        const answer = await this.#send(call, cell)
        const isLast = at === asking.length - 1
        const isUnknown = answer.status === 404 && !isEverywhere
        if (!isUnknown || (isLast && failure === null)) return await passOn(call, answer)
        answer.body.destroy()
      } catch (error) {
        const isReading = call.request.method === 'GET' || call.request.method === 'HEAD'
        if (!(error instanceof CellFailure)) throw error
        if (error.kind === 'lost' && !isReading) throw error
        failure ??= error
      }
    }
    throw failure ?? new CellFailure(first ?? 0, 'away')
  }

  async #list(
    call: Call,
    shown: ShownRequest,
    { list }: Destination & { to: 'list' },
  ): Promise<void> {
    const { cells } = this.#parts
    const { sessions } = shown
    const open = cells.all.filter(({ cell }) => sessions.length === 0 || sessions.includes(cell))
    try {
      const body = await readList({
        list,
        query: shown.query,
        cells: open,
        closed: cells.all.filter((cell) => !open.includes(cell)).map(({ cell }) => cell),
        directory: cells.directory,
        send: (cell, path) => this.#send(call, cell, path),
      })
      sendJson(call.response, 200, body)
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      await passOn(call, error.answer)
    }
  }

  /** A cell knows whether the caller may see it. */
  async #directory(call: Call, shown: ShownRequest): Promise<void> {
    const { cells } = this.#parts
    const [open] = cells
      .inTurn()
      .filter(({ cell }) => shown.sessions.length === 0 || shown.sessions.includes(cell))
    const answer = await this.#send(call, open ?? this.#cell(0))
    if (answer.status !== 200) return passOn(call, answer)
    answer.body.destroy()
    const items = cells.all.map(({ cell, address }) => ({
      cell,
      address: cells.entryOf(cell)?.address ?? address,
      isAway: cells.reasonOf(cell) !== null,
      entry: cells.jwsOf(cell),
    }))
    sendJson(call.response, 200, { items })
  }

  async #keys(call: Call, { path }: ShownRequest): Promise<void> {
    const byCell = this.#keySets.get(path) ?? new Map<number, unknown>()
    this.#keySets.set(path, byCell)
    const { all } = this.#parts.cells
    // The operator's side of a cell does not have them.
    const open: Call = { ...call, side: 'public' }
    const body = await readKeySets(byCell, all, (cell) => this.#send(open, cell))
    sendJson(call.response, 200, body, { 'cache-control': 'public, max-age=300' })
  }

  async #session(call: Call, shown: ShownRequest, surface: Surface): Promise<void> {
    const { cells } = this.#parts
    const { status, headers, body } = await answerSession({
      method: shown.method,
      body: isRepeatable(call.body) ? call.body : null,
      surface,
      cells,
      directory: cells.directory,
      sessions: shown.sessions,
      send: (cell, side) => this.#send({ ...call, side }, cell),
    })
    call.response.writeHead(status, headers).end(body)
  }

  async #batch(call: Call): Promise<void> {
    const { cells, baseUrl } = this.#parts
    const requestId = randomUUID()
    const batch = await sendBatch({
      chunks: readPatiently(toStream(call.body)),
      directory: cells.directory,
      openPart: (cell) =>
        new BatchPart(cell, (body) => this.#parts.sender.sendPart(call, this.#cell(cell), body)),
      toProblem: (error) => {
        if (error.code === 'overloaded') void cells.refreshSoon()
        return toProblem(error, { baseUrl: baseUrl(), requestId })
      },
    })
    if (batch === null) {
      const read = isRepeatable(call.body) ? call : { ...call, body: null }
      return this.#find(read, EMPTY, null, { isEverywhere: true })
    }
    if (batch instanceof CellFailure) throw batch
    if ('lines' in batch) return sendJoined(call.response, batch, requestId)
    return passOn(call, batch)
  }

  #fail(
    error: unknown,
    request: IncomingMessage,
    response: ServerResponse,
    gone: AbortSignal,
  ): void {
    if (gone.aborted) return
    if (response.headersSent) {
      response.destroy()
      return
    }
    const isReading = request.method === 'GET' || request.method === 'HEAD'
    const failure =
      error instanceof CellFailure
        ? error.toServiceError(isReading)
        : error instanceof ServiceError
          ? error
          : null
    if (failure === null) this.#parts.onFailure(error)
    const internal = new ServiceError('internal', 'Something went wrong.')
    sendProblem(response, failure ?? internal, this.#parts.baseUrl())
  }
}

function bodyLimit({ to }: Destination): BodyLimit {
  if (to === 'token' || to === 'session') return SIGN_IN_BODY
  return to === 'batch' ? BATCH_BODY : USUAL_BODY
}

/**
 * The credential is not verified here, but counted as it is written: one that names another client, or is forged, takes
 * nothing of that client's share.
 */
function callersOf({ headers }: IncomingMessage, address: string): readonly string[] {
  const credential = headers.authorization ?? headers.cookie
  return credential === undefined ? [address] : [address, credential]
}

/** The operator's port of the route leads to the operator's ports of the cells. */
function sideOf({ path }: ShownRequest, surface: Surface): CellSide {
  return surface === 'operator' || path.startsWith('/operator/') ? 'operator' : 'public'
}

function toStream(body: RequestBody): Readable {
  return isRepeatable(body) ? Readable.from(body === null ? [] : [body]) : body
}

/** A batch without a line: any cell says what it is worth. */
const EMPTY: ShownRequest = {
  method: 'POST',
  path: '',
  query: new URLSearchParams(),
  clientId: null,
  accountId: null,
  named: null,
  sessions: [],
}
