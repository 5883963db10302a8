// What a part of the service does again and again, each task some time after it has ended. Tasks deal with what the
// world does to them. One that rejects has met a fault of our own, such as a strand that leaves twice: what is in memory
// is then wrong, and order rests on it. So nothing here catches it: Node ends the process, and others take its shards.

import type { EngineEnvironment } from './environment.ts'

export class Rounds {
  readonly #environment: Pick<EngineEnvironment, 'setTimer'>
  readonly #callOffs = new Set<() => void>()
  #isRunning = false

  constructor(environment: Pick<EngineEnvironment, 'setTimer'>) {
    this.#environment = environment
  }

  begin(everyMs: number, task: () => Promise<void>): void {
    this.#isRunning = true
    let callOff: () => void = () => {}
    const schedule = () => {
      this.#callOffs.delete(callOff)
      if (!this.#isRunning) return
      callOff = this.#environment.setTimer(everyMs, () => void task().finally(schedule))
      this.#callOffs.add(callOff)
    }
    schedule()
  }

  stop(): void {
    this.#isRunning = false
    for (const callOff of this.#callOffs) callOff()
  }
}
