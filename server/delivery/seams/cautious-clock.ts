// The most that can have passed. The monotonic clock stands still while the machine sleeps, and where a
// virtual machine is paused. Two witnesses may know better: the time since the machine was started
// (CLOCK_BOOTTIME on Linux) and the wall clock. Whatever they are ahead of the monotonic clock counts as
// time that has passed; that they were set back says nothing. So this clock is for what must end in
// time, a lease of our own above all. It may run ahead of the truth: never measure with it how long
// another has been silent.

import { uptime } from 'node:os'

/** Witnesses are coarse (10 ms), and disagree by a little while a clock is slewed. */
const GAP_MS_MIN = 100
/** Asking the machine for its uptime reads a file, for 2 µs; the wall clock is free. */
const UPTIME_EVERY_MS = 20

export interface Witnesses {
  wallMs(): number
  uptimeMs(): number
}

const MACHINE: Witnesses = { wallMs: Date.now, uptimeMs: () => uptime() * 1_000 }

export class CautiousClock {
  readonly #monotonicMs: () => number
  readonly #witnesses: Witnesses
  #aheadMs = 0
  /** By how much each witness was ahead of the monotonic clock; lower when it was set back since. */
  #wallAheadMs: number
  #uptimeAheadMs: number
  #uptimeAskedAtMs: number

  constructor(monotonicMs: () => number = () => performance.now(), witnesses: Witnesses = MACHINE) {
    this.#monotonicMs = monotonicMs
    this.#witnesses = witnesses
    const nowMs = monotonicMs()
    this.#wallAheadMs = witnesses.wallMs() - nowMs
    this.#uptimeAheadMs = witnesses.uptimeMs() - nowMs
    this.#uptimeAskedAtMs = nowMs
  }

  nowMs(): number {
    const nowMs = this.#monotonicMs()
    const wallAheadMs = this.#witnesses.wallMs() - nowMs
    if (wallAheadMs < this.#wallAheadMs) this.#wallAheadMs = wallAheadMs
    if (wallAheadMs - this.#wallAheadMs >= GAP_MS_MIN) this.#compare(nowMs, wallAheadMs)
    else if (nowMs - this.#uptimeAskedAtMs >= UPTIME_EVERY_MS) this.#compare(nowMs, wallAheadMs)
    return nowMs + this.#aheadMs
  }

  /** Both witnesses show the same sleep: the larger gap counts, once. */
  #compare(nowMs: number, wallAheadMs: number): void {
    const uptimeAheadMs = this.#witnesses.uptimeMs() - nowMs
    this.#uptimeAskedAtMs = nowMs
    if (uptimeAheadMs < this.#uptimeAheadMs) this.#uptimeAheadMs = uptimeAheadMs
    const gapMs = Math.max(wallAheadMs - this.#wallAheadMs, uptimeAheadMs - this.#uptimeAheadMs)
    if (gapMs < GAP_MS_MIN) return
    this.#aheadMs += gapMs
    this.#wallAheadMs = wallAheadMs
    this.#uptimeAheadMs = uptimeAheadMs
  }
}
