// All serving processes of one parent: started, watched, replaced one after the other, and stopped. The first one is started
// alone: it finds out whether the service can start here at all, and opens the port, which the parent then keeps for all.

import type { Socket } from 'node:net'
import type { Logger } from 'pino'
import { AllFigures } from './all-figures.ts'
import { Place } from './place.ts'
import { type End, type Forked, ServingProcess } from './serving-process.ts'

export interface ChildrenParts {
  count: number
  fork(number: number, isPrepared: boolean): Forked
  /** The two ends of a connection. */
  makePair(): Promise<readonly [Socket, Socket]>
  logger: Logger
  /** How long one that drains first may take to end, and one that does not. */
  stopMsMax: number
  hurryMsMax: number
}

export class Children {
  readonly #parts: ChildrenParts
  readonly #places: readonly Place[]
  readonly #alive = new Set<ServingProcess>()
  /** Those that serve, and are connected with each other. */
  readonly #serving = new Set<ServingProcess>()
  readonly #figures = new AllFigures()
  #isOpen = false
  #isStopping = false
  #renewing: 'no' | 'yes' | 'again' = 'no'

  constructor(parts: ChildrenParts) {
    const { count, stopMsMax, logger } = parts
    this.#parts = parts
    this.#places = Array.from(
      { length: count },
      (_, index) =>
        new Place(index + 1, {
          fork: (number) => this.#fork(number),
          onEnded: ({ number, pid }, { code, signal }, pauseMs) =>
            logger.error({ process: number, childPid: pid, code, signal, pauseMs }, 'process.died'),
          stopMsMax,
        }),
    )
  }

  /** Resolves when one of them is ready, or with the end of the first, if that was never ready. */
  async open(): Promise<End | null> {
    const [first, ...others] = this.#places
    const failure = await (first as Place).renew()
    if (failure !== null || this.#isStopping) return failure
    for (const place of others) place.start()
    this.#isOpen = true
    return null
  }

  /** Replaces each by a new one, the next when the one before is ready; asked again on the way, once more. */
  async renew(): Promise<void> {
    if (!this.#isOpen || this.#isStopping) return
    if (this.#renewing !== 'no') {
      this.#renewing = 'again'
      return
    }
    const { logger } = this.#parts
    do {
      this.#renewing = 'yes'
      logger.info('processes.replacing')
      if (await this.#renewEach()) logger.info('processes.replaced')
      // Settings of the new one are wrong, for example: those that run go on.
      else if (!this.#isStopping) logger.error('processes.not-replaced')
    } while ((this.#renewing as string) === 'again')
    this.#renewing = 'no'
  }

  async #renewEach(): Promise<boolean> {
    for (const place of this.#places) {
      if (this.#isStopping || (place.isTaken && (await place.renew()) !== null)) return false
    }
    return true
  }

  /** Stops all, and sooner once `insisted`. False where one of them had to be killed, or failed. */
  async stop(insisted: Promise<unknown>): Promise<boolean> {
    const { stopMsMax, hurryMsMax } = this.#parts
    this.#isStopping = true
    for (const place of this.#places) place.close()
    const stopped = [...this.#alive]
    for (const one of stopped) one.say('stop')
    const killAll = () => {
      for (const one of this.#alive) one.kill()
    }
    let limit = setTimeout(killAll, stopMsMax)
    void insisted.then(() => {
      if (this.#alive.size === 0) return
      clearTimeout(limit)
      limit = setTimeout(killAll, hurryMsMax)
      for (const one of this.#alive) one.say('hurry')
    })
    const ends = await Promise.all(stopped.map(({ ended }) => ended))
    clearTimeout(limit)
    return ends.every(({ code }) => code === 0)
  }

  #fork(number: number): ServingProcess {
    const { fork, logger } = this.#parts
    const one = new ServingProcess(number, fork(number, !this.#isOpen), {
      onSilent: ({ pid }) => logger.error({ process: number, childPid: pid }, 'process.silent'),
      onMetrics: (asking) => void this.#answer(asking),
    })
    this.#alive.add(one)
    void one.becomesReady.then((isReady) => (isReady ? this.#connect(one) : undefined))
    void one.ended.then(() => {
      this.#alive.delete(one)
      this.#serving.delete(one)
      this.#figures.forget(one)
    })
    return one
  }

  /** With all others. Without a connection they go by way of the database. */
  async #connect(one: ServingProcess): Promise<void> {
    const others = [...this.#serving]
    this.#serving.add(one)
    try {
      for (const other of others) {
        const [toOther, toOne] = await this.#parts.makePair()
        one.giveSibling(toOther)
        other.giveSibling(toOne)
      }
    } catch (error) {
      this.#parts.logger.warn({ error: String(error) }, 'processes.not-connected')
    }
  }

  async #answer(asking: ServingProcess): Promise<void> {
    try {
      asking.answer(await this.#figures.text(this.#alive))
    } catch (error) {
      this.#parts.logger.error({ error: String(error) }, 'processes.metrics-not-joined')
    }
  }
}
