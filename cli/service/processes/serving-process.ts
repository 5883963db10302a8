// The parent's side of one child: whether it is ready, whether its event loop turns, and how it ends.

import type { Worker } from 'node:cluster'
import type { Socket } from 'node:net'
import type { Figures } from '../../../server/telemetry/joined-figures.ts'
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
const FIGURES_MS_MAX = 2_000

export interface ProcessEvents {
  onSilent(one: ServingProcess): void
  /** It was asked for the metrics of all. */
  onMetrics(one: ServingProcess): void
}

export class ServingProcess {
  readonly number: number
  readonly pid: number | undefined
  /** False where it ended before it was ready. */
  readonly becomesReady: Promise<boolean>
  readonly ended: Promise<End>
  readonly #forked: Forked
  readonly #events: ProcessEvents
  /** As it said at its end. */
  lastFigures: Figures | undefined
  #isReady = false
  #awaited: PromiseWithResolvers<Figures | null> | null = null
  #unanswered = 0

  constructor(number: number, forked: Forked, events: ProcessEvents) {
    this.number = number
    this.pid = forked.process.pid
    this.#forked = forked
    this.#events = events
    const ready = Promise.withResolvers<boolean>()
    const ended = Promise.withResolvers<End>()
    this.becomesReady = ready.promise
    this.ended = ended.promise
    let readyAtMs = Number.POSITIVE_INFINITY
    const watch = setInterval(() => this.#look(), PING_EVERY_MS)
    const end = (code: number | null, signal: string | null) => {
      clearInterval(watch)
      ready.resolve(false)
      this.#awaited?.resolve(null)
      ended.resolve({ code, signal, servedMs: Math.max(0, performance.now() - readyAtMs) })
    }
    forked.on('message', (message: ToParent) => {
      this.#unanswered = 0
      if (message.say === 'ready') {
        this.#isReady = true
        readyAtMs = performance.now()
        ready.resolve(true)
      } else if (message.say === 'metrics') events.onMetrics(this)
      else if (message.say === 'figures') this.#awaited?.resolve(message.figures)
      else if (message.say === 'last') this.lastFigures = message.figures
    })
    forked.once('exit', end)
    // One that could not be started at all has no exit; what else goes wrong with the channel ends in one.
    forked.on('error', () => {
      if (this.pid === undefined) end(1, null)
    })
  }

  say(say: Exclude<ToChild['say'], 'metrics' | 'sibling'>): void {
    this.#send({ say })
  }

  /** Gives it the connection to another. */
  giveSibling(socket: Socket): void {
    if (!this.#forked.isConnected()) socket.destroy()
    else this.#forked.send({ say: 'sibling' } satisfies ToChild, socket, undefined, () => {})
  }

  /** The metrics of all, which it has asked for. */
  answer(text: string): void {
    this.#send({ say: 'metrics', text })
  }

  /** Its metrics; null where it has none yet, or does not answer in time. */
  async giveFigures(): Promise<Figures | null> {
    if (!this.#isReady || !this.#forked.isConnected()) return null
    if (this.#awaited === null) {
      this.#awaited = Promise.withResolvers()
      this.say('figures')
    }
    const awaited = this.#awaited
    const timer = setTimeout(() => awaited.resolve(null), FIGURES_MS_MAX)
    const figures = await awaited.promise
    clearTimeout(timer)
    if (this.#awaited === awaited) this.#awaited = null
    return figures
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

  #send(message: ToChild): void {
    if (this.#forked.isConnected()) this.#forked.send(message, undefined, undefined, () => {})
  }

  #look(): void {
    if (this.#unanswered < UNANSWERED_MAX) {
      this.#unanswered++
      this.say('ping')
      return
    }
    this.#events.onSilent(this)
    this.kill()
  }
}
