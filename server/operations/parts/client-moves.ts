// Clients that are on their way to another cell, or have left, as this process last read. A process that has not read
// it yet is kept out by the database (migrations/0032); this makes the answer a good one.

import { ServiceError } from '../../core/errors.ts'
import { Remembered } from '../../core/remembered.ts'
import { type ClientMove, readClientMoves } from '../../store/client-moves.ts'
import type { Deps } from './deps.ts'

const KEPT_MS = 1_000
const RETRY_AFTER_SECONDS = 2

export class ClientMoves {
  readonly #deps: Pick<Deps, 'pool' | 'clock'>
  readonly #read: Remembered<void, ReadonlyMap<number, ClientMove>>

  constructor(deps: Pick<Deps, 'pool' | 'clock'>) {
    this.#deps = deps
    this.#read = new Remembered({
      keysMax: 1,
      expiry: { monotonicMs: () => deps.clock.monotonicMs(), ageMsMax: KEPT_MS },
    })
  }

  /** By the key of the client. */
  current(): Promise<ReadonlyMap<number, ClientMove>> {
    return this.#read.get(undefined, async () => {
      const moves = await readClientMoves(this.#deps.pool)
      return new Map(moves.map((move) => [move.clientKey, move]))
    })
  }
}

/** Why a payment of the client is not accepted here; null when it is. */
export function refusePayment(move: ClientMove | undefined): ServiceError | null {
  if (move === undefined || move.state === 'DRAINING') return null
  return move.state === 'MOVED' ? movedError(move) : movingError()
}

/** Throws where a request of the client itself cannot be answered here. It may read until it has moved. */
export function checkRequest(move: ClientMove | undefined, request: { method: string }): void {
  if (move === undefined) return
  if (move.state === 'MOVED') throw movedError(move)
  if (request.method !== 'GET' && request.method !== 'HEAD') throw movingError()
}

/** The secrets of a client that has moved are no longer here. */
export function checkLogin(moves: ReadonlyMap<number, ClientMove>, clientId: string): void {
  for (const move of moves.values()) {
    if (move.state === 'MOVED' && move.clientId === clientId) throw movedError(move)
  }
}

function movingError(): ServiceError {
  return new ServiceError(
    'overloaded',
    'This client is being moved to another cell. Try again in a moment.',
    { retryAfterSeconds: RETRY_AFTER_SECONDS },
  )
}

function movedError({ toAddress, toCell }: ClientMove): ServiceError {
  return new ServiceError('client-moved', `This client has moved to ${toAddress}.`, {
    movedTo: toAddress,
    movedToCell: toCell,
  })
}
