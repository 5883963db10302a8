// Flights that are over, and whose strands do not move on yet: their shard was taken before its last owner's attempts
// were sure to be over, and one of them may be of the same update. Its next one would meet it.

import type { EngineEnvironment } from '../seams/environment.ts'

export class HeldLandings {
  readonly #setTimer: EngineEnvironment['setTimer']
  /** Each with how its timer is called off. */
  readonly #held = new Map<() => void, () => void>()

  constructor({ setTimer }: Pick<EngineEnvironment, 'setTimer'>) {
    this.#setTimer = setTimer
  }

  hold(ms: number, land: () => void): void {
    const callOff = this.#setTimer(ms, () => {
      this.#held.delete(land)
      land()
    })
    this.#held.set(land, callOff)
  }

  async landAll(afterMs: number): Promise<void> {
    if (afterMs > 0) {
      // Timers drop the fraction of a millisecond, and may be one early: what is not over then would not be handed over.
      const wholeMs = Math.ceil(afterMs) + 1
      await new Promise<void>((resolve) => this.#setTimer(wholeMs, resolve))
    }
    for (const [land, callOff] of [...this.#held]) {
      callOff()
      this.#held.delete(land)
      land()
    }
  }
}
