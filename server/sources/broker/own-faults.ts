// Whether a fault of our own (a permission that was taken away, a table that is missing, a bug) is brought about by one record or
// meets them all. Kept from session to session. While one stands, records are tried one after the other, each after a pause that
// grows; the first change that is recorded ends that. A record counts as the cause only where changes of others were recorded
// between its tries: so a fault that lasts puts nothing aside, however long it does.
//
//   (none) ─ a record fails ─▶ stands ─ another fails ─▶ stands, with a longer pause
//                              stands ─ a change is recorded, or all that failed have got through ─▶ (none)

import { setTimeout as delay } from 'node:timers/promises'
import { BoundedMap } from '../../core/plain/bounded-map.ts'
import type { Ending } from '../../core/plain/ending.ts'

/** A record fails so often, each time beside others that do not, before it is put aside. */
const TRIES_MAX = 5
const FAILED_MAX = 1_000

export interface FaultPauses {
  restMs: number
  restMsMax: number
}

export interface Turn {
  /** Whether no other is tried now. */
  isOwn: boolean
  leave(): void
}

const NO_TURN: Turn = { isOwn: false, leave() {} }

interface Failed {
  tries: number
  /** When it failed last. */
  changes: number
}

export class OwnFaults {
  readonly #pauses: FaultPauses
  /** Those that something was written for: to find a copy says little about whether a record can be written. */
  #changes = 0
  /** Records that failed since the latest change. */
  #failures = 0
  #nextTryAtMs = 0
  /** In this session, and have not got through. */
  readonly #failing = new Set<string>()
  readonly #failed = new BoundedMap<string, Failed>(FAILED_MAX)
  #isTrying = false
  #waiting: (() => void)[] = []

  constructor(pauses: FaultPauses) {
    this.#pauses = pauses
  }

  get stands(): boolean {
    return this.#failures > 0
  }

  /** The pause is as long as it gets: another process may do better. */
  get isLasting(): boolean {
    return this.stands && this.#pauseMs >= this.#pauses.restMsMax
  }

  /** Another session begins: nothing of the one before waits any more. */
  begin(): void {
    this.#isTrying = false
    this.#waiting = []
    this.#failing.clear()
  }

  /** Resolves when a record may be tried: at once, or in its turn. It is called when what came of that is known. */
  async enter(ending: Ending): Promise<Turn> {
    if (!this.stands) return NO_TURN
    // Behind those that wait already, also where it has just failed.
    if (this.#isTrying) {
      await ending.orEnd(new Promise<void>((resolve) => this.#waiting.push(resolve)))
    }
    if (!this.stands || ending.isOver) return NO_TURN
    this.#isTrying = true
    const ms = this.#nextTryAtMs - performance.now()
    if (ms > 0) await ending.orEnd(delay(ms, undefined, { ref: false }))
    return { isOwn: true, leave: () => this.#leave() }
  }

  countChange(): void {
    this.#changes++
    this.#end()
  }

  /** It was recorded, refused or put aside. */
  countThrough(record: string): void {
    this.#failing.delete(record)
    if (this.stands && this.#failing.size === 0) this.#end()
  }

  /** True where this record, and no other, brings the fault about. */
  countFailure(record: string, { isOwn }: Turn): boolean {
    const failed = this.#failed.get(record)
    // None of its own payment is among them: later ones wait for it.
    const isBesideOthers = failed === undefined || this.#changes > failed.changes
    const tries = (failed?.tries ?? 0) + (isBesideOthers ? 1 : 0)
    this.#failed.set(record, { tries, changes: this.#changes })
    if (tries >= TRIES_MAX) return true
    this.#failing.add(record)
    // Those that were under way when it began are no further tries.
    if (!this.stands || isOwn) this.#failures++
    this.#nextTryAtMs = performance.now() + this.#pauseMs
    return false
  }

  #end(): void {
    this.#failures = 0
    this.#isTrying = false
    for (const go of this.#waiting.splice(0)) go()
  }

  /** The next has the turn at once: one that comes in between would be tried beside it. */
  #leave(): void {
    const next = this.stands ? this.#waiting.shift() : undefined
    if (next === undefined) this.#isTrying = false
    else next()
  }

  get #pauseMs(): number {
    const { restMs, restMsMax } = this.#pauses
    return Math.min(restMs * 2 ** Math.min(this.#failures - 1, 20), restMsMax)
  }
}
