// Changes whose payment another transaction holds, a company's own for example. They wait apart, bounded in
// number and in bytes, so that other payments do not wait with them; a later change of the same payment
// waits until they have their answer, so that it does not overtake them.

export interface HoldLimits {
  /** Transactions that wait for a lock, each with a connection of its own: at most a quarter of the pool. */
  waitsMax: number
  /** Payments that wait, those of the transactions included. The others are tried again and again. */
  paymentsMax: number
  changesPerPaymentMax: number
  bytesMax: number
  /** Between tries: from the first to the longest. */
  tryMs: number
  tryMsMax: number
  /** How long it is tried: about as long as a transaction may wait for its lock. */
  triedMsMax: number
}

export const HOLD_LIMITS: HoldLimits = {
  waitsMax: 4,
  paymentsMax: 500,
  changesPerPaymentMax: 100,
  bytesMax: 32 * 1024 * 1024,
  // Another process's gathered transaction is over in that time.
  tryMs: 10,
  tryMsMax: 250,
  triedMsMax: 10_000,
}

/** A small pool must not be used up by waiting. Without room for any, payments are tried again instead. */
export function holdLimits(connections: number): HoldLimits {
  return { ...HOLD_LIMITS, waitsMax: Math.min(HOLD_LIMITS.waitsMax, Math.floor(connections / 4)) }
}

interface Held {
  bytes: number
}

/** What waits for one payment. */
export class Hold<M extends Held> {
  readonly paymentId: string
  /** Being tried, or waiting for the next time. */
  members: M[]
  /** Came while the members were tried. */
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

  /** One more for a payment that is held; false when there is no room for it. */
  add(hold: Hold<M>, member: M): boolean {
    const { changesPerPaymentMax, bytesMax } = this.#limits
    if (hold.members.length + hold.later.length >= changesPerPaymentMax) return false
    if (this.#bytes + member.bytes > bytesMax) return false
    hold.later.push(member)
    this.#bytes += member.bytes
    return true
  }

  /** Found busy again: all that waits for it is tried together, in order, the next time. */
  renew(hold: Hold<M>, members: readonly M[]): void {
    this.#bytes -= bytesOf(hold.members) - bytesOf(members)
    hold.members = [...members, ...hold.later]
    hold.later = []
  }

  end(hold: Hold<M>): void {
    this.#holds.delete(hold.paymentId)
    this.#bytes -= bytesOf(hold.members) + bytesOf(hold.later)
  }

  /** True for as many as may wait in a transaction at once; each says when it has ended. */
  beginWait(): boolean {
    if (this.#waits >= this.#limits.waitsMax) return false
    this.#waits++
    return true
  }

  endWait(): void {
    this.#waits--
  }

  /** How long until the next try; null when it was tried for long enough. */
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
