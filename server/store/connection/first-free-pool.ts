// A pool in which a statement waits for whichever connection is free first: one that another statement gives back, or
// the new one that is opened for it meanwhile. pg's own would let it wait for the new one: some 5 ms of processor time in
// which the backend starts and reads the catalogue, while the one that a poll held was free again after one.

import pg from 'pg'

/** Somebody who waits for a connection. */
interface Waiting {
  timedOut: boolean
  callback(error: Error | undefined, client: pg.PoolClient | undefined, release: () => void): void
}

/** What pg's pool is made of, besides what its types name. first-free-pool.test.ts fails where it is made otherwise. */
interface Inner {
  readonly _pendingQueue: Waiting[]
  _isFull(): boolean
  /** A connection is idle, or there is room for one more. */
  _pulseQueue(): void
  /** Nothing is idle, and there is room. */
  newClient(waiting: Waiting): void
}

const InnerPool = pg.Pool as unknown as new (options: pg.PoolConfig) => pg.Pool & Inner

export class FirstFreePool extends InnerPool {
  #opening = 0

  override newClient(waiting: Waiting): void {
    this._pendingQueue.push(waiting)
    this.#grow()
  }

  override _pulseQueue(): void {
    if (this.idleCount > 0 || this.ending) super._pulseQueue()
    else this.#grow()
  }

  /** Opens one for each that waits, where there is room. A pool that ends opens none. */
  #grow(): void {
    if (this.ending) return
    while (this.#opening < this._pendingQueue.length && !this._isFull()) {
      this.#opening++
      super.newClient({
        timedOut: false,
        callback: (error, _client, release) => this.#opened(error, release),
      })
    }
  }

  #opened(error: Error | undefined, release: () => void): void {
    this.#opening--
    if (!error) {
      // To who has waited longest, if anybody still does.
      release()
      return
    }
    this._pendingQueue.shift()?.callback(error, undefined, () => {})
    this.#grow()
  }
}
