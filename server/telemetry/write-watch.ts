// Whether writes succeed, judged by the service's own writes: a database can answer every query while it
// refuses every row. The evidence is payments, since they need room on the disk, and leases, which are written
// every few seconds. A process that is taken out of service gets no more payments: then a probe replaces them.

import type { DeliveryStore } from '../delivery/seams/delivery-store.ts'
import { findWriteRefusal } from '../store/connection/write-refusals.ts'

export type WriteKind = 'payments' | 'leases'

export interface WriteWatchParts {
  monotonicMs(): number
  /** Writes something that leaves no trace; throws what the database answers. */
  probe(): Promise<void>
}

/** Refusals in a row, without a success in between. */
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
    return this.knownReasons()
  }

  /** As far as it is known, without asking. */
  knownReasons(): readonly string[] {
    return [...this.#refusals]
      .filter(([kind, { count }]) => count >= REFUSED_MAX[kind])
      .map(([kind, { why }]) => `${NAMES[kind]} cannot be written: ${why}.`)
  }

  async #probeIfDue(): Promise<void> {
    const refusals = this.#refusals.get('payments')
    if (refusals === undefined || refusals.count < REFUSED_MAX.payments) return
    const nowMs = this.#parts.monotonicMs()
    if (nowMs - refusals.atMs < PROBE_EVERY_MS) return
    // Set before the probe, so that callers at the same time get what is known so far.
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
    // Payments may come again; one more refusal is a reason again.
    refusals.count = REFUSED_MAX.payments - 1
  }
}

/** Wraps the store to watch its renewals of leases. */
export function watchingRenewals(store: DeliveryStore, writes: WriteWatch): DeliveryStore {
  return {
    ...store,
    async renewLeases(...given) {
      try {
        const renewal = await store.renewLeases(...given)
        writes.succeeded('leases')
        return renewal
      } catch (error) {
        writes.failed('leases', error)
        throw error
      }
    },
  }
}
