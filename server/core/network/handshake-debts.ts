// What the TLS handshakes with a client's receivers cost beyond the usual, and when the next has to wait for it. A handshake
// runs in the loop that serves everyone. Each is measured; the excess is a debt of the client, by origin, which is
// worked off slowly. Above a bound the origin pauses until its debt would be gone, and with each time twice as long. Receivers
// with ordinary handshakes have no debt, so they never pause for others of their client. Pure: times are handed in.

import { BoundedMap } from '../plain/bounded-map.ts'

export interface DebtPolicy {
  /** CPU time of a handshake that is nobody's debt. */
  usualMs: number
  /** Of one origin. No request may hold the loop for longer (decision 0073). */
  originMsMax: number
  /** Of all origins of a client. */
  clientMsMax: number
}

export const DEBT_POLICY: DebtPolicy = { usualMs: 5, originMsMax: 50, clientMsMax: 250 }

/** A twentieth of one processor. */
const WORKED_OFF_PER_MS = 0.05
const PAUSE_MS_MAX = 3_600_000
/** After so long without a pause they begin again with the shortest. */
const REMEMBERED_MS = 2 * PAUSE_MS_MAX
const ORIGINS_MAX = 10_000
const CLIENTS_MAX = 10_000

class Debt {
  #ms = 0
  #atMs = Number.NEGATIVE_INFINITY
  pauseCount = 0
  pausedUntilMs = Number.NEGATIVE_INFINITY

  add(ms: number, nowMs: number): number {
    const left = Math.max(0, this.#ms - (nowMs - this.#atMs) * WORKED_OFF_PER_MS)
    this.#ms = left + ms
    this.#atMs = nowMs
    return this.#ms
  }
}

export class HandshakeDebts {
  readonly #policy: DebtPolicy
  readonly #ofOrigins = new BoundedMap<string, Debt>(ORIGINS_MAX)
  readonly #ofClients = new BoundedMap<number, Debt>(CLIENTS_MAX)

  constructor(policy: DebtPolicy) {
    this.#policy = policy
  }

  /** A handshake has taken so much CPU time, however it ended. */
  charge(clientKey: number, origin: string, handshakeMs: number, nowMs: number): void {
    const excessMs = handshakeMs - this.#policy.usualMs
    if (excessMs <= 0) return
    const ofOrigin = entryOf(this.#ofOrigins, `${clientKey} ${origin}`)
    const originMs = ofOrigin.add(excessMs, nowMs)
    const clientMs = entryOf(this.#ofClients, clientKey).add(excessMs, nowMs)
    const { originMsMax, clientMsMax } = this.#policy
    if (originMs <= originMsMax && clientMs <= clientMsMax) return
    if (nowMs - ofOrigin.pausedUntilMs > REMEMBERED_MS) ofOrigin.pauseCount = 0
    const pauseMs = (Math.max(originMs, clientMs) / WORKED_OFF_PER_MS) * 2 ** ofOrigin.pauseCount
    ofOrigin.pauseCount += 1
    ofOrigin.pausedUntilMs = nowMs + Math.min(pauseMs, PAUSE_MS_MAX)
  }

  /** No handshake with this origin is begun for this client. */
  isPaused(clientKey: number, origin: string, nowMs: number): boolean {
    const debt = this.#ofOrigins.get(`${clientKey} ${origin}`)
    return debt !== undefined && nowMs < debt.pausedUntilMs
  }
}

function entryOf<Key>(debts: BoundedMap<Key, Debt>, key: Key): Debt {
  const debt = debts.get(key) ?? new Debt()
  // Set again, so that those go first that have not been charged for longest.
  debts.set(key, debt)
  return debt
}
