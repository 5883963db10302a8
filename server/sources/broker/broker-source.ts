// Payment changes out of a broker, session after session. Any failure ends a session: what is unfinished goes back to
// the broker, and a new session begins after a pause that grows while nothing succeeds in between.

import type { Broker, BrokerSession, SourceOptions, SourceTiming } from './broker.ts'
import { describeError } from './describe-error.ts'

export class BrokerSource {
  readonly #broker: Broker
  readonly #options: Pick<SourceOptions, 'log' | 'onBrokerFailure'>
  readonly #timing: SourceTiming
  #session: BrokerSession | null = null
  #running: Promise<void> | null = null
  #isStopped = false
  #failures = 0
  #wakeUp: (() => void) | null = null

  constructor(
    broker: Broker,
    options: Pick<SourceOptions, 'log' | 'onBrokerFailure'>,
    timing: SourceTiming,
  ) {
    this.#broker = broker
    this.#options = options
    this.#timing = timing
  }

  /** Whether this process consumes. */
  get isConsuming(): boolean {
    return this.#session?.isConsuming ?? false
  }

  get lag(): number {
    return this.#session?.lag ?? 0
  }

  /** Returns at once; connects in the background, and retries while the broker is away. */
  start(): void {
    this.#running ??= this.#run()
  }

  /** Takes no new record; those under way end and are acknowledged; the rest is handed back. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#wakeUp?.()
    this.#broker.interrupt()
    this.#session?.end(null)
    await this.#running
    await this.#broker.close()
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      try {
        if (!(await this.#serve())) await this.#rest(this.#timing.askEveryMs)
      } catch (error) {
        if (this.#isStopped) return
        const { log, onBrokerFailure } = this.#options
        log.warn({ error: describeError(error) }, `${this.#broker.name}.interrupted`)
        onBrokerFailure?.()
        const { restMs, restMsMax } = this.#timing
        await this.#rest(Math.min(restMs * 2 ** Math.min(this.#failures++, 10), restMsMax))
      }
    }
  }

  /** One session. False when there is none for this process now. */
  async #serve(): Promise<boolean> {
    const session = await this.#broker.open(() => this.#wakeUp?.())
    if (session === null) return false
    this.#session = session
    try {
      if (!this.#isStopped) await session.run()
      return true
    } finally {
      // Failures count as in a row only if no record was settled in between.
      if (session.hasSettled) this.#failures = 0
      this.#session = null
      await session.release()
    }
  }

  #rest(ms: number): Promise<void> {
    if (this.#isStopped) return Promise.resolve()
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      this.#wakeUp = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}
