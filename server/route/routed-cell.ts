// One cell as the route sees it: its connections, how many requests it has under way, and whether it is away. What goes
// wrong with it is a CellFailure, which says whether the request can have reached it.

import type { Readable } from 'node:stream'
import { type Dispatcher, Pool } from 'undici'
import { ServiceError } from '../core/plain/errors.ts'
import { FairShares } from './fair-shares.ts'
import type { CellAddress } from './route-config.ts'

/** Requests under way, shared among callers; further ones are turned away at once. */
const REQUESTS_MAX = 1_000
const CONNECT_MS = 2_000
/** Until the answer begins, once the body is sent: the longest is that of a batch of 64 MiB. */
const ANSWER_MS = 120_000
/** Between two parts of an answer. */
const SILENCE_MS = 60_000

/** Which address of the cell: one with an operator port has two. */
export type CellSide = 'public' | 'operator'

export interface CellRequest {
  side: CellSide
  method: string
  /** With the query. */
  path: string
  headers: string[]
  body?: Readable | Uint8Array | null
  signal?: AbortSignal
  /** Among whom slots are shared. Null: the route asks for itself, and is not to think a busy cell away. */
  callers: readonly string[] | null
}

export interface CellAnswer {
  cell: number
  status: number
  headers: Dispatcher.ResponseData['headers']
  body: Dispatcher.ResponseData['body']
}

/** The cell gave no answer. */
export class CellFailure extends Error {
  readonly cell: number
  /** `away`: the request has not reached it. `lost`: it may have. `busy`: too many are under way. */
  readonly kind: 'away' | 'lost' | 'busy'

  constructor(cell: number, kind: CellFailure['kind'], cause?: unknown) {
    super(`cell ${cell}: ${kind}`, { cause })
    this.name = 'CellFailure'
    this.cell = cell
    this.kind = kind
  }

  /** What the caller is told. What only reads may be repeated, whatever happened. */
  toServiceError(isReading: boolean): ServiceError {
    if (this.kind === 'busy') {
      return new ServiceError('overloaded', `Cell ${this.cell} has too many requests under way.`, {
        retryAfterSeconds: 1,
      })
    }
    if (this.kind === 'lost' && !isReading) {
      return new ServiceError(
        'answer-lost',
        `Cell ${this.cell} took the request and gave no answer.`,
      )
    }
    return new ServiceError('cell-away', `Cell ${this.cell} cannot be reached.`, {
      retryAfterSeconds: 2,
    })
  }
}

/** Of connecting: nothing was sent yet. */
const NOT_SENT = new Set([
  'UND_ERR_CONNECT_TIMEOUT',
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
])

export class RoutedCell {
  readonly cell: number
  readonly address: string
  readonly #public: Side
  readonly #operator: Side
  readonly #slots: FairShares
  #isAway = false

  constructor({ cell, address, operatorAddress }: CellAddress, requestsMax = REQUESTS_MAX) {
    this.cell = cell
    this.address = operatorAddress
    this.#slots = new FairShares(requestsMax)
    this.#public = new Side(address, requestsMax)
    this.#operator =
      operatorAddress === address ? this.#public : new Side(operatorAddress, requestsMax)
  }

  /** Whether the operator's side is at an address of its own. */
  get hasTwoSides(): boolean {
    return this.#operator !== this.#public
  }

  get underWay(): number {
    return this.#slots.taken
  }

  /** By what was tried last. */
  get isAway(): boolean {
    return this.#isAway
  }

  /** Rejects with a CellFailure, or with the reason of the signal. */
  async send(request: CellRequest): Promise<CellAnswer> {
    const { callers } = request
    const leave = callers === null ? this.#slots.takeAnyway() : this.#slots.take(callers)
    if (leave === null) throw new CellFailure(this.cell, 'busy')
    let answer: Dispatcher.ResponseData
    try {
      const side = request.side === 'operator' ? this.#operator : this.#public
      answer = await side.send(request)
    } catch (error) {
      leave()
      if (request.signal?.aborted) throw error
      const code = String((error as { code?: unknown }).code)
      if (code === 'UND_ERR_INVALID_ARG') {
        throw new ServiceError('malformed-request', 'The request could not be read.')
      }
      const isSent = !NOT_SENT.has(code)
      if (!isSent) this.#isAway = true
      throw new CellFailure(this.cell, isSent ? 'lost' : 'away', error)
    }
    this.#isAway = false
    const { statusCode: status, headers, body } = answer
    body.once('close', leave)
    // A reader that looks at nothing but the headers must not end the process.
    body.on('error', () => {})
    return { cell: this.cell, status, headers, body }
  }

  async close(): Promise<void> {
    await Promise.all([this.#public.close(), this.#operator.close()])
  }
}

/** One address of a cell. */
class Side {
  readonly #prefix: string
  readonly #pool: Pool

  constructor(address: string, requestsMax: number) {
    const { origin, pathname } = new URL(address)
    this.#prefix = pathname.replace(/\/+$/, '')
    this.#pool = new Pool(origin, {
      // One more for the route itself, which asks one thing at a time.
      connections: requestsMax + 1,
      connect: { timeout: CONNECT_MS },
      headersTimeout: ANSWER_MS,
      bodyTimeout: SILENCE_MS,
      allowH2: false,
    })
  }

  send({ method, path, headers, body, signal }: CellRequest): Promise<Dispatcher.ResponseData> {
    return this.#pool.request({
      method,
      path: this.#prefix + path,
      headers,
      body: body ?? null,
      ...(signal ? { signal } : {}),
    })
  }

  async close(): Promise<void> {
    await this.#pool.destroy().catch(() => {})
  }
}

/** At most so many bytes; null for a longer answer, which is then cut off. */
export async function readAnswer({ body }: CellAnswer, bytesMax: number): Promise<Buffer | null> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of body) {
    length += chunk.length
    if (length > bytesMax) {
      body.destroy()
      return null
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks, length)
}
