// Bodies that have not come yet. They hold no slot of a cell, and have a limit of their own, for each address and in all.
// Where it is reached, the one that has waited longest is given up, of this address or of the one with the most: a body
// that is on its way arrives in milliseconds, so that honest callers at the same address still get through.

import { ServiceError } from '../core/plain/errors.ts'

interface WaitingLimits {
  max: number
  perAddressMax: number
}

const WAITING_LIMITS: WaitingLimits = { max: 2_000, perAddressMax: 200 }

type GiveUp = (why: ServiceError) => void

export class WaitingBodies {
  readonly #limits: WaitingLimits
  /** Of each address, the oldest first. */
  readonly #ofAddresses = new Map<string, Set<GiveUp>>()
  #count = 0

  constructor(limits: WaitingLimits = WAITING_LIMITS) {
    this.#limits = limits
  }

  get count(): number {
    return this.#count
  }

  /** Until the function that it returns is called, `giveUp` may be. */
  enter(address: string, giveUp: GiveUp): () => void {
    const own = this.#ofAddresses.get(address) ?? new Set()
    if (own.size >= this.#limits.perAddressMax) this.#giveUpOldest(address)
    else if (this.#count >= this.#limits.max) this.#giveUpOldest(this.#mostWaiting())
    const waiting = this.#ofAddresses.get(address) ?? new Set()
    this.#ofAddresses.set(address, waiting)
    waiting.add(giveUp)
    this.#count++
    return () => this.#leave(address, giveUp)
  }

  #giveUpOldest(address: string): void {
    const [oldest] = this.#ofAddresses.get(address) ?? []
    if (oldest === undefined) return
    this.#leave(address, oldest)
    oldest(
      new ServiceError('request-timeout', 'Too many requests wait for their bodies, this longest.'),
    )
  }

  #mostWaiting(): string {
    let most = ''
    let count = 0
    for (const [address, waiting] of this.#ofAddresses) {
      if (waiting.size > count) [most, count] = [address, waiting.size]
    }
    return most
  }

  #leave(address: string, giveUp: GiveUp): void {
    const waiting = this.#ofAddresses.get(address)
    if (waiting?.delete(giveUp)) this.#count--
    if (waiting?.size === 0) this.#ofAddresses.delete(address)
  }
}
