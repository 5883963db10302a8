// How callers of the API ask: they repeat each call, at any process that answers, until one of them says
// that it is done. Only that answer is a promise.

import type { Dice } from './dice.ts'
import type { SimulatedNode } from './node.ts'
import type { Scheduler } from './scheduler.ts'

const PATIENCE_MS = 15_000

export interface AskedWorld {
  scheduler: Scheduler
  dice: Dice
  nodes: readonly SimulatedNode[]
  pollEveryMs: number
}

export class Asking {
  readonly #world: AskedWorld
  #open = 0

  constructor(world: AskedWorld) {
    this.#world = world
  }

  /** Calls that are not done yet, those that will be made included. */
  get open(): number {
    return this.#open
  }

  /** A call that will be made: it counts from now on. */
  later(afterMs: number, label: string, call: (ask: Ask) => void): void {
    this.#open++
    this.#world.scheduler.after(afterMs, label, () =>
      call({
        repeat: (ask, onDone) => this.#repeat(ask, onDone),
        drop: () => {
          this.#open--
        },
      }),
    )
  }

  #repeat(ask: (node: SimulatedNode) => Promise<void>, onDone: () => void): void {
    const { scheduler, dice, nodes, pollEveryMs } = this.#world
    // In a world of weeks a process may need an hour to start: asking every second would be all there is. And where its
    // database is slow, calls that were given up would pile up faster than they are done.
    const pace = pollEveryMs / 1_000
    let isDone = false
    let round = 0
    const again = (ms: number) => scheduler.after(ms, 'a caller tries again', attempt)
    const attempt = () => {
      if (isDone) return
      const mine = ++round
      const ready = nodes.filter((node) => node.isReady)
      if (ready.length === 0) {
        again(dice.between(200, 1_000) * pace)
        return
      }
      const callOff = scheduler.after(PATIENCE_MS, 'a caller gives up', () => {
        if (mine !== round) return
        if (pace === 1) attempt()
        else {
          round++
          again(pollEveryMs)
        }
      })
      ask(dice.pick(ready)).then(
        () => {
          // A caller who has turned to another process does not hear a late answer.
          if (isDone || mine !== round) return
          isDone = true
          callOff()
          this.#open--
          onDone()
        },
        () => {
          if (isDone || mine !== round) return
          callOff()
          again(dice.between(200, 2_000) * pace)
        },
      )
    }
    attempt()
  }
}

export interface Ask {
  /** Asks one process after the other until one of them says that it is done. */
  repeat(ask: (node: SimulatedNode) => Promise<void>, onDone: () => void): void
  /** There is nothing to ask for. */
  drop(): void
}
