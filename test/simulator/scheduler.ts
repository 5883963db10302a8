// Virtual time. One event at a time: drain the microtasks, take the earliest (a seeded draw breaks
// ties, so that no code can rely on an order that the world does not promise), run it. The same seed
// gives the same trace, and the trace has a hash to prove it.

import type { Dice } from './dice.ts'

interface Event {
  atMs: number
  tie: number
  number: number
  label: string
  run: (() => void) | null
}

export class Scheduler {
  readonly #dice: Dice
  readonly #heap: Event[] = []
  readonly #onEvent: ((atMs: number, label: string) => void) | null
  #nowMs: number
  #number = 0
  #hash = 0x811c9dc5
  #steps = 0

  constructor(dice: Dice, startMs: number, onEvent?: (atMs: number, label: string) => void) {
    this.#dice = dice
    this.#nowMs = startMs
    this.#onEvent = onEvent ?? null
  }

  get nowMs(): number {
    return this.#nowMs
  }

  get steps(): number {
    return this.#steps
  }

  get hash(): string {
    return (this.#hash >>> 0).toString(16).padStart(8, '0')
  }

  /** Runs `run` after `ms`; returns the function that calls it off. */
  after(ms: number, label: string, run: () => void): () => void {
    const event: Event = {
      atMs: this.#nowMs + Math.max(0, ms),
      tie: this.#dice.next(),
      number: this.#number++,
      label,
      run,
    }
    this.#push(event)
    return () => {
      event.run = null
    }
  }

  at(atMs: number, label: string, run: () => void): () => void {
    return this.after(atMs - this.#nowMs, label, run)
  }

  /** Anything that must be the same in two runs of one seed. */
  note(text: string): void {
    for (let at = 0; at < text.length; at++) this.#mix(text.charCodeAt(at))
  }

  /**
   * Runs until `isOver` says so, `untilMs` is reached, or nothing is left to happen. Microtasks are
   * drained by Node itself: a tick that a microtask asks for comes when none of them is left.
   */
  run(untilMs: number, isOver: () => boolean): Promise<'over' | 'time' | 'idle'> {
    return new Promise((resolve, reject) => {
      const step = () => {
        try {
          const end = this.#step(untilMs, isOver)
          if (end !== null) resolve(end)
          else queueMicrotask(again)
        } catch (error) {
          reject(error)
        }
      }
      const again = () => process.nextTick(step)
      queueMicrotask(again)
    })
  }

  #step(untilMs: number, isOver: () => boolean): 'over' | 'time' | 'idle' | null {
    if (isOver()) return 'over'
    let event = this.#pop()
    while (event !== undefined && event.run === null) event = this.#pop()
    if (event === undefined) return 'idle'
    if (event.atMs > untilMs) {
      this.#push(event)
      this.#nowMs = untilMs
      return 'time'
    }
    this.#nowMs = event.atMs
    this.#steps++
    this.#mix(event.atMs | 0)
    this.#mix(event.number)
    this.#onEvent?.(event.atMs, event.label)
    const { run } = event
    event.run = null
    ;(run as () => void)()
    return null
  }

  #mix(value: number): void {
    this.#hash = Math.imul(this.#hash ^ value, 0x01000193)
    this.#hash ^= this.#hash >>> 15
  }

  #push(event: Event): void {
    const heap = this.#heap
    let index = heap.length
    heap.push(event)
    while (index > 0) {
      const parent = (index - 1) >> 1
      const above = heap[parent] as Event
      if (!isEarlier(event, above)) break
      heap[index] = above
      index = parent
    }
    heap[index] = event
  }

  #pop(): Event | undefined {
    const heap = this.#heap
    const first = heap[0]
    const last = heap.pop()
    if (first === undefined || last === undefined || heap.length === 0) return first
    let index = 0
    for (;;) {
      let child = 2 * index + 1
      if (child >= heap.length) break
      const right = heap[child + 1]
      if (right !== undefined && isEarlier(right, heap[child] as Event)) child++
      if (!isEarlier(heap[child] as Event, last)) break
      heap[index] = heap[child] as Event
      index = child
    }
    heap[index] = last
    return first
  }
}

function isEarlier(one: Event, other: Event): boolean {
  if (one.atMs !== other.atMs) return one.atMs < other.atMs
  if (one.tie !== other.tie) return one.tie < other.tie
  return one.number < other.number
}
