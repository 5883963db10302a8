// SIGINT and SIGTERM, heard from the first moment on. The first asks for an orderly stop, a second one
// ends its waiting. Process 1 of a container has no other way to end: without a handler the kernel
// ignores the signal there.

const SIGNALS = ['SIGINT', 'SIGTERM'] as const

export class StopSignals {
  /** Resolves with the first. */
  readonly requested: Promise<NodeJS.Signals>
  /** Resolves with the second. */
  readonly insisted: Promise<NodeJS.Signals>
  #isRequested = false

  constructor(source: Pick<NodeJS.Process, 'on'> = process) {
    const requested = Promise.withResolvers<NodeJS.Signals>()
    const insisted = Promise.withResolvers<NodeJS.Signals>()
    this.requested = requested.promise
    this.insisted = insisted.promise
    for (const signal of SIGNALS) {
      source.on(signal, () => {
        if (this.#isRequested) insisted.resolve(signal)
        else requested.resolve(signal)
        this.#isRequested = true
      })
    }
  }

  get isRequested(): boolean {
    return this.#isRequested
  }

  /**
   * For what holds nothing yet, such as waiting for a database: a signal ends the process here and now,
   * and what it was doing ends with it.
   */
  async endAtOnceDuring<T>(work: Promise<T>): Promise<T> {
    let isUnderWay = true
    void this.requested.then(() => isUnderWay && process.exit(0))
    try {
      return await work
    } finally {
      isUnderWay = false
    }
  }

  /** Waits so long after the first signal, unless there is a second one. */
  async patience(ms: number): Promise<void> {
    if (ms <= 0) return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms)
      void this.insisted.then(() => {
        clearTimeout(timer)
        resolve()
      })
    })
  }
}
