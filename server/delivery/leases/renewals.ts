// When leases are renewed: every few seconds, and sooner when another process announces that leases have moved
// or when a silent one, or one of a process that is gone, may be taken. Never two at once, and never more than one in a short while, however
// many announcements come: a hundred processes that start together must not storm the database.

import type { LeasePolicy } from '../../core/delivery/lease.ts'
import type { EngineEnvironment } from '../seams/environment.ts'

/** An early renewal begins so long after the one before has ended, at the earliest. */
export const EARLY_RENEWAL_MS = 200

export interface RenewalTask {
  /** Never rejects. */
  renew(): Promise<void>
  /** The next moment of the monotonic clock from which there may be more to take. */
  nextSilentAtMs(): number
}

export class Renewals {
  readonly #environment: Pick<EngineEnvironment, 'clock' | 'setTimer'>
  readonly #policy: LeasePolicy
  readonly #task: RenewalTask
  #callOff: (() => void) | null = null
  #endedAtMs = 0
  #isRenewing = false
  #isStopped = true
  /** Asked for while one was under way: that one may have looked too early. */
  #isWanted = false

  constructor(
    environment: Pick<EngineEnvironment, 'clock' | 'setTimer'>,
    policy: LeasePolicy,
    task: RenewalTask,
  ) {
    this.#environment = environment
    this.#policy = policy
    this.#task = task
  }

  /** The first one now; the others follow. */
  async start(): Promise<void> {
    this.#isStopped = false
    await this.#renew()
  }

  stop(): void {
    this.#isStopped = true
    this.#callOff?.()
  }

  /** There is something to take or to give: renews early, though not during or right after a renewal. */
  soon(): void {
    this.#isWanted = true
    if (!this.#isRenewing) this.#schedule()
  }

  /** The next moment that the task names may be another. */
  reschedule(): void {
    if (!this.#isRenewing) this.#schedule()
  }

  async #renew(): Promise<void> {
    this.#isRenewing = true
    this.#isWanted = false
    await this.#task.renew()
    this.#isRenewing = false
    this.#endedAtMs = this.#environment.clock.monotonicMs()
    this.#schedule()
  }

  #schedule(): void {
    this.#callOff?.()
    if (this.#isStopped) return
    this.#callOff = this.#environment.setTimer(this.#waitMs(), () => {
      this.#callOff = null
      void this.#renew()
    })
  }

  #waitMs(): number {
    const sinceMs = this.#environment.clock.monotonicMs() - this.#endedAtMs
    const earlyMs = Math.max(0, EARLY_RENEWAL_MS - sinceMs)
    if (this.#isWanted) return earlyMs
    const { renewEveryMs } = this.#policy
    const silentInMs = this.#task.nextSilentAtMs() - this.#endedAtMs
    return Math.max(earlyMs, Math.min(renewEveryMs, silentInMs) - sinceMs)
  }
}
