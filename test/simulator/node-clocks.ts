// The clocks of one machine. Asleep, its monotonic clock stands still while the others go on; paused from
// outside, all of them stand still, and nothing inside can tell.

import type { Scheduler } from './scheduler.ts'

export class NodeClocks {
  readonly #scheduler: Scheduler
  #wallOffsetMs: number
  #processStartedAtMs = 0
  /** The standstill of now or of last, and what those before it have cost. */
  #stillFromMs = 0
  #stillUntilMs = 0
  #areAllStill = false
  #monotonicLostMs = 0
  #allLostMs = 0

  constructor(scheduler: Scheduler, wallOffsetMs: number) {
    this.#scheduler = scheduler
    this.#wallOffsetMs = wallOffsetMs
  }

  /** A process begins to count: monotonic clocks begin anywhere. */
  start(agoMs: number): void {
    this.#processStartedAtMs = this.#scheduler.nowMs - agoMs
  }

  /** Until then the machine does nothing. */
  get stillUntilMs(): number {
    return this.#stillUntilMs
  }

  monotonicMs(): number {
    return (
      this.#scheduler.nowMs - this.#processStartedAtMs - this.#monotonicLostMs - this.#stillMs()
    )
  }

  wallMs(): number {
    return this.uptimeMs() + this.#wallOffsetMs
  }

  uptimeMs(): number {
    const stillMs = this.#areAllStill ? this.#stillMs() : 0
    return this.#scheduler.nowMs - this.#allLostMs - stillMs
  }

  standStill(ms: number, all: boolean): void {
    this.#monotonicLostMs += this.#stillMs()
    if (this.#areAllStill) this.#allLostMs += this.#stillMs()
    this.#stillFromMs = this.#scheduler.nowMs
    this.#stillUntilMs = this.#stillFromMs + ms
    this.#areAllStill = all
  }

  setWall(byMs: number): void {
    this.#wallOffsetMs += byMs
  }

  #stillMs(): number {
    return Math.min(this.#scheduler.nowMs, this.#stillUntilMs) - this.#stillFromMs
  }
}
