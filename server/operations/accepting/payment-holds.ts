// Changes whose payment another transaction has locked, such as a company's own. They wait separately,
// bounded in number and in bytes, so that other payments do not wait with them; a later change of the same
// payment waits until they have their answer, so that it does not overtake them.

export interface HoldLimits {
  /** Transactions that wait for a lock, each with a connection of its own: at most a quarter of the pool. */
  waitsMax: number
  /** Payments that wait, in such a transaction or between retries. */
  paymentsMax: number
  changesPerPaymentMax: number
  bytesMax: number
  /** Pauses between tries: the first and the longest. */
  tryMs: number
  tryMsMax: number
  /** For how long a payment is retried: about as long as a transaction may wait for its lock. */
  triedMsMax: number
}

export const HOLD_LIMITS: HoldLimits = {
  waitsMax: 4,
  paymentsMax: 500,
  changesPerPaymentMax: 100,
  bytesMax: 32 * 1024 * 1024,
  // A gathered transaction of another process takes less.
  tryMs: 10,
  tryMsMax: 250,
  triedMsMax: 10_000,
}

/** Waiting must not use up a small pool. Where no transaction may wait, payments are only retried. */
export function holdLimits(connections: number): HoldLimits {
  return { ...HOLD_LIMITS, waitsMax: Math.min(HOLD_LIMITS.waitsMax, Math.floor(connections / 4)) }
}

interface Held {
  bytes: number
}

/** The changes that wait for one payment. */
export class Hold<M extends Held> {
  readonly paymentId: string
  /** Being tried, or waiting for the next try. */
  members: M[]
  /** Changes that came while the members were tried. */
  later: M[] = []
  tries = 0
  triedMs = 0

  constructor(paymentId: string, members: M[]) {
    this.paymentId = paymentId
    this.members = members
  }
}

export class PaymentHolds<M extends Held> {
  readonly #limits: HoldLimits
  readonly #holds = new Map<string, Hold<M>>()
  #bytes = 0
  #waits = 0

  constructor(limits: HoldLimits) {
    this.#limits = limits
  }

  get size(): number {
    return this.#holds.size
  }

  get(paymentId: string): Hold<M> | undefined {
    return this.#holds.get(paymentId)
  }

  /** Null when there is no room for them. */
  begin(paymentId: string, members: M[]): Hold<M> | null {
    const { paymentsMax, bytesMax } = this.#limits
    const bytes = bytesOf(members)
    if (this.#holds.size >= paymentsMax || this.#bytes + bytes > bytesMax) return null
    const hold = new Hold(paymentId, members)
    this.#holds.set(paymentId, hold)
    this.#bytes += bytes
    return hold
  }

  /** Adds a change to a held payment; false when there is no room for it. */
  add(hold: Hold<M>, member: M): boolean {
    const { changesPerPaymentMax, bytesMax } = this.#limits
    if (hold.members.length + hold.later.length >= changesPerPaymentMax) return false
    if (this.#bytes + member.bytes > bytesMax) return false
    hold.later.push(member)
    this.#bytes += member.bytes
    return true
  }

  /** After another busy try: all that waits is tried together, in order, the next time. */
  renew(hold: Hold<M>, members: readonly M[]): void {
    this.#bytes -= bytesOf(hold.members) - bytesOf(members)
    hold.members = [...members, ...hold.later]
    hold.later = []
  }

  end(hold: Hold<M>): void {
    this.#holds.delete(hold.paymentId)
    this.#bytes -= bytesOf(hold.members) + bytesOf(hold.later)
  }

  /** True if one more transaction may wait; `endWait` must follow. */
  beginWait(): boolean {
    if (this.#waits >= this.#limits.waitsMax) return false
    this.#waits++
    return true
  }

  endWait(): void {
    this.#waits--
  }

  /** The pause before the next try; null when it was tried for long enough. */
  nextTryMs(hold: Hold<M>): number | null {
    const { tryMs, tryMsMax, triedMsMax } = this.#limits
    if (hold.triedMs >= triedMsMax) return null
    const ms = Math.min(tryMs * 2 ** Math.min(hold.tries++, 10), tryMsMax)
    hold.triedMs += ms
    return ms
  }
}

function bytesOf(members: readonly Held[]): number {
  return members.reduce((sum, { bytes }) => sum + bytes, 0)
}
