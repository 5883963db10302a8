// Clients that are on their way to another cell, or have left, as this process last read. A process that has not read
// it yet is kept out by the database (store/moves/move-fence.ts); this makes the answer a good one.

import { hasLeft, isFrozen } from '../../core/network/client-move.ts'
import { ServiceError } from '../../core/plain/errors.ts'
import { Remembered } from '../../core/plain/remembered.ts'
import type { Db } from '../../store/connection/db.ts'
import {
  type ClientMove,
  findMoveOf,
  findMoveOfEndpoint,
  readClientMoves,
} from '../../store/moves/client-moves.ts'
import { findRefusedClient } from '../../store/moves/move-fence.ts'
import type { Deps } from '../shared/deps.ts'

const KEPT_MS = 1_000
/** So long after a step of a move every process has read it: what it remembers is too old by then, and is read anew. */
export const MOVES_KNOWN_MS = KEPT_MS + 500
/** From this age on it is read anew beside the requests that still go by it: none of them waits for it. */
const READ_AHEAD_MS = 500
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
    const ask = async () => {
      const moves = await readClientMoves(this.#deps.pool)
      return new Map(moves.map((move) => [move.clientKey, move]))
    }
    this.#read.get(undefined, ask, READ_AHEAD_MS).catch(() => {})
    return this.#read.get(undefined, ask)
  }

  /** How a write is answered that the fence has refused; null where it was not the fence. Never rejects. */
  explain(error: unknown): Promise<ServiceError> | null {
    const clientKey = findRefusedClient(error)
    return clientKey === null ? null : this.#explain(clientKey)
  }

  async #explain(clientKey: number): Promise<ServiceError> {
    const moves = await this.current().catch(() => null)
    const move = moves?.get(clientKey)
    return move !== undefined && hasLeft(move.state)
      ? movedError(move, move.clientId)
      : movingError()
  }
}

/** Why a payment of the client's account is not accepted here; null when it is. The operator has been authenticated. */
export function refusePayment(
  move: ClientMove | undefined,
  accountId: string,
): ServiceError | null {
  if (move === undefined) return null
  if (hasLeft(move.state)) return movedError(move, accountId)
  return isFrozen(move.state) ? movingError() : null
}

/**
 * Throws where a request of the client itself, which has been authenticated, cannot be answered here. It may read until
 * it has moved.
 */
export function checkRequest(move: ClientMove | undefined, request: { method: string }): void {
  if (move === undefined) return
  if (hasLeft(move.state)) throw movedError(move, move.clientId)
  if (!isReading(request)) throw movingError()
}

function isReading({ method }: { method: string }): boolean {
  return method === 'GET' || method === 'HEAD'
}

/**
 * Throws where a call of the operator about the client cannot be answered here. `id` is the client, or the account, that
 * it names. What is done before the copy is copied.
 */
export function checkOperatorCall(
  move: ClientMove | undefined,
  request: { method: string },
  id: string,
): void {
  if (move === undefined) return
  if (hasLeft(move.state)) throw movedError(move, id)
  if (isFrozen(move.state) && !isReading(request)) throw movingError()
}

/**
 * Throws where the client is on its way, or has left. For what a move stops, or leaves behind, from its beginning on. To be
 * called in the transaction that changes it, after it was locked there: what this process last read may be older.
 */
export async function assertStays(db: Db, clientKey: number): Promise<void> {
  const move = await findMoveOf(db, clientKey)
  if (move === null) return
  throw hasLeft(move.state) ? movedError(move, move.clientId) : movingError()
}

/**
 * Throws where the endpoint's client has left, whether its rows are still here or are known by their ids alone. The caller
 * has shown a link to it, which proves nothing about the client, so no id is named.
 */
export async function assertEndpointHere(
  db: Db,
  endpointId: string,
  clientKey: number | undefined,
): Promise<void> {
  const move =
    clientKey === undefined
      ? await findMoveOfEndpoint(db, endpointId)
      : await findMoveOf(db, clientKey)
  if (move !== null && hasLeft(move.state)) throw movedError(move, null)
}

/**
 * The secrets of a client that has moved are no longer here, so none can be checked, and no id is named. `clientId` in
 * any case, as a login takes it.
 */
export function checkLogin(moves: ReadonlyMap<number, ClientMove>, clientId: string): void {
  const id = clientId.toLowerCase()
  for (const move of moves.values()) {
    if (hasLeft(move.state) && move.clientId === id) throw movedError(move, null)
  }
}

export function movingError(): ServiceError {
  return new ServiceError(
    'overloaded',
    'This client is being moved to another cell. Try again in a moment.',
    { retryAfterSeconds: RETRY_AFTER_SECONDS },
  )
}

/**
 * `id` is the client or the account that was asked for, if the caller has proven to speak for it; else null. A route
 * remembers the move of this id for all who ask after: what an unknown caller says must not be in it.
 */
function movedError({ toAddress, toCell }: ClientMove, id: string | null): ServiceError {
  return new ServiceError('client-moved', `This client has moved to ${toAddress}.`, {
    movedTo: toAddress,
    movedToCell: toCell,
    ...(id === null ? {} : { movedId: id }),
  })
}
