// The parent's side of one child: whether it is ready, whether its event loop turns, and how it ends.

import type { Worker } from 'node:cluster'
import type { ToChild, ToParent } from './messages.ts'

/** What is needed of Node's. */
export type Forked = Pick<Worker, 'on' | 'once' | 'send' | 'isConnected'> & {
  process: Pick<Worker['process'], 'pid' | 'kill'>
}

export interface End {
  /** Null where a signal has ended it. */
  code: number | null
  signal: string | null
  /** How long it had been ready. */
  servedMs: number
}

const PING_EVERY_MS = 5_000
/** Counted, and not measured: a machine that sleeps, or freezes all of them, is no fault of a child. */
const UNANSWERED_MAX = 6

export class ServingProcess {
  readonly number: number
  readonly pid: number | undefined
  /** False where it ended before it was ready. */
  readonly becomesReady: Promise<boolean>
  readonly ended: Promise<End>
  readonly #forked: Forked
  readonly #onSilent: (one: ServingProcess) => void
  #unanswered = 0

  constructor(number: number, forked: Forked, onSilent: (one: ServingProcess) => void) {
    this.number = number
    this.pid = forked.process.pid
    this.#forked = forked
    this.#onSilent = onSilent
    const ready = Promise.withResolvers<boolean>()
    const ended = Promise.withResolvers<End>()
    this.becomesReady = ready.promise
    this.ended = ended.promise
    let readyAtMs = Number.POSITIVE_INFINITY
    const watch = setInterval(() => this.#look(), PING_EVERY_MS)
    const end = (code: number | null, signal: string | null) => {
      clearInterval(watch)
      ready.resolve(false)
      ended.resolve({ code, signal, servedMs: Math.max(0, performance.now() - readyAtMs) })
    }
    forked.on('message', (message: ToParent) => {
      this.#unanswered = 0
      if (message !== 'ready') return
      readyAtMs = performance.now()
      ready.resolve(true)
    })
    forked.once('exit', end)
    // One that could not be started at all has no exit; what else goes wrong with the channel ends in one.
    forked.on('error', () => {
      if (this.pid === undefined) end(1, null)
    })
  }

  say(message: ToChild): void {
    if (this.#forked.isConnected()) this.#forked.send(message, undefined, undefined, () => {})
  }

  kill(): void {
    this.#forked.process.kill('SIGKILL')
  }

  /** Within so long, whatever it does. */
  async endsWithin(ms: number): Promise<void> {
    const timer = setTimeout(() => this.kill(), ms)
    await this.ended
    clearTimeout(timer)
  }

  #look(): void {
    if (this.#unanswered < UNANSWERED_MAX) {
      this.#unanswered++
      this.say('ping')
      return
    }
    this.#onSilent(this)
    this.kill()
  }
}
