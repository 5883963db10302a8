// Whether what the service writes is taken, as its own writes tell: a database can answer every question
// while it refuses every row. Payments are the evidence, since they need room on the disk, and leases,
// which are written every few seconds. A process that is taken out of service gets no more payments to
// tell by: then a probe does.

import type { DeliveryStore } from '../delivery/delivery-store.ts'
import { findWriteRefusal } from '../store/write-refusals.ts'

export type WriteKind = 'payments' | 'leases'

export interface WriteWatchParts {
  monotonicMs(): number
  /** Writes something that leaves no trace; throws what the database says to it. */
  probe(): Promise<void>
}

/** In a row, without one that was taken in between. */
const REFUSED_MAX: Readonly<Record<WriteKind, number>> = { payments: 3, leases: 2 }
const PROBE_EVERY_MS = 5_000
const NAMES: Readonly<Record<WriteKind, string>> = {
  payments: 'Payment changes',
  leases: 'Leases',
}

interface Refusals {
  count: number
  why: string
  atMs: number
}

export class WriteWatch {
  readonly #parts: WriteWatchParts
  readonly #refusals = new Map<WriteKind, Refusals>()

  constructor(parts: WriteWatchParts) {
    this.#parts = parts
  }

  succeeded(kind: WriteKind): void {
    this.#refusals.delete(kind)
  }

  failed(kind: WriteKind, error: unknown): void {
    const why = findWriteRefusal(error)
    if (why === null) return
    const count = (this.#refusals.get(kind)?.count ?? 0) + 1
    this.#refusals.set(kind, { count, why, atMs: this.#parts.monotonicMs() })
  }

  /** What cannot be written now, a sentence each. */
  async findReasons(): Promise<readonly string[]> {
    await this.#probeIfDue()
    return [...this.#refusals]
      .filter(([kind, { count }]) => count >= REFUSED_MAX[kind])
      .map(([kind, { why }]) => `${NAMES[kind]} cannot be written: ${why}.`)
  }

  async #probeIfDue(): Promise<void> {
    const refusals = this.#refusals.get('payments')
    if (refusals === undefined || refusals.count < REFUSED_MAX.payments) return
    const nowMs = this.#parts.monotonicMs()
    if (nowMs - refusals.atMs < PROBE_EVERY_MS) return
    // Whoever asks at the same time is told what is known so far.
    refusals.atMs = nowMs
    try {
      await this.#parts.probe()
    } catch (error) {
      const why = findWriteRefusal(error)
      if (why !== null) {
        refusals.why = why
        return
      }
    }
    // Payments may come again. If the next one is refused, all of it was known before.
    refusals.count = REFUSED_MAX.payments - 1
  }
}

/** The same store, whose renewals of leases are watched. */
export function watchingRenewals(store: DeliveryStore, writes: WriteWatch): DeliveryStore {
  return {
    ...store,
    async renewLeases(gone) {
      try {
        const renewal = await store.renewLeases(gone)
        writes.succeeded('leases')
        return renewal
      } catch (error) {
        writes.failed('leases', error)
        throw error
      }
    },
  }
}
